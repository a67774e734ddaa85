package tool_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/umpirehq/umpire/internal/agent/tool"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	numbers := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"
	for _, tt := range []struct{ name, before, after, want string }{
		{"no change", "a\n", "a\n", ""},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "--- f\n+++ g\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"two places", numbers, strings.NewReplacer("1\n2\n", "1\ntwo\n", "12\n", "").Replace(numbers), "--- f\n+++ g\n" +
			"@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -9,4 +9,3 @@\n 9\n 10\n 11\n-12\n"},
		{"no newline at the end", "a", "b", "--- f\n+++ g\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"},
		{"a new file", "", "a\n", "--- f\n+++ g\n@@ -0,0 +1 @@\n+a\n"},
		{"an emptied file", "a\n", "", "--- f\n+++ g\n@@ -1 +0,0 @@\n-a\n"},
		{"binary", "a\x00", "bc", "--- f\n+++ g\n[2 bytes become 2, which are not shown]\n"},
		{"not UTF-8", "\xff\n", "b\n", "--- f\n+++ g\n@@ -1 +1 @@\n-\uFFFD\n+b\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tool.UnifiedDiff("f", "g", []byte(tt.before), []byte(tt.after), 1000)
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if shown := tt.name != "no change" && tt.name != "binary"; tool.Whole(got) != shown {
				t.Errorf("is whole: %v\n%s", !shown, got)
			}
			if cut := tool.UnifiedDiff("f", "g", []byte(tt.before), []byte(tt.after), 10); tool.Whole(cut) {
				t.Errorf("is whole\n%s", cut)
			}
		})
	}
}

// TestUnifiedIsBounded: the diff of any change respects the given limit.
func TestUnifiedIsBounded(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 2))
	noise := func(lines int) []byte {
		var b bytes.Buffer
		for range lines {
			b.WriteString(strings.Repeat("x二", dice.IntN(9)) + "\n")
		}
		return b.Bytes()
	}
	for name, pair := range map[string][2][]byte{
		"many lines":      {noise(100_000), noise(100_000)},
		"one long line":   {bytes.Repeat([]byte("二"), 100_000), []byte("a")},
		"large, as whole": {bytes.Repeat([]byte("a\n"), 5<<20), []byte("a\n")},
	} {
		got := tool.UnifiedDiff("f", "g", pair[0], pair[1], 5000)
		if len(got) > 5000+100 || !utf8.ValidString(got) || !strings.HasSuffix(got, "]\n") {
			t.Errorf("%s: %d bytes, ends in %q", name, len(got), got[max(0, len(got)-60):])
		}
	}
}
