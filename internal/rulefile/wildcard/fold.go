package wildcard

import (
	"strings"
	"unicode"
)

// FoldCase maps letters that differ only in case to one of them, as file systems that ignore
// case do. Fold both pattern and path with it. For ASCII it picks the small letter, which
// leaves most paths unchanged.
func FoldCase(s string) string {
	for i := range len(s) {
		if c := s[i]; c > unicode.MaxASCII || 'A' <= c && c <= 'Z' {
			return strings.Map(foldRune, s)
		}
	}
	return s
}

func foldRune(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + ('a' - 'A')
	case r <= unicode.MaxASCII:
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least <= unicode.MaxASCII {
		return foldRune(least) // the long s and the Kelvin sign
	}
	return least
}
