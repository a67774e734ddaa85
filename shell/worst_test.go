package shell

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// worstInputs are lines designed to make parsing slow.
func worstInputs() map[string]string {
	many := func(n int, text string) string { return strings.Repeat(text, n) }
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	return map[string]string{
		"1 MB of true &&":        many(1<<20/8, "true && ") + "true",
		"definitions in a chain": many(2500, "f() { ls; } && ") + "ls",
		"leaving a loop": numbered(400, "v%d=x;") + "for i in a b; do " + many(1500,
			"true && continue;") + "done",
		"leaving a function":       numbered(400, "v%d=x;") + "f() { " + many(1500, "return;") + "}; f; f",
		"a line that may fail":     numbered(400, "v%d=x;") + many(1500, ": $((v1));"),
		"an array of its own name": "a=(" + many(2000, "a ") + ");" + many(300, "echo $((a));"),
		"quotes within quotes":     "echo " + many(800, `"${x:-'a'}${y:-"${z:-'b'}"}" `),
		"branches that go on":      "case a in " + numbered(400, "%d) v%[1]d=x;& ") + "esac",
		"4000 commands":            many(4000, "true;"),
		"6000 words":               "echo " + many(5990, "a "),
		"100,000 words":            "echo " + many(100_000, "a "),
		"48 kB in one word":        "echo " + many(48_000, "a"),
		"a word of quotes":         "echo " + many(12_000, `''""`),
		"deep brackets":            many(190, "(") + "ls" + many(190, ")"),
		"deep substitutions":       many(60, "$(") + "ls" + many(60, ")"),
		"deep quotes":              "echo " + many(60, `"$(echo `) + "x" + many(60, `)"`),
		"many substitutions":       "echo " + many(2500, "$(ls) "),
		"many backquotes":          "echo " + many(90, "`ls` "),
		"a large here-document": "cat <<'E'\n" + many(15_000, "a line of a text that is only printed, as "+
			"agents write files\n") + "E\n",
		"a here-document that runs":   "cat <<E\n" + many(500, "text ${HOME} and $(ls)\n") + "E\n",
		"many here-documents":         numbered(900, "cat <<E%d\nx\nE%[1]d\n"),
		"a here-document for a shell": "sh <<'E'\n" + many(3000, "ls -la; ") + "\nE\n",
		"a brace bomb":                "echo " + many(40, "{a,b}"),
		"braces within braces":        "echo " + many(60, "{a,") + many(60, "}"),
		"many small braces":           "echo " + many(900, "{a,b,c} "),
		"a range":                     "echo {1..100000}",
		"many ranges":                 "echo " + many(500, "{1..250} "),
		"functions that double":       doublingFunctions(20),
		"loops within loops":          many(12, "for i in 1 2 3 4 5 6 7 8; do ") + "ls" + many(12, "; done"),
		"a loop over a loop's words":  many(5, "for i in $(seq 30); do ") + "ls $i" + many(5, "; done"),
		"branches that change folder": numbered(1500, "if x; then cd a%d; fi;") + "rm x",
		"branches that set variables": numbered(1200, "if x; then v%d=1; fi;") + "ls",
		"variables that grow":         "a=xxxxxxxxxx;" + many(60, "a=$a$a;") + "echo $a",
		"arrays that grow":            "a=(x);" + many(40, `a=("${a[@]}" "${a[@]}");`) + "echo ${a[@]}",
		"functions that are called":   "f() { ls; };" + many(4000, "f;"),
		"many functions":              numbered(1500, "f%d() { :; };"),
		"wrappers of wrappers":        many(3000, "nice ") + "ls",
		"unknown wrappers":            many(400, "env --strange ") + "ls",
		"xargs of many words":         "echo " + many(5000, "a ") + "| xargs -n1 ls",
		"xargs of xargs":              "echo a" + many(60, "| xargs echo a b"),
		"a pipe of pipes":             "ls" + many(3000, " | cat"),
		"find with many parts":        "find . " + many(1500, "-name x -o ") + "-name y",
		"find with many commands":     "find . " + many(900, `-exec ls {} \; `),
		"a long awk program":          "awk '" + many(2500, "{ print $1; } ") + "'",
		"a nested awk program":        "awk '{ x = " + many(2000, "(") + "1" + many(2000, ")") + "}'",
		"a long sed program":          "sed '" + many(8000, "s/a/b/;") + "'",
		"a nested sed program":        "sed -n '" + many(3000, "/a/{") + "p" + many(3000, "}") + "'",
		"a long jq program":           "jq '" + many(10_000, ".a | ") + ".b'",
		"a long statement":            "sqlite3 a.db 'select " + many(5000, "a, ") + "b from t'",
		"many statements":             "sqlite3 a.db '" + many(1500, "select 1;") + "'",
		"arithmetic":                  "echo $((" + many(3000, "1+") + "1))",
		"nested arithmetic":           "echo $((" + many(180, "(") + "1" + many(180, ")") + "))",
		"tests":                       "[[ " + many(1400, "a == b && ") + "a ]]",
		"case with many patterns":     "case x in " + many(4000, "a|") + "b) ls;; esac",
		"many cases":                  "case x in " + numbered(1500, "a%d) ls;; ") + "esac",
		"many redirections":           "ls " + many(1900, "> a ") + "2>&1",
		"many assignments":            numbered(2900, "a%d=b "),
		"expansions":                  "a=x; echo " + many(2500, "${a%x*} "),
		"trimmed expansions":          "a=" + many(1000, "ab") + "; echo " + many(400, "${a%%*b*a*b*c} "),
		"git in many folders":         numbered(900, "git -C d%d status;"),
		"options that abbreviate":     "git log " + many(2000, "--a "),
		"a cluster of letters":        "tar -" + many(40_000, "v"),
		"many option values":          "rg " + many(2500, "-e a ") + "b",
		"shells within shells":        shells(12),
		"eval of eval":                many(30, "eval ") + "ls",
		"strings within strings":      many(400, "env -S ") + "ls",
		"globs":                       "ls " + many(2900, "*?[a] "),
		"a tree of parallel":          many(30, "parallel ") + "ls ::: a",
	}
}

// doublingFunctions returns a chain of functions that each call the next one twice.
func doublingFunctions(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%d() { f%d; f%[2]d; };", i, i+1)
	}
	fmt.Fprintf(&b, "f%d() { ls; }; f0", n)
	return b.String()
}

// shells returns nested code, quoted once more at each level.
func shells(n int) string {
	code := "ls"
	for range n {
		code = "sh -c " + quoteOnce(code)
		if len(code) > 40_000 {
			break
		}
	}
	return code
}

func quoteOnce(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// BenchmarkWorstInput measures the slowest lines. The goal is 50 ms for each.
func BenchmarkWorstInput(b *testing.B) {
	for name, line := range worstInputs() {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				Parse(line, neverSafeEnv)
			}
		})
	}
}

// BenchmarkLength parses a series of ordinary commands with a total length in bytes.
func BenchmarkLength(b *testing.B) {
	const command = "grep -rn needle src | head -5 && git status --short\n"
	for _, size := range []int{100, 1000, 10_000, 100_000, 1_000_000} {
		line := strings.Repeat(command, max(1, size/len(command)))
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			for b.Loop() {
				Parse(line, neverSafeEnv)
			}
		})
	}
}

// TestWorstInputIsBounded counts work instead of time: every line yields a result within the
// limits.
func TestWorstInputIsBounded(t *testing.T) {
	t.Parallel()
	const maxWork = 500_000 // words in accesses
	for name, line := range worstInputs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &walker{env: neverSafeEnv, tables: families[:]}
			w.walkText(newState(neverSafeEnv), line, flow{})
			work := 0
			for _, a := range w.accesses {
				work += len(a.Words) + len(a.Args)
			}
			if len(w.accesses) == 0 || work > maxWork {
				t.Errorf("%d accesses of %d words", len(w.accesses), work)
			}
			if w.commands > 2*maxCommands || w.expanded > maxExpanded+maxBraceWords*maxWords ||
				w.guesses > maxGuesses+maxNesting*maxNesting {
				t.Errorf("%d commands, %d words, %d guesses", w.commands, w.expanded, w.guesses)
			}
		})
	}
}
