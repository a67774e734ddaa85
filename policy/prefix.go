package policy

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// SplitPrefix splits a command prefix into words. Words are separated by blanks; single and
// double quotes keep blanks within a word. There are no other special characters: no escapes,
// no expansions. JoinPrefix is its inverse.
func SplitPrefix(prefix string) ([]string, error) {
	read, err := splitWords(prefix)
	if err != nil || len(read) == 0 {
		return nil, err
	}
	words := make([]string, len(read))
	for i, w := range read {
		words[i] = w.text
	}
	return words, nil
}

// isPlain reports whether a text is ASCII without quotes. Its words are then substrings of it.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c == '"' || c == '\'' {
			return false
		}
	}
	return true
}

// countWords returns the number of words that SplitPrefix finds.
func countWords(text string) (n int, err error) {
	if !isPlain(text) {
		words, err := splitWords(text)
		return len(words), err
	}
	for range strings.FieldsFuncSeq(text, isBlank) {
		n++
	}
	return n, nil
}

// cutPrefix is SplitPrefix for validated prefixes.
func (k *compiler) cutPrefix(prefix string) []string {
	n, _ := countWords(prefix)
	words := k.words.take(n)[:0]
	if isPlain(prefix) {
		return slices.AppendSeq(words, strings.FieldsFuncSeq(prefix, isBlank))
	}
	split, _ := SplitPrefix(prefix)
	return append(words, split...)
}

// A writtenWord is a word of a prefix or a command.
type writtenWord struct {
	text string
	// pattern says that the word has a wildcard outside of quotes.
	pattern bool
}

func splitWords(text string) ([]writtenWord, error) {
	var words []writtenWord
	var word strings.Builder
	started, pattern, quote := false, false, rune(0)
	end := func() {
		if started {
			words = append(words, writtenWord{word.String(), pattern})
			word.Reset()
		}
		started, pattern = false, false
	}
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case isBlank(r):
			end()
		default:
			word.WriteRune(r)
			started, pattern = true, pattern || strings.ContainsRune(wildcards, r)
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	end()
	return words, nil
}

// wildcards are the characters that make a word a pattern for the shell.
const wildcards = "*?["

// splitLine splits one whole command into words in the form of Access.Line.
func splitLine(command string) ([]string, error) {
	read, err := splitWords(command)
	if err != nil {
		return nil, err
	}
	var line []string
	for _, w := range read {
		if w.pattern {
			w.text = umpire.PatternMark + w.text
		}
		line = append(line, w.text)
	}
	return line, nil
}

// joinLine joins the words of a command for splitLine to read back. It returns "" if a word is
// unknown until run time.
func joinLine(line []string) string {
	var b strings.Builder
	for i, word := range line {
		if i > 0 {
			b.WriteByte(' ')
		}
		bare, pattern := strings.CutPrefix(word, umpire.PatternMark)
		switch {
		case strings.ContainsAny(bare, "\x00"+umpire.PatternMark), pattern &&
			(quoteWord(bare) != bare || !strings.ContainsAny(bare, wildcards)):
			return ""
		case !pattern && strings.ContainsAny(bare, wildcards) && quoteWord(bare) == bare:
			bare = "'" + bare + "'"
		case !pattern:
			bare = quoteWord(bare)
		}
		b.WriteString(bare)
	}
	return b.String()
}

// plainWords returns the words of a line without pattern marks.
func plainWords(line []string) []string {
	words := make([]string, len(line))
	for i, word := range line {
		words[i] = strings.TrimPrefix(word, umpire.PatternMark)
	}
	return words
}

// appendKey appends the words of a line to its key in an index.
func appendKey(key []byte, line ...string) []byte {
	for _, word := range line {
		key = append(append(key, strings.TrimPrefix(word, umpire.PatternMark)...), 0)
	}
	return key
}

// JoinPrefix formats words as a command prefix, quoting those that need it.
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

// quoteWord quotes a word only if SplitPrefix would read it differently. A word with both
// quotes is written in pieces, because there are no escapes.
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
