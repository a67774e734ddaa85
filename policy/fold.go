package policy

import (
	"strings"
	"unicode"
)

// fold maps letters that differ only in case to one of them, as file systems
// that ignore case do. Pattern and path are folded alike, so which letter it
// is does not matter.
func fold(s string) string {
	return strings.Map(foldRune, s)
}

func foldRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r - ('a' - 'A')
	case r < 'K':
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}
