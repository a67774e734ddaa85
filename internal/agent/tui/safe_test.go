package tui

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/view"
)

// colours are the only escapes that a screen may hold.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// onlySafe returns "" for a safe line, or else the line without colours: it holds
// characters that a terminal would obey or a person would not see.
func onlySafe(line string) string {
	if bare := colours.ReplaceAllString(line, ""); view.Hides(bare) || strings.ContainsAny(bare, "\t\r\n") {
		return bare
	}
	return ""
}

func TestLongTextKeepsItsEnd(t *testing.T) {
	t.Parallel()
	lines := foldLines(safeLines(strings.Repeat("x", 1<<20)+"; rm -rf /"), 80)
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, "; rm -rf /") {
		t.Errorf("ends with %q", last)
	}
	if text := strings.Join(lines, ""); !strings.Contains(text, "bytes left out") || len(text) > 2*(longHead+longTail) {
		t.Errorf("%d bytes are shown", len(text))
	}
	for _, line := range lines {
		if ansi.StringWidth(line) > 80 {
			t.Fatalf("%d columns", ansi.StringWidth(line))
		}
	}
}

func TestOneLineIsOne(t *testing.T) {
	t.Parallel()
	if got := oneLine("a\n[ok] b\x1b[1A", 40); got != `a\n[ok] b\x1b[1A` {
		t.Errorf("%q", got)
	}
	if got := oneLine("工具工具", 5); got != "工具…" {
		t.Errorf("%q", got)
	}
}

// hostile are texts that a terminal would obey, that hide something, or that are long.
func hostile() []string {
	return []string{
		"\x1b[2J\x1b[H\x1b]0;t\a", "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\", "\u202eabc\u202c", "a\u200bb\u200e\ufeff", "\rover\bx\x00\x7f", "\u2028\u2029", "\u2800\u3164",
		"\u009b31m", "\U000e0041\ufe00", strings.Repeat("x", sample.Times(1<<16, 1<<20)), strings.Repeat("a\n", sample.Times(1000, 10_000)), strings.Repeat("工", sample.Times(10_000, 100_000)),
	}
}
