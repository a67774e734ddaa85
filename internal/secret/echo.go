package secret

import (
	"encoding/json"
	"slices"
	"strings"
)

// minEcho is the minimum length of a secret to search for elsewhere: a shorter one may be
// an unrelated word.
const minEcho = 6

// Echoes masks texts derived from a value, such as the words of its command, where
// secrets have lost their names. It masks the value's secrets wherever they occur in a
// text as whole words, and returns new texts.
func (m *Masker) Echoes(texts []string, of json.RawMessage) []string {
	w := walk{masker: m, in: of, values: map[string]string{}}
	if json.Valid(of) {
		w.value("", "")
	}
	masked := slices.Clone(texts)
	for i, text := range texts {
		if found := findEchoes(text, w.values); len(found) > 0 {
			masked[i] = m.replace(text, mergeSpans(append(found, findSecrets(text)...)))
		}
	}
	return masked
}

// findEchoes finds the values in a text, each with the rule that found it first.
func findEchoes(text string, values map[string]string) (found []span) {
	for value, rule := range values {
		for at := 0; ; {
			next := strings.Index(text[at:], value)
			if next < 0 {
				break
			}
			start, end := at+next, at+next+len(value)
			if at = end; wholeWord(text, start, end) {
				found = append(found, span{start, end, rule, named})
			}
		}
	}
	return found
}

// wholeWord reports whether a piece of a text is not part of a longer word.
func wholeWord(text string, start, end int) bool {
	return (start == 0 || !isWord(text[start-1]) || !isWord(text[start])) &&
		(end == len(text) || !isWord(text[end]) || !isWord(text[end-1]))
}

// collectSecrets stores the secrets of a text, if requested.
func (w *walk) collectSecrets(text string, found []span) {
	for _, s := range found {
		if value := text[s.start:s.end]; w.values != nil && len(value) >= minEcho {
			w.values[value] = s.rule
		}
	}
}
