package shell

import (
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

// noticed reports whether a line is in doubt or Parse sees it start ./x.sh.
func noticed(line string) bool {
	return slices.ContainsFunc(Parse(line, testEnv), func(a umpire.Access) bool {
		return a.Doubt != "" || a.Program == "x.sh"
	})
}

// TestHiddenCode: no line hides a program that a shell starts.
func TestHiddenCode(t *testing.T) {
	t.Parallel()
	for family, lines := range map[string][]string{
		"a comment that ends in a backslash": {
			"echo hi #\\\n./x.sh", "echo hi # a note \\\n./x.sh", "# \\\n./x.sh", "echo hi # \\\\\n./x.sh",
			"echo hi # \\\\\\\n./x.sh", "echo hi # \\\n# \\\n./x.sh", "echo $(echo hi # \\\n./x.sh)",
			"(echo hi # \\\n./x.sh)", "{ echo hi # \\\n./x.sh\n}", "echo hi |# \\\n./x.sh", "ls && # \\\n./x.sh",
			"if true; then echo a # \\\n./x.sh; fi", "case a in # \\\na) ./x.sh;; esac", "a=(1 # \\\n$(./x.sh))",
			"for f in a b # \\\ndo ./x.sh; done", "echo `echo # \\\n./x.sh`", "cat <(echo a # \\\n./x.sh)",
			"echo hi # $( \\\n./x.sh", "echo hi # ' \\\n./x.sh '", "echo \\\n hi \\\n # a \\\n./x.sh",
		},
		"joined lines": {
			"echo \"$\\\n(./x.sh)\"", "echo $\\\n(./x.sh)", "cat <<E\n$\\\n(./x.sh)\nE", "echo ${x:-$\\\n(./x.sh)}",
			"echo \"${x:-$\\\n(./x.sh)}\"", "x='$(./x.sh)'; echo \"$\\\n{x@P}\"", "x='$(./x.sh)'; echo $\\\n{x@P}",
			"x='$(./x.sh)'; echo ${\\\nx@P}", "x='$(./x.sh)'; echo ${x\\\n@P}", "x='$(./x.sh)'; echo ${x@\\\nP}",
			"echo <\\\n(./x.sh)", "echo $((1 + $\\\n(./x.sh)))", "echo a\\\n#b\\\n; ./x.sh",
			"cat <<E\\\nF\nEF\n./x.sh\nE", "cat <<E\n\\\nE\n./x.sh\nE", "cat <<E\na\\\\\nE\n./x.sh",
			"echo 'a'\\\n'b'; ./\\\nx.sh", "echo \"a\\\\\\\n$\\\n(./x.sh)\"", "[[ a == $\\\n(./x.sh) ]]",
			"echo \"$\\\n\\\n(./x.sh)\"", "echo `echo \\\n./x.sh`", "echo $\\\n'a\\'; ./x.sh; echo '",
			"echo \"$\\\n('a\\\nb'; ./x.sh)\"",
		},
		"processes within an expansion": {
			"echo ${x:-<(./x.sh)}", "echo ${x->(./x.sh)}", "echo ${x:=<(./x.sh)}", "echo ${PWD/src/<(./x.sh)}",
			"echo ${PWD/<(./x.sh)/a}", "echo ${@:-<(./x.sh)}", "x=${y:-<(./x.sh)}",
			"for i in ${x:-<(./x.sh)}; do :; done", "set -- ${x:-<(./x.sh)}", "echo ${PWD:+<(./x.sh)}",
			"echo ${x:?<(./x.sh)}", "echo ${PWD#<(./x.sh)}", "echo ${PWD%%<(./x.sh)}", "echo ${x:-${y:-<(./x.sh)}}",
			"case ${x:-<(./x.sh)} in a) ;; esac", "cat < ${x:-<(./x.sh)}", "[[ -e ${x:-<(./x.sh)} ]]",
			"a=(${x:-<(./x.sh)})", "echo ${x:-a$PWD<(./x.sh)}", "echo ${PWD//a/<(./x.sh)}", "cat <<< ${x:-<(./x.sh)}",
			"echo ${x:-\"a\"<(./x.sh)}", "echo ${x:-=(./x.sh)}", "echo ${1:-<(./x.sh)}", "echo ${PWD^^<(./x.sh)}",
		},
	} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			for _, line := range lines {
				if !noticed(line) {
					t.Errorf("%q hides ./x.sh\n%s", line, seen(Parse(line, testEnv)))
				}
			}
		})
	}
}

// TestJoinedLinesStaySafe: commonly joined lines are not in doubt.
func TestJoinedLinesStaySafe(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"ls \\\n -la", "ls \\\n -la && \\\n  cat README.md", "ls | \\\n grep x | \\\n\\\n wc -l",
		"for f in a b; do \\\n echo $f; \\\ndone",
		"ls # list \\\ncat README.md", "# first \\\n# second \\\nls", "cat <<E\na \\\nb\nE",
		"cat <<'E'\na \\\n$\\\n(x)\nE", "echo \"a \\\nb\" 'c \\\nd' $'e\\\nf'",
		"x=a\\\nb; echo $x", "[ -f a ] \\\n && echo b", "echo $(ls \\\n a)", "grep -E 'a|\\\n b' README.md",
		"echo ${x:-a \\\n b}", "wc -l <a \\\n 2>&1",
		"ls a\\\nb", "cat \\\n\\\n a", "ls \\\n", "f() { \\\n ls; \\\n}; f", "echo \\\\\nls",
	} {
		for _, a := range Parse(line, testEnv) {
			if a.Doubt != "" {
				t.Errorf("%q: %s", line, a.Doubt)
			}
		}
	}
}

// TestJoinedLinesAreOne checks the meaning of joined lines.
func TestJoinedLinesAreOne(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cat a\\\nb":                 "exec cat ab\nread /home/u/p/ab\n",
		"cat \"a\\\nb\" 'c\\\nd'":    "exec cat ab c\\\nd\nread /home/u/p/ab\nread /home/u/p/c\\\nd\n",
		"ca\\\nt a":                  "exec cat a\nread /home/u/p/a\n",
		"cat a # \\\ncat b":          "exec cat a\nread /home/u/p/a\nexec cat b\nread /home/u/p/b\n",
		"bash <<E\ncat a \\\nb\nE":   "exec bash\nexec cat a b\nread /home/u/p/a\nread /home/u/p/b\n",
		"bash <<'E'\ncat a \\\nb\nE": "exec bash\nexec cat a b\nread /home/u/p/a\nread /home/u/p/b\n",
	} {
		if got := seen(Parse(line, testEnv)); got != want {
			t.Errorf("%q\n%s\nwant\n%s", line, got, want)
		}
	}
}
