package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// setters set $1 or x to the text CODE in various ways, followed by EVAL.
var setters = []string{
	"set -- CODE; EVAL1", "set CODE; EVAL1", "set -e CODE; EVAL1", "f() { EVAL1; }; f CODE",
	"f() { g \"$1\"; }; g() { EVAL1; }; f CODE",
	"set -- 1 CODE; shift; EVAL1", "set -- 1 CODE; set -- \"$2\"; EVAL1", "set -- CODE; f() { EVAL1; }; f \"$@\"",
	"set -- CODE; f() { EVAL1; }; f \"${@:1}\"",
	"x=CODE; EVAL", "y=CODE; x=$y; EVAL", "y=CODE; x=y; EVAL", "y=CODE; x=y+1; EVAL", "y=CODE; x=${y/q/r}; EVAL",
	"y=CODE; x=${y^}; EVAL", "x=${q:-CODE}; EVAL",
	"y=CODE; x=${q:-$y}; EVAL", "y=CODE; x=${y:0:99}; EVAL", "x=$(cut -c1- <<<CODE); EVAL",
	"x=$(echo CODE | tr q r); EVAL", "y=CODE; x=$(cut -c1- <<<\"$y\"); EVAL",
	"g() { cut -c1- <<<CODE; }; x=$(g); EVAL", "true && x=CODE; EVAL", "for x in CODE; do EVAL; done",
	"set -- CODE; for x; do EVAL; done", "set -- CODE; for x in \"$@\"; do EVAL; done",
	"set -- CODE; x=$1; EVAL", "set -- CODE; x=$*; EVAL", "set -- CODE; x=${@:1:1}; EVAL",
	"set -- CODE; y=(\"$@\"); x=${y[0]}; EVAL", "y=(1 CODE); x=${y[1]}; EVAL",
	"x=CODE; for i in $q; do EVAL; ((x++)); done", "while read -r l; do EVAL; x=$y; y=CODE; done",
	"printf -v x %s CODE; EVAL", "read -r x <<<CODE; EVAL",
	"mapfile -t y <<<CODE; x=${y[0]}; EVAL", "x=$(awk 'BEGIN{printf \"a[%c(./x.sh)]\",36}'); EVAL",
	"x=$(printf 'a[\\44(./x.sh)]'); EVAL", "set -- CODE; x=1; EVAL1",
	"y='a[$'; z='(./x.sh)]'; x=$y$z; EVAL", "y=a[; x=$y'$''(./x.sh)]'; EVAL",
	"if true; then x=CODE; else x=1; fi; EVAL", "case a in a) x=CODE;; esac; EVAL", "x=1; x+=CODE; EVAL",
	"x=(CODE); EVAL", "export x=CODE; EVAL", "local x=CODE; EVAL", "f() { local x=CODE; EVAL; }; f",
	"set -- a CODE; shift 1; EVAL1", "eval 'x=CODE'; EVAL",
}

// evaluators evaluate the variable V.
var evaluators = []string{
	"echo $((V))", "echo $(($V))", "echo $((${V}+1))", "((y=$V))", "[[ $V -gt 1 ]]", "[[ 1 -eq \"$V\" ]]",
	"echo ${HOME:$V:1}", "echo ${HOME:0:$V}",
	"a[$V]=1", "echo ${a[$V]}", "echo $[$V]", "let y=$V", "let \"y=$V\"", "for ((i=$V;i<1;i++)); do :; done",
	"[[ -v a[$V] ]]", "unset \"a[$V]\"",
	"echo $((a[$V]))", "b=($V); echo $((b))", "y=$V; echo $((y+1))", "OPTIND=$V", "SECONDS=$V", "declare -i y=$V",
}

// TestEvaluatedText: text cannot reach arithmetic in a way that hides a program.
func TestEvaluatedText(t *testing.T) {
	t.Parallel()
	for _, setter := range setters {
		for _, evaluator := range evaluators {
			for _, code := range []string{"'a[$(./x.sh)]'", "'a[`./x.sh`]'", `a[\$\(./x.sh\)]`} {
				if evaluator == "echo $((V))" && strings.Contains(setter, "EVAL1") {
					continue // a number instead of the parameter
				}
				line := strings.NewReplacer("EVAL1", strings.ReplaceAll(evaluator, "V", "1"), "EVAL",
					strings.ReplaceAll(evaluator, "V", "x"), "CODE", code).Replace(setter)
				if !noticed(line) && !asked(line) {
					t.Errorf("%s\n\thides ./x.sh", line)
				}
			}
		}
	}
}

func asked(line string) bool {
	facts := umpire.Facts{Accesses: Parse(line, testEnv)}
	return facts.Risk().AtLeast(umpire.Medium)
}

// TestQuotedCompound: no declaration runs quoted text unnoticed.
func TestQuotedCompound(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"declare -a 'a=(CODE)'", "declare -A 'm=([x]=CODE)'", "typeset -a 'a=(CODE)'", "readonly -a 'a=(CODE)'",
		"declare -a a; declare 'a=(CODE)'", "declare a; declare 'a=(CODE)'",
		"declare -a a='(CODE)'", "x='(CODE)'; declare -a a=\"$x\"", "a=(1); declare a='(CODE)'",
		"a[1]=2; declare 'a=(CODE)'", "f() { local -a 'a=(CODE)'; }; f", "declare -ga 'a=(CODE)'",
		"mapfile </dev/null; declare 'MAPFILE=(CODE)'", "declare 'DIRSTACK=(CODE)'", "declare -a a+='(CODE)'",
		"read -a a <<<x; declare 'a=(CODE)'", "declare -A m='([CODE]=1)'",
		"readarray a <README.md; typeset a='(CODE)'", "declare -a a; declare a=\"$y\"",
		"for i in 1 2; do declare a=\"$y\"; a=(1); done", "declare -a a='(<(./x.sh))'", "declare -ar a='(CODE)'",
		"export -a 'a=(CODE)'", "declare -x -a 'a=(CODE)'", "a=(1); readonly a=\"$(cat f)\"",
		"read 'a[0]' <<<1; declare a=\"$y\"", "declare -a \"a=$y\"", "local -a \"a=${y}\"",
	} {
		for _, code := range []string{"$(./x.sh)", "`./x.sh`"} {
			if line := strings.ReplaceAll(line, "CODE", code); !noticed(line) && !asked(line) {
				t.Errorf("%s\n\thides ./x.sh", line)
			}
		}
	}
}

// TestIndexedNames: no builtin that takes a name hides the program in its index.
func TestIndexedNames(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"printf -v 'a[$(./x.sh)]' x", "unset 'a[$(./x.sh)]'", "test -v 'a[$(./x.sh)]'", "[ -v 'a[$(./x.sh)]' ]",
		"[[ -v 'a[$(./x.sh)]' ]]", "let 'a[$(./x.sh)]=1'", "read 'a[$(./x.sh)]' <<<x",
		"sleep 0 & wait -n -p 'a[$(./x.sh)]'", "getopts 'a:' 'o[$(./x.sh)]' -ax", "x='a[$(./x.sh)]'; echo ${!x}",
		"set -- 'a[$(./x.sh)]'; echo ${!1}", "declare -n 'r=a[$(./x.sh)]'; r=1",
		"x='$(./x.sh)'; echo ${x@P}", "set -- '$(./x.sh)'; echo ${1@P}", "mapfile 'a[$(./x.sh)]'",
		"export 'a[$(./x.sh)]=1'", "declare 'a[$(./x.sh)]=1'", "echo x {a['$(./x.sh)']}>/dev/null",
		"OPTIND='a[$(./x.sh)]'", "LINES='a[$(./x.sh)]'", "for SECONDS in 'a[$(./x.sh)]'; do :; done",
		"read OPTIND <<<'a[$(./x.sh)]'", "echo ${a['$(./x.sh)']}", "a['$(./x.sh)']=1",
		"echo \"${PATH/a/'$(./x.sh)'}\"", "printf -v OPTIND %s 'a[$(./x.sh)]'",
	} {
		if !noticed(line) && !asked(line) {
			t.Errorf("%s\n\thides ./x.sh", line)
		}
	}
}

// TestNumbers: no way to set a variable that some shell keeps as a number hides the program that its evaluation runs.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq(integers) {
		for _, form := range []string{
			"%s='a[$(./x.sh)]'", "%s='a[$(./x.sh)]' cat a", "%s=1 %[1]s='a[`./x.sh`]' ls", "export %s='a[$(./x.sh)]'",
			"for %s in 'a[$(./x.sh)]'; do :; done", "read %s <<<'a[$(./x.sh)]'", "echo ${%s:='a[$(./x.sh)]'}",
			"x='a[$(./x.sh)]'; %s=$x cat a", "f() { %s='a[$(./x.sh)]' ls; }; f", "%s+='a[$(./x.sh)]' cat a",
			"printf -v %s %%s 'a[$(./x.sh)]'",
		} {
			if line := fmt.Sprintf(form, name); !noticed(line) && !asked(line) {
				t.Errorf("%s\n\thides ./x.sh", line)
			}
		}
	}
}

// TestArithmeticStaysSafe: ordinary arithmetic is not in doubt.
func TestArithmeticStaysSafe(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"i=0; while ((i<3)); do echo $i; ((i++)); done", "n=$(wc -l <a); echo $((n+1))",
		"n=$(grep -c 'a$' f); [[ $n -gt 3 ]] && echo y", "f() { echo $(($1*2)); }; f 3",
		"set -- 1 2; echo $(($1+$2))", "for x in 1 2 3; do echo $((x*x)); done",
		"total=0; for f in *.go; do n=$(wc -l <\"$f\"); total=$((total+n)); done; echo $total",
		"x=$(awk '{print $1}' f); echo $((x/2))", "x=$(awk '{s+=$1} END {printf \"%.2f\", s}' f); echo $((x))",
		"a=(1 2 3); echo ${a[1]} ${#a[@]}", "s=abc; echo ${s:1:2}",
		"declare -a a=(1 2)", "declare -A m; m[x]=1; echo ${m[x]}", "local x=\"$(ls)\"", "declare x='(a)'",
		"set -- *.go; echo $#", "printf '%s\\n' '$(x)'", "x='a$b'; echo \"$x\"",
		"grep -n '$(' f; echo $((1+2))", "n=$(ls | wc -l); if [ \"$n\" -gt 3 ]; then echo '$(many)'; fi",
		"LINES=40 COLUMNS=$((80*2)) ls", "x='cost: $5'; i=1; echo $((i+1))", "SECONDS=0; ls; echo $SECONDS",
		"for i in $(seq 1 3); do echo $((i*2)); done", "read -r a b <<<\"1 2\"; echo $a",
		"size=$(stat -c %s f); echo $((size/1024))", "declare -r x=\"$1\"",
	} {
		for _, a := range Parse(line, testEnv) {
			if a.Doubt != "" && !strings.HasPrefix(catalogue.English.Text(a.Doubt), "the path") {
				t.Errorf("%s: %s", line, a.Doubt)
			}
		}
	}
}
