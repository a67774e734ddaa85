package trial

import (
	"bytes"
	"slices"

	"github.com/aymanbagabas/go-udiff"
)

// maxMergeSize is the largest text, in bytes, that is merged.
const maxMergeSize = 1 << 20

// mergeTexts undoes the change from before to kept in now, which has later changes. clean is
// false if both changes touch the same lines.
func mergeTexts(kept, now, before []byte) (merged []byte, clean bool) {
	later := udiff.Lines(string(kept), string(now))
	back := udiff.Lines(string(kept), string(before))
	for _, edit := range later {
		if edit.Start == edit.End && slices.ContainsFunc(back, func(other udiff.Edit) bool {
			return other.Start == other.End && other.Start == edit.Start && other != edit
		}) {
			return nil, false // the order of the two texts is unknown
		}
	}
	edits, clean := udiff.Merge(later, back)
	if !clean {
		return nil, false
	}
	text, err := udiff.Apply(string(kept), edits)
	return []byte(text), err == nil
}

// isText reports whether data has no NUL byte.
func isText(data []byte) bool { return bytes.IndexByte(data, 0) < 0 }

// indexMagic starts git's index.
const indexMagic = "DIRC"

// isMergeable reports whether changes can be merged: by lines in a text, by entries in git's index.
func isMergeable(data []byte) bool {
	return isText(data) || bytes.HasPrefix(data, []byte(indexMagic))
}
