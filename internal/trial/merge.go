package trial

import (
	"bytes"
	"slices"

	"github.com/aymanbagabas/go-udiff"
)

// maxMerged bounds a text in which later changes are merged.
const maxMerged = 1 << 20

// mergeTexts takes a change back and leaves later ones: it applies to what stands there now
// what leads from the kept text back to the one before. It reports false when both touch
// the same lines.
func mergeTexts(kept, now, before []byte) (merged []byte, clean bool) {
	later := udiff.Lines(string(kept), string(now))
	back := udiff.Lines(string(kept), string(before))
	for _, edit := range later {
		if edit.Start == edit.End && slices.ContainsFunc(back, func(other udiff.Edit) bool {
			return other.Start == other.End && other.Start == edit.Start && other != edit
		}) {
			return nil, false // which of the two texts comes first is not known
		}
	}
	edits, clean := udiff.Merge(later, back)
	if !clean {
		return nil, false
	}
	text, err := udiff.Apply(string(kept), edits)
	return []byte(text), err == nil
}

// isText reports whether a content has lines.
func isText(data []byte) bool { return bytes.IndexByte(data, 0) < 0 }

// indexMagic begins git's index.
const indexMagic = "DIRC"

// isMergeable reports whether later changes to a content could be told apart: those of a
// text by its lines, those of git's index by its entries.
func isMergeable(data []byte) bool {
	return isText(data) || bytes.HasPrefix(data, []byte(indexMagic))
}
