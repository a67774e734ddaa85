package policy

import (
	"errors"
	"strings"
)

// SplitPrefix splits a command prefix into words. Words are separated by
// blanks; single and double quotes keep blanks within a word, and nothing else
// is special: no escapes, no expansions. JoinPrefix is its inverse.
func SplitPrefix(prefix string) ([]string, error) {
	var words []string
	var word strings.Builder
	started, quote := false, rune(0)
	for _, r := range prefix {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case isBlank(r):
			if started {
				words = append(words, word.String())
				word.Reset()
			}
			started = false
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}

// JoinPrefix writes words as a command prefix, quoting those that need it.
func JoinPrefix(words []string) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quoteWord(word))
	}
	return b.String()
}

// quoteWord quotes a word only where SplitPrefix would read it differently. A
// word with both quotes is written as pieces, since there are no escapes.
func quoteWord(word string) string {
	switch {
	case word == "":
		return "''"
	case !strings.ContainsFunc(word, func(r rune) bool { return isBlank(r) || r == '\'' || r == '"' }):
		return word
	case !strings.Contains(word, "'"):
		return "'" + word + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }
