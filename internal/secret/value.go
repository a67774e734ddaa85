package secret

import (
	"strings"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// A value is the text after a name.
type value struct {
	start, end int // without quotes
	next       int // after the closing quote
	quoted     bool
}

func (s *source) cut(v value) string { return s.text[v.start:v.end] }

// value reads the word at a position: in quotes, which may be escaped, or up to the end
// of a word in a shell, an address or a list.
func (s *scan) value(at int) (v value) {
	limit := s.reach(at)
	defer func() { s.spent += v.next - at }()
	escape := 0
	if at+1 < limit && s.text[at] == '\\' && strings.IndexByte(`"'`, s.text[at+1]) >= 0 {
		escape = 1
	}
	if at+escape < limit && strings.IndexByte("\"'`", s.text[at+escape]) >= 0 {
		return s.inQuotes(at, escape, limit)
	}
	end := at
	for end < limit && !s.endsBare(end) {
		if s.text[end] == '\\' && end+1 < limit {
			end++
		}
		end++
	}
	end = min(end, limit)
	return value{start: at, end: s.trimList(at, end), next: end}
}

func (s *source) inQuotes(at, escape, limit int) value {
	quote := s.text[at : at+escape+1]
	start := at + len(quote)
	for end := start; end < limit && s.text[end] != '\n'; end++ {
		if strings.HasPrefix(s.text[end:], quote) {
			return value{start: start, end: end, next: end + len(quote), quoted: true}
		}
		if s.text[end] == '\\' && quote != "'" {
			end++
		}
	}
	// The quote is never closed: the value extends to the end of the line.
	end := strings.IndexByte(s.text[start:limit], '\n')
	if end < 0 {
		end = limit - start
	}
	return value{start: start, end: start + end, next: start + end, quoted: true}
}

// endsBare reports whether an unquoted value ends at a position.
func (s *source) endsBare(at int) bool {
	switch c := s.text[at]; c {
	case ' ', '\t', '\n', '\r', '"', '\'', '`', ';', '|', '&', '<', '>', '(', ')', '}':
		return true
	case '\\':
		return at+1 == len(s.text) || strings.IndexByte("nrt\"'\n", s.text[at+1]) >= 0
	default:
		return false
	}
}

// trimList cuts off text that belongs to a list and not to its item: a,b=c and [a].
func (s *source) trimList(start, end int) int {
	for i := start; i < end; i++ {
		if s.text[i] != ',' {
			continue
		}
		rest := s.text[i+1 : end]
		name := strings.IndexByte(rest, '=')
		if rest == "" ||
			name > 0 && strings.IndexFunc(rest[:name], func(r rune) bool { return r > 127 || !isName(byte(r)) }) < 0 {
			return i
		}
	}
	for end > start && strings.IndexByte(",]", s.text[end-1]) >= 0 {
		end--
	}
	return end
}

// isPlaceholder reports whether a value is only a placeholder: a variable, a blank to
// fill in, or a mask.
func isPlaceholder(v string) bool {
	if v == "" || strings.HasPrefix(v, maskBegin) {
		return true
	}
	switch v[0] {
	case '$':
		return isVariable(v)
	case '%':
		return len(v) > 1 && v[len(v)-1] == '%' || len(v) == 2
	case '<', '{', '[', '@':
		return true
	}
	if strings.IndexFunc(v, func(r rune) bool { return r > 127 || isWord(byte(r)) }) < 0 {
		return true
	}
	lower := strings.ToLower(v)
	for _, word := range []string{"your-", "your_", "<your", "redacted", "placeholder", "-here", "_here", "{{", "..."} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return strings.Trim(lower, lower[:1]) == "" && strings.ContainsAny(lower[:1], "*x.-_?•")
}

// isVariable reports whether a value consists only of shell variables and substitutions.
func isVariable(v string) bool {
	if strings.HasPrefix(v, "$(") || strings.HasPrefix(v, "${") {
		return true
	}
	name := strings.TrimLeft(v[1:], "{")
	for i := range len(name) {
		if !isWord(name[i]) && strings.IndexByte("}$:{.[]", name[i]) < 0 {
			return false
		}
	}
	return name != "" && (!isDigit(name[0]) || len(name) == 1)
}

// constants are never secret values.
const constants = "true false null nil none undefined yes no on off required optional prompt stdin ask env auto " +
	"never always"

// typeWords are words that help texts and programs have in place of a value.
const typeWords = "string str text bytes int integer number bool boolean object any array char varchar default " +
	"empty hidden file stringarray " +
	"must is the a an for and or not await new type const let var func return self this invalid missing expired unset"

// ownNames are names of fields, which programs also pass on as values.
const ownNames = "password passwd passphrase token secret apikey api_key api-key credentials"

// isVersion reports whether a value is a version: ^1.2.3
func isVersion(v string) bool {
	first, _, dotted := strings.Cut(strings.TrimLeft(v, "^~<>=v "), ".")
	return dotted && first != "" && strings.Trim(first, "0123456789") == ""
}

// pathLike reports whether a value is a path or an address, and thus not a secret.
func pathLike(v string) bool {
	for _, begin := range []string{
		"./", "../", "~/", ".\\", "file:", "http://", "https://", "arn:", "projects/", "secretmanager://", "op://",
		"vault:",
	} {
		if strings.HasPrefix(v, begin) {
			return true
		}
	}
	if len(v) > 2 && v[1] == ':' && v[2] == '\\' {
		return true
	}
	if v[0] == '/' {
		return len(v) < 30 || strings.Count(v, "/") > 2 || strings.Contains(v, ".")
	}
	return strings.Contains(v, "/") && !sensitive.IsRandom(v) && !sensitive.IsKeyLike(v)
}

// onlyDigits reports whether a value is a plain number.
func onlyDigits(v string) bool {
	return strings.Trim(v, "0123456789.,:_") == ""
}

// onlyName reports whether a value could be a name in a program: letters with dots
// between them.
func onlyName(v string) bool {
	for i := range len(v) {
		if !isWord(v[i]) && v[i] != '.' && v[i] != '$' || isDigit(v[i]) {
			return false
		}
	}
	return true
}
