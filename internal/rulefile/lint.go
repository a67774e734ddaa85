package rulefile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tailscale/hujson"
)

// Lint reads one file and returns all remarks on it, in the order of the file: errors,
// unknown keys with the nearest known key, and duplicate ids and keys. A missing file
// has no remarks.
func Lint(l Layer, o Options) []Problem {
	c, err := readRegular(l.Path, maxFileSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []Problem{{File: l.Path, Text: escapeControl(err.Error())}}
	}
	doc, problem := parseFile(l, c.data, o)
	if problem != nil {
		return []Problem{*problem}
	}
	problems := append(append([]Problem{}, doc.problems...), doc.remarks...)
	sortProblems(problems)
	return problems
}

// unknown mentions a key that is not known.
func (j jsonReader) unknown(name hujson.Value, key string, known []string) {
	if len(j.doc.remarks) >= maxProblems {
		return
	}
	j.remark(j.src.place(name.StartOffset), unknownKey(key, known))
}

// unknownKey returns the text for an unknown key, with a suggestion.
func unknownKey(key string, known []string) string {
	said := fmt.Sprintf("key %q is not known", key)
	if near := nearestKey(key, known); near != "" {
		said += fmt.Sprintf("; did you mean %q?", near)
	}
	return said
}

// maxKeyLength is the longest key that is compared with the known ones: no
// known key is near a longer one.
const maxKeyLength = 32

// Nearest returns the known word that word is, or is probably meant to be, or "".
func Nearest(word string, known []string) string { return nearestKey(word, known) }

// nearestKey returns the known key that key is, or is probably meant to be, or "".
func nearestKey(key string, known []string) string {
	if key == "" || len(key) > maxKeyLength {
		return ""
	}
	best, bestDistance := "", 1+len(key)/3
	for _, k := range known {
		if key == k {
			return k
		}
		if d := editDistance(plainKey(key), plainKey(k)); d < bestDistance || d == 0 {
			best, bestDistance = k, d
		}
	}
	return best
}

// plainKey removes common variations in guessed keys.
func plainKey(key string) string { return strings.ToLower(separators.Replace(key)) }

var separators = strings.NewReplacer("_", "", "-", "")

// editDistance counts the letters to add, drop or change to get from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
