// Package wildcard interprets patterns of file names.
//
// A pattern in a command line is ambiguous. A bracket may have been quoted, as in app/'[id]'/*,
// or belong to the name of the folder that the pattern starts from. And most shells treat a
// pattern without matches as a name.
package wildcard

import "strings"

// Literal returns a pattern for the names that a component matches if its brackets and backslashes are
// ordinary characters, or "" for a component without any. If there are several, each may be
// ordinary or special, so the pattern then matches more names.
func Literal(part string) string {
	switch strings.Count(part, "[") + strings.Count(part, `\`) {
	case 0:
		return ""
	case 1:
		return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(part)
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '[':
			b.WriteByte('*')
			if end := strings.IndexByte(part[min(i+2, len(part)):], ']'); end >= 0 {
				i += 2 + end
			}
		case '\\':
			b.WriteByte('*')
		default:
			b.WriteByte(part[i])
		}
	}
	return b.String()
}

// Has reports whether a component of a pattern has an unescaped wildcard.
func Has(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// Unescape returns the name that a component without wildcards stands for.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Escape quotes a path to make a pattern that matches only the path itself.
func Escape(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if strings.IndexByte(`*?[]{}\`, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
