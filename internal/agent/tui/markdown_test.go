package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		said  string
		width int
		want  string
	}{
		"words":      {"one two three four", 9, "one two\nthree\nfour"},
		"heading":    {"# Head\ntext", 40, "Head\n\ntext"},
		"emphasis":   {"a *b* **c** `d`", 40, "a b c d"},
		"list":       {"- a\n- b\n  1. c\n  2. d", 40, "• a\n• b\n  1. c\n  2. d"},
		"loose":      {"- a\n\n- b", 40, "• a\n\n• b"},
		"code":       {"x:\n\n```go\nif a {\n\tb()\n}\n```\nend", 40, "x:\n\n  if a {\n      b()\n  }\n\nend"},
		"quote":      {"> a\n> b", 40, "│ a\n│ b"},
		"link":       {"[safe.example](http://evil.example/x)", 60, "safe.example <http://evil.example/x>"},
		"autolink":   {"<http://a.example>", 40, "http://a.example"},
		"html":       {"a <b>c</b>\n\n<script>\nx\n</script>", 40, "a <b>c</b>\n\n  <script>\n  x\n  </script>"},
		"table":      {"| name | n |\n|:---|--:|\n| `中文` | 123 |\n|**x**| 4 |", 40, "name │   n\n─────┼────\n中文 │ 123\nx    │   4"},
		"bare table": {"a | b\n--|--\n1 | 2", 40, "a │ b\n──┼──\n1 │ 2"},
		"wide table": {"| a | b |\n|---|---|\n| 1 | 23456789 |", 11, "| a | b |\n|---|---|\n| 1 |\n23456789 |"},
		"odd table":  {"| a | b |\n|---|---|\n| 1 \\| 2 | 3 |", 40, "| a | b |\n|---|---|\n| 1 \\| 2 | 3 |"},
		"no table":   {"a | b\nc | d", 40, "a | b\nc | d"},
		"option":     {"run it with --no-color", 16, "run it with\n--no-color"},
		"open code":  {"```\nstill coming", 40, "  still coming"},
		"wide":       {"工具请求执行命令", 8, "工具请求\n执行命令"},
		"entity":     {"&#27;[2J &lt;", 40, "&#27;[2J &lt;"},
		"empty":      {"", 40, ""},
	} {
		if got := ansi.Strip(strings.Join(drawMarkdown(tt.said, tt.width), "\n")); got != tt.want {
			t.Errorf("%s:\n%q, want\n%q", name, got, tt.want)
		}
	}
}

// TestMarkdownHidesNothing: for any text of a model, the terminal gets only printable
// characters, line ends and colours, and no line is wider than the screen.
func TestMarkdownHidesNothing(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{
		"\x1b[2J\x1b]0;t\a", "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\", "\u202eabc", "a\u200bb", "\r\rover", "\u2028", "\u2800", "\x00",
		"&#x1b;[2J", "&#x202e;", "\\\x1b[2J", "`\x1b[2J`", "```\n\x1b[2J\n```", "[a](http://x/\x1b[2J)", "[a](<http://x/&#x1b;]8;;>)",
		"![\x1b](\x1b)", "<http://x/\x1b>", "<a href=\x1b[2J>", "# \x1b[2J", "> \x1b[2J", "- \x1b[2J", "x" + strings.Repeat("y", 1<<20),
	} {
		for _, line := range drawMarkdown("before "+evil+"\n\n"+evil, 30) {
			if rest := onlySafe(line); rest != "" {
				t.Errorf("%.40q: %q is shown", evil, rest)
			}
			if ansi.StringWidth(line) > 30 {
				t.Errorf("%.40q: a line of %d columns", evil, ansi.StringWidth(line))
			}
		}
	}
}
