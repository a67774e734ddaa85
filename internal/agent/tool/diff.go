package tool

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/umpirehq/umpire/internal/files"
)

const (
	diffContext    = 3
	previewContext = 1 // a card on a small screen shows the change itself
	// maxDiffSide bounds each side: comparing larger texts takes longer than looking at
	// the result is worth.
	maxDiffSide = 4 << 20
)

// UnifiedDiff returns the change from before to after under their names, or "" if they are
// equal. It is valid UTF-8 of at most limit bytes, plus one line that says how much was
// left out. For binary or very large texts it only says that they differ. Lines are not
// escaped: escape them for a person.
func UnifiedDiff(from, to string, before, after []byte, limit int) string {
	return unifiedDiff(from, to, before, after, diffContext, limit)
}

// unifiedDiff has a number of unchanged lines around each change.
func unifiedDiff(from, to string, before, after []byte, context, limit int) string {
	if bytes.Equal(before, after) {
		return ""
	}
	if len(before) > maxDiffSide || len(after) > maxDiffSide || binary(before) || binary(after) {
		return fmt.Sprintf(
			"--- %s\n+++ %s\n[%d bytes become %d, which are not shown]\n", from, to, len(before), len(after),
		)
	}
	text, err := udiff.ToUnified(from, to, string(before), udiff.Lines(string(before), string(after)), context)
	if err != nil {
		return fmt.Sprintf("--- %s\n+++ %s\n[no comparison: %v]\n", from, to, err)
	}
	return cutText(strings.ToValidUTF8(text, "\uFFFD"), limit)
}

// Whole reports whether texts that [Unified] returned show all changes. An omission is a
// separate line that begins with a bracket, unlike any line of a diff.
func Whole(text string) bool {
	return text != "" && !strings.HasPrefix(text, "[") && !strings.Contains(text, "\n[")
}

func binary(text []byte) bool { return bytes.IndexByte(text, 0) >= 0 }

// cutText shortens a text, at the end of a line if possible.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	kept := files.ClipTo(text, limit, "")
	if end := strings.LastIndexByte(kept, '\n'); end >= 0 {
		kept = kept[:end+1]
	} else {
		kept += "\n"
	}
	return fmt.Sprintf("%s[%d more bytes of this change]\n", kept, len(text)-len(kept))
}
