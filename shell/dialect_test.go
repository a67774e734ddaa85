package shell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// dialectCases are lines with the shells that read them like bash; "" is an unknown shell.
var dialectCases = []struct{ line, doubted, plain string }{
	{"printf hi &>/dev/null ./x.sh", ",dash,ksh,sh", "bash,zsh,mksh"},
	{"x=1 &>/dev/null ./x.sh", ",dash", "mksh"},
	{"[[ -d .git || ./x.sh ]]", ",dash,busybox,ash,sh", "bash,zsh,ksh,mksh"},
	{"[[ -d .git && -x ./x.sh ]]", ",dash,busybox", "bash,zsh,ksh,mksh"},
	{"[[ x =~ y|./x.sh ]]", ",dash,busybox", "bash,zsh"},
	{"[[ a < b ]]", ",dash", "bash,zsh,ksh"},
	{"function hello\n{ ./x.sh; }", ",dash", "bash,zsh,ksh,mksh,busybox"},
	{"function hello {\n./x.sh\n}", ",dash", "bash,zsh"},
	{"function hello\n( ./x.sh )", ",dash", "bash,zsh"},
	{"function hello\nif true; then ./x.sh; fi", ",dash", "zsh"},
	{"printf $'\\'\n./x.sh\n#'", ",dash", "bash,zsh,ksh,mksh,busybox"},
	{"git log -1 >! .mcp.json", ",zsh", "bash,dash"},
	{"git log -1 >>! notes.txt", ",zsh", "bash,dash,ksh"},
	{"echo a |& cat", ",ksh,mksh", "bash,zsh"},
	{"((ls))", ",dash,busybox", "bash,zsh,ksh"},
	{"cat =ls", ",zsh", "bash,dash"},
	{"cat ~PWD/x", ",zsh", ""},
	{"cat <1-2", ",zsh", "bash"},
	{"repeat 2 ./x.sh", ",zsh", ""},
	{"noglob rm x", ",zsh", ""},
	{"{ls,./x.sh}", ",dash,busybox", "bash,zsh,ksh,mksh"},
	{"ls | cat <<E\na\nE", ",zsh", "bash,dash"},
	{"cat <<$'E'\n$E\n./x.sh\nE", ",dash", "bash"},
	{"x=a; x+=b; ls $x", ",dash,busybox", "bash,zsh,ksh,mksh"},
	{"f() { local d=a; ls $d; }; f", ",ksh", "bash,dash,zsh,mksh,busybox"},
	{"f() { echo a } ; ls; }", ",zsh", "bash,dash,ksh"},
	{"x=/etc/passwd; cat $x:h", ",zsh", "bash,dash"},
	{"cd src test; ls", ",zsh,ksh,mksh", ""},
	{"x.get() { ./x.sh; }; echo $x", ",ksh", "bash,zsh"},
	{"export A=$(cat a); ls", ",dash", "bash,zsh"},
	{"a=(typeset x\n./x.sh\n)", ",ksh", "bash,zsh"},
}

func TestDialects(t *testing.T) {
	t.Parallel()
	for _, tt := range dialectCases {
		for name := range strings.SplitSeq(tt.doubted, ",") {
			if !differs(tt.line, name) {
				t.Errorf("%q is not in doubt for %q", tt.line, name)
			}
		}
		for name := range strings.SplitSeq(tt.plain, ",") {
			if name != "" && differs(tt.line, name) {
				t.Errorf("%q is in doubt for %s", tt.line, name)
			}
		}
	}
}

// TestDialectsQuiet: everyday forms that every shell reads alike, or rejects.
func TestDialectsQuiet(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"ls 2>&1", "go test ./... &>/dev/null", "command -v go &>/dev/null && echo yes", "[[ -f go.mod ]] && cat go.mod",
		`if [[ "$a" == b* ]]; then ls; fi`, "f() { ls; }; f", "function f { ls; }; f", `printf '%s\n' a`, "grep $'\t' a",
		`[ "$a" == b ]`, "for i in {1..3}; do echo $i; done", "ls {a,b}.go", "((i++))", "a=(b c); echo ${a[0]}",
		"cat <<'E'\nx\nE", "git show $rev:src/main.go", "export PATH=$HOME/bin:$PATH", "cat ~/x", "find . -name a -exec ls {} +",
		`[[ a =~ ^(a|b)$ ]]`[:10] + " ]]", "x=${y:-a}; ls $x", "cd -P src", "time ls", "ls >&2", "echo \"a `pwd` b\"", "a &! b"[:1],
	} {
		if differs(line, "") {
			t.Errorf("%q is in doubt", line)
		}
	}
}

// TestDialectOfNestedCode: code for another shell is parsed like that shell does.
func TestDialectOfNestedCode(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"sh -c '[[ a || ./x.sh ]]'": true, "bash -c '[[ -n a || -n b ]]'": false, "dash -c '[[ a || ./x.sh ]]'": true,
		"echo '[[ a || ./x.sh ]]' | sh": true, "eval '[[ a || ./x.sh ]]'": false, "ssh h '[[ a || ./x.sh ]]'": true,
	} {
		if got := differs(line, "bash"); got != want {
			t.Errorf("%q in bash: in doubt %t, want %t", line, got, want)
		}
	}
}

func differs(line, name string) bool {
	return slices.ContainsFunc(shell.Parse(line, shell.Env{Dir: "/p", Home: "/h", Shell: name}), func(a umpire.Access) bool {
		return a.Doubt.Is("`%s` can do something else in another shell (%s)")
	})
}
