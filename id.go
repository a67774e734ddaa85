package umpire

import (
	"unicode"
	"unicode/utf8"
)

// MaxID is the maximum length of an id, in bytes.
const MaxID = 256

// CheckID returns an error for an id that cannot be displayed or stored: one that is too long,
// is not UTF-8, or contains control or other invisible characters. The error names the field.
// CheckID accepts an empty id; the caller must judge it.
func CheckID[ID ~string](field string, id ID) error {
	if len(id) > MaxID {
		return Errorf("%s: longer than %d bytes: %w", field, MaxID, ErrInvalid)
	}
	if !utf8.ValidString(string(id)) {
		return Errorf("%s: not UTF-8: %w", field, ErrInvalid)
	}
	for _, r := range string(id) {
		if !unicode.IsPrint(r) {
			return Errorf("%s: contains %U, which cannot be shown: %w", field, r, ErrInvalid)
		}
	}
	return nil
}
