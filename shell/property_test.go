package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
)

// simple draws a simple command that does not change the shell.
func simple() *rapid.Generator[string] {
	program := rapid.SampledFrom([]string{
		"ls", "cat", "rm", "rm -rf", "grep x", "git status", "git push", "npm test", "echo", "sed -n 1p", "find",
		"cp a", "nosuch", "./run", "curl", "chmod 777",
	})
	operand := rapid.SampledFrom([]string{
		"", "a", "src/b.go", "/", "/etc/passwd", "~", "../x", "$X", "*.go", "'q q'", "$(cat y)", "> out", "2>/dev/null",
		"-n",
	})
	return rapid.Custom(func(t *rapid.T) string {
		words := []string{program.Draw(t, "program")}
		words = append(words, rapid.SliceOfN(operand, 0, 3).Draw(t, "operands")...)
		return strings.Join(words, " ")
	})
}

// essence returns the content of an access without its position on the line.
func essence(a umpire.Access) string {
	return fmt.Sprintf("%s %q %s %s %v %v %q", a.Kind, a.Words, a.Target, a.Risk, a.Tree, a.Glob, a.Doubt)
}

func essences(line string) []string {
	var out []string
	for _, a := range Parse(line, testEnv) {
		out = append(out, essence(a))
	}
	return out
}

// TestListHoldsBoth: the facts of `a; b` contain the facts of both. A program may carry more
// risk there, because it may run code that the other writes.
func TestListHoldsBoth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := simple().Draw(t, "a"), simple().Draw(t, "b")
		separator := rapid.SampledFrom([]string{"; ", " && ", " || ", "\n", " & ", " | "}).Draw(t, "separator")
		both := Parse(a+separator+b, testEnv)
		parts := Parse(a, testEnv)
		if separator != " | " {
			parts = append(parts, Parse(b, testEnv)...)
		}
		for _, part := range parts {
			if !slices.ContainsFunc(both, func(a umpire.Access) bool {
				least := a
				least.Risk = part.Risk
				return a.Risk.AtLeast(part.Risk) && essence(least) == essence(part)
			}) {
				t.Fatalf("%q lost %s\nhas %s", a+separator+b, essence(part), strings.Join(essences(a+separator+b), "\n"))
			}
		}
	})
}

// worst returns the worst risk of a line, and whether something in it is in doubt.
func worst(line string) (umpire.Risk, bool) {
	facts := umpire.Facts{Accesses: Parse(line, testEnv)}
	doubt := slices.ContainsFunc(facts.Accesses, func(a umpire.Access) bool { return a.Doubt != "" })
	return facts.Risk(), doubt
}

// TestWrapperNeverLowers: wrappers never make a command look less risky.
func TestWrapperNeverLowers(t *testing.T) {
	t.Parallel()
	wrappers := rapid.SampledFrom([]string{
		"sudo %s", "doas %s", "env %s", "env -i A=1 %s", "timeout 5 %s", "timeout -s KILL 5 %s", "nice -n 5 %s",
		"nice %s", "ionice -c2 %s",
		"nohup %s", "setsid %s", "stdbuf -o0 %s", "time %s", "command %s", "builtin %s", "exec %s", "xargs %s",
		"busybox %s",
	})
	// Clauses that the shell parses can only be outermost.
	clauses := rapid.SampledFrom([]string{
		"%s", "( %s )", "{ %s; }", "if true; then %s; fi", "for i in 1; do %s; done", "while true; do %s; done",
		"f() { %s; }; f",
		"eval '%s'", "sh -c '%s'", "bash -c '%s'", "echo $(%s)", "! %s", "%s | cat", "true && %s", "watch %s",
		"su -c '%s'",
		"trap '%s' EXIT", "case x in x) %s;; esac", "coproc %s", "find . -exec sh -c '%s' ';'",
	})
	rapid.Check(t, func(t *rapid.T) {
		plain := simple().Draw(t, "command")
		line := plain
		for _, wrapper := range rapid.SliceOfN(wrappers, 0, 3).Draw(t, "wrappers") {
			line = fmt.Sprintf(wrapper, line)
		}
		clause := clauses.Draw(t, "clause")
		if strings.Contains(line, "'") && strings.Contains(clause, "'") {
			clause = "%s"
		}
		line = fmt.Sprintf(clause, line)
		risk, doubt := worst(plain)
		got, gotDoubt := worst(line)
		if !got.AtLeast(risk) && !gotDoubt || doubt && !gotDoubt {
			t.Fatalf("%q is %s (doubt %v), alone %s (doubt %v)", line, got, gotDoubt, risk, doubt)
		}
	})
}

// FuzzParse: no input makes Parse panic, hang, or return nothing.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"ls -la", "cat <<E\n$(x)\nE", "for i in {1..3}; do echo $i; done", "a=(1 2); echo ${a[@]}",
		"find . -exec rm {} +", "sed -n '1,3p' x",
		"awk '{print $1}' x | sort -u", "git -c a.b=c log", "x=$'\\x41'; $x", "cd a && (cd b; ls) || exit",
		"case $x in a|b) ;; esac", "[[ a =~ b ]]",
		"sudo -u x env -S 'a b' sh -c 'ls'", "f() { f; }; f", "echo ${x:-$(y)}", "tar czf x.tgz --to-command=y .",
		"xargs -I{} sh -c '{}' <<< x", "((i++))",
		"echo $((a[$(echo {1..3})]))", "for i in 1 2; do echo {a,b}; done",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		late := time.AfterFunc(time.Minute, func() { panic(fmt.Sprintf("still walking %q", line)) })
		accesses := Parse(line, testEnv)
		late.Stop()
		if len(accesses) == 0 {
			t.Fatal("no access at all")
		}
		for _, a := range accesses {
			if a.Kind == umpire.KindUnknown || a.Reason == "" {
				t.Fatalf("an access that says nothing: %+v", a)
			}
		}
	})
}
