package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// testEnv is the environment of the tests: a project below a home.
var testEnv = Env{Dir: "/home/u/p", Home: "/home/u", Shell: "bash"}

// seen formats accesses, one per line: kind, target, and marks for tree, glob and doubt.
func seen(accesses []umpire.Access) string {
	var b strings.Builder
	for _, a := range accesses {
		what := a.Target
		if a.Kind == umpire.KindExec {
			what = strings.Join(a.Words, " ")
		}
		fmt.Fprintf(&b, "%s %s", a.Kind, strings.ReplaceAll(what, "\x00", "…"))
		for mark, set := range map[string]bool{" tree": a.Tree, " glob": a.Glob} {
			if set {
				b.WriteString(mark)
			}
		}
		if a.Doubt != "" {
			b.WriteString(" ?")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, line, want string }{
		{"a list", "ls; pwd && true || false", "exec ls\nexec pwd\nexec true\nexec false\n"},
		{"a pipe", "cat a | head -3", "exec cat a\nread /home/u/p/a\nexec head -3\n"},
		{"a subshell keeps its folder", "(cd sub && cat x); cat x",
			"exec cd sub\nread /home/u/p/sub\nexec cat x\nread /home/u/p/sub/x\nexec cat x\nread /home/u/p/x\n"},
		{"cd is followed", "cd /q && cat x", "exec cd /q\nread /q\nexec cat x\nread /q/x\n"},
		{
			"cd may fail", "cd q; cat x",
			"exec cd q\nread /home/u/p/q\nexec cat x\nread /home/u/p/q/x\nread /home/u/p/x\n",
		},
		{
			"cd fails and the rest is left", "cd q || exit 1; cat x",
			"exec cd q\nread /home/u/p/q\nexec exit 1\nexec cat x\nread /home/u/p/q/x\n",
		},
		{"cd to nowhere known", `cd "$X" && cat x`, "exec cd …\nread … ?\nexec cat x\nread x ?\n"},
		{"a substitution in quotes", `echo "a $(cat x) b"`, "exec cat x\nread /home/u/p/x\nexec echo a …\n"},
		{"backquotes", "echo `cat x`", "exec cat x\nread /home/u/p/x\nexec echo …\n"},
		{"a substitution that prints what is known", "cat $(echo x)", "exec echo x\nexec cat x\nread /home/u/p/x\n"},
		{
			"the working directory", `cat "$(pwd)/x" $PWD/y`,
			"exec pwd\nexec cat /home/u/p/x /home/u/p/y\nread /home/u/p/x\nread /home/u/p/y\n",
		},
		{
			"process substitution", "head <(cat x)",
			"exec cat x\nread /home/u/p/x\nexec head /dev/fd/63\nread /dev/fd/63\n",
		},
		{"a program assembled from pieces", "c''a\"t\" x", "exec cat x\nread /home/u/p/x\n"},
		{"a program that is not known before", "$X y", "exec  ?\n"},
		{"a variable of the line", "f=x; cat $f", "exec =\nexec cat x\nread /home/u/p/x\n"},
		{"a variable of the environment", "cat $f", "exec cat …\nread … ?\n"},
		{"a variable that splits", `o="-n 3"; head $o x`, "exec =\nexec head -n 3 x\nread /home/u/p/x\n"},
		{"a variable set on one branch only", "true && f=/q; cat $f", "exec true\nexec =\nexec cat …\nread … ?\n"},
		{
			"home and tilde", `cat ~/x "$HOME/y" '~/z'`,
			"exec cat /home/u/x /home/u/y ~/z\nread /home/u/x\nread /home/u/y\nread /home/u/p/~/z\n",
		},
		{"another user's home", "cat ~root/x", "exec cat /root/x\nread /root/x\n"},
		{
			"braces", "cat {a,b}.{1..2}",
			"exec cat a.1 a.2 b.1 b.2\nread /home/u/p/a.1\nread /home/u/p/a.2\nread /home/u/p/b.1\nread " +
				"/home/u/p/b.2\n",
		},
		{
			"wildcards stay wildcards", `cat *.go "*.c"`,
			"exec cat *.go *.c\nread /home/u/p/*.go glob\nread /home/u/p/*.c\n",
		},
		{
			"a loop over known items", "for f in a b; do cat $f; done",
			"exec cat a\nread /home/u/p/a\nexec cat b\nread /home/u/p/b\n",
		},
		{"a loop over what is not known", `for f in $X; do cat "$f"; done`, "exec cat …\nread … ?\n"},
		{
			"a loop forgets what its rounds change", "while true; do cat $f; f=/q; done",
			"exec true\nexec cat …\nread … ?\nexec =\n",
		},
		{"a condition walks both branches", "if cat a; then cat b; else cat c; fi",
			"exec cat a\nread /home/u/p/a\nexec cat b\nread /home/u/p/b\nexec cat c\nread /home/u/p/c\n"},
		{
			"a case walks all branches", "case x in a) cat a;; *) cat b;; esac",
			"exec cat a\nread /home/u/p/a\nexec cat b\nread /home/u/p/b\n",
		},
		{
			"a function is judged where it is called", `f() { cat "$1"; }; f x`,
			"exec function\nexec cat x\nread /home/u/p/x\n",
		},
		{"a function shadows a program", "ls() { cat x; }; ls", "exec function\nexec cat x\nread /home/u/p/x\n"},
		{"an alias shadows a program", "alias ls=rm; ls x", "exec alias ls=rm\nexec rm\nexec  ?\n"},
		{
			"redirections", "cat <a >b 2>>c 2>&1 >/dev/null",
			"read /home/u/p/a\nwrite /home/u/p/b\nwrite /home/u/p/c\nwrite /dev/null\nexec cat\n",
		},
		{"a redirection to nowhere known", "ls > $X", "write … ?\nexec ls\n"},
		{"a quoted here-document is data", "cat <<'E'\n$(rm x)\nE", "exec cat\n"},
		{"a here-document is expanded", "cat <<E\n$(cat x)\nE", "exec cat x\nread /home/u/p/x\nexec cat\n"},
		{"a here-document to a shell is code", "bash <<'E'\ncat x\nE", "exec bash\nexec cat x\nread /home/u/p/x\n"},
		{"a here-string to a shell is code", "sh <<< 'cat x'", "exec sh\nexec cat x\nread /home/u/p/x\n"},
		{
			"text piped to a shell is code", "echo 'cat x' | sh",
			"exec echo cat x\nexec sh\nexec cat x\nread /home/u/p/x\n",
		},
		{"whatever is piped to a shell is in doubt", "cat x | sh", "exec cat x\nread /home/u/p/x\nexec sh ?\n"},
		{"sh -c", `sh -c 'cat "$1"' _ x`, "exec sh -c cat \"$1\" _ x\nexec cat x\nread /home/u/p/x\n"},
		{"eval", "eval cat x '&&' ls", "exec eval cat x && ls\nexec cat x\nread /home/u/p/x\nexec ls\n"},
		{"a wrapper", "timeout 5 cat x", "exec timeout 5 cat x\nexec cat x\nread /home/u/p/x\n"},
		{
			"xargs with what is known", "echo x | xargs cat",
			"exec echo x\nexec xargs cat\nexec cat x\nread /home/u/p/x\n",
		},
		{
			"xargs with a marker", "echo x | xargs -I{} cat {}.go",
			"exec echo x\nexec xargs -I{} cat {}.go\nexec cat x.go\nread /home/u/p/x.go\n",
		},
		{"a network device", "cat < /dev/tcp/h/80", "network h/80\nexec cat\n"},
		{"a trap", "trap 'cat x' EXIT", "exec trap cat x EXIT\nexec cat x\nread /home/u/p/x\n"},
		{"a program by its path", "/bin/cat x", "exec cat x\nread /home/u/p/x\n"},
		{"a program of the same name elsewhere", "./cat x", "exec ./cat x\n"},
		{"an operand that looks like an option after --", "cat -- -x", "exec cat -- -x\nread /home/u/p/-x\n"},
		{"no command", "# nothing", "exec :\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, seen(Parse(test.line, testEnv))); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", test.line, diff)
			}
		})
	}
}

// TestRisks checks the engine's own verdicts on lines.
func TestRisks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line string
		want umpire.Risk
	}{
		{"PATH=. ls", umpire.Medium},
		{"LD_PRELOAD=./x.so ls", umpire.Medium},
		{"LC_ALL=C ls", umpire.Safe},
		{"NO_COLOR=1 ls", umpire.Safe},
		{"FOO=1 ls", umpire.Medium},
		{"FOO=1; ls", umpire.Safe},
		{"PATH=.; ls", umpire.Medium},
		{"export FOO=1; ls", umpire.Medium},
		{"BASH_ENV=x; ls", umpire.Medium},
		{"set -euo pipefail; ls", umpire.Safe},
		{"source x", umpire.Medium},
		{". ./x", umpire.Medium},
		{"nosuchprogram", umpire.Medium},
		{"./payload.sh", umpire.Medium},
		{"sudo ls", umpire.High},
		{":(){ :|:& };:", umpire.Critical},
		{"b() { b | b & }; b", umpire.Critical},
		{"f() { ls; }; f", umpire.Safe},
		{"printf -v PATH %s .", umpire.Medium},
		{"unset PATH", umpire.Medium},
		{"alias ls=rm", umpire.High},
		{"read -r x; echo $x", umpire.Safe},
		{"[ -f x ] && echo yes", umpire.Safe},
		{"[[ -n $x ]] && echo yes", umpire.Safe},
		{"command -v git", umpire.Safe},
		{"echo ${x@P}", umpire.Medium},
		{"echo 'rm -rf /'", umpire.Safe},
		{"echo $((1+2))", umpire.Safe},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			facts := umpire.Facts{Accesses: Parse(test.line, testEnv)}
			if got := facts.Risk(); got != test.want {
				t.Errorf("risk %s, want %s\n%s", got, test.want, seen(facts.Accesses))
			}
		})
	}
}

// TestGuard: no input that could crash the parser reaches it.
func TestGuard(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"10,000 parentheses":      strings.Repeat("(", 10_000) + "ls" + strings.Repeat(")", 10_000),
		"substitutions":           strings.Repeat("$(", 5000),
		"backquotes":              strings.Repeat("`", 5000),
		"braces":                  strings.Repeat("{ ", 5000),
		"if":                      strings.Repeat("if ", 400_000),
		"not":                     strings.Repeat("! ", 400_000),
		"while on lines":          strings.Repeat("while\n", 100_000),
		"1 MB of a line":          "echo " + strings.Repeat("a", 1<<20),
		"100 KB of and":           strings.Repeat("true && ", 12_500) + "true",
		"a fake here-document":    "echo $((1<<E))\n" + strings.Repeat("(", 10_000) + "\nE\n",
		"let is arithmetic":       "let x=1<<E\n" + strings.Repeat("if ", 100_000) + "\nE\n",
		"a control character":     "ls\x00; rm x",
		"a carriage return":       "ls\r; rm x",
		"not UTF-8":               "ls \xff",
		"nested arithmetic":       strings.Repeat("((", 5000),
		"deep in a here-document": "cat <<E\n" + strings.Repeat("(", 10_000) + "\nE\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			accesses := Parse(line, testEnv)
			if accesses[0].Doubt == "" {
				t.Errorf("not in doubt: %s", seen(accesses[:1]))
			}
		})
	}
	body := "python3 - <<'EOF'\n" + strings.Repeat("print('x')  # a line of code\n", 10_000) + "EOF\n"
	if problem := guardText(body); problem != "" {
		t.Errorf("a long here-document is refused: %s", problem)
	}
}

// TestBounds: walking is bounded for lines that parse quickly.
func TestBounds(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"loops in loops": strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "ls" + strings.Repeat("; done",
			12),
		"functions that double": "a() { ls; ls; }; " + doubling(20) + " z20",
		"braces in braces":      "echo " + strings.Repeat("{a,b}", 30),
		"a large sequence":      "echo {1..100000000}",
		"a growing variable":    "x=aaaaaaaaaaaaaaaa; " + strings.Repeat("x=$x$x$x$x; ", 40) + "echo $x",
		"shells in shells":      strings.Repeat("sh -c ", 60) + "ls",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := len(Parse(line, testEnv)); n > maxAccesses+10 {
				t.Errorf("%d accesses", n)
			}
		})
	}
}

func doubling(n int) string {
	var b strings.Builder
	before := "a"
	for i := 1; i <= n; i++ {
		name := fmt.Sprintf("z%d", i)
		fmt.Fprintf(&b, "%s() { %s; %s; }; ", name, before, before)
		before = name
	}
	return b.String()
}

// TestState checks the effects of commands on the shell that runs the rest of the line.
func TestState(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, line, want string }{
		{"command runs in this shell", "command cd /q && cat x", "read /q\nread /q/x\n"},
		{"builtin runs in this shell", "builtin cd /q && cat x", "read /q\nread /q/x\n"},
		{"command passes by functions", "cat() { :; }; command cat x", "read /home/u/p/x\n"},
		{"the last of a pipe may run in this shell", "echo | cd /q; cat x", "read /q\nread /home/u/p/x\nread /q/x\n"},
		{"a pipe into read", "echo / | read f; cat $f", "read … ?\n"},
		{"shift", "set -- a /q; shift; cat $1", "read … ?\n"},
		{"two folders are zsh's", "cd a b && cat x", "read x ?\n"},
		{"eval runs in this shell", "eval cd /q && cat x", "read /q\nread /q/x\n"},
		{"a group runs in this shell", "{ cd /q; }; cat x", "read /q\nread /q/x\nread /home/u/p/x\n"},
		{"a function runs in this shell", "f() { cd /q; }; f; cat x", "read /q\nread /q/x\nread /home/u/p/x\n"},
		{"a background command does not", "cd /q & cat x", "read /q\nread /home/u/p/x\n"},
		{"popd", "popd; cat x", "read x ?\n"},
		{"home is changed", "HOME=/q; cat ~/x", "read /q/x\n"},
		{"a body reads below another home", "f() { cat < ~/x; }; f; HOME=/q; f", "read /home/u/x\nread /q/x\n"},
		{"words are split otherwise", "IFS=:; f=a:b; cat $f", "read … ?\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var paths []umpire.Access
			for _, a := range Parse(test.line, testEnv) {
				if a.Paths() {
					paths = append(paths, a)
				}
			}
			if diff := cmp.Diff(test.want, seen(paths)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", test.line, diff)
			}
		})
	}
}
