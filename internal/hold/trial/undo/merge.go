package undo

import (
	"bytes"
	"slices"

	"github.com/aymanbagabas/go-udiff"
)

// MaxMergeSize is the largest text, in bytes, that is merged.
const MaxMergeSize = 1 << 20

// MergeTexts undoes the change from before to kept in now, which has later changes. clean is
// false if both changes touch the same lines.
func MergeTexts(kept, now, before []byte) (merged []byte, clean bool) {
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

// IsText reports whether data has no NUL byte.
func IsText(data []byte) bool { return bytes.IndexByte(data, 0) < 0 }

// IndexMagic starts git's index.
const IndexMagic = "DIRC"

// IsMergeable reports whether changes can be merged: by lines in a text, by entries in git's index.
func IsMergeable(data []byte) bool {
	return IsText(data) || bytes.HasPrefix(data, []byte(IndexMagic))
}
