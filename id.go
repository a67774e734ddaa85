package umpire

import (
	"unicode"
	"unicode/utf8"
)

// MaxID is how long an id may be, in bytes.
const MaxID = 256

// CheckID refuses an id that a person could not be shown, or a store not keep: one that is
// too long, is not UTF-8, or holds control characters or others that cannot be seen. The
// error names the field. An empty id is for the caller to judge.
func CheckID[ID ~string](field string, id ID) error {
	if len(id) > MaxID {
		return Errorf("%s: longer than %d bytes: %w", field, MaxID, ErrInvalid)
	}
	if !utf8.ValidString(string(id)) {
		return Errorf("%s: not UTF-8: %w", field, ErrInvalid)
	}
	for _, r := range string(id) {
		if !unicode.IsPrint(r) {
			return Errorf("%s: holds %U, which cannot be shown: %w", field, r, ErrInvalid)
		}
	}
	return nil
}
