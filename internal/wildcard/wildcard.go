// Package wildcard knows what patterns of file names may mean.
//
// A pattern that a command names files by can be read twice. A bracket in it may have been quoted, as
// in app/'[id]'/*, or belong to the name of the folder that it starts from. And most shells take a
// pattern that matches nothing for a name.
package wildcard

import "strings"

// Literal is a pattern for the names that a component of a pattern stands for where its brackets and
// backslashes mean themselves. It is empty where there are none. Several of them may each mean
// something else, so that the pattern then matches more.
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

// Unescape is the name that a component without wildcards stands for.
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

// Escape writes a path so that as a pattern it matches only itself.
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
