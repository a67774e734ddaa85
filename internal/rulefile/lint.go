package rulefile

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/umpirehq/umpire/internal/config/docedit"
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
func (r *reader) unknown(m *docedit.Value, known []string) {
	if len(r.doc.remarks) < maxProblems {
		r.remark(r.place(m.KeyPos), unknownKey(m.Key, known))
	}
}

// unknownKey returns the text for an unknown key, with a suggestion.
func unknownKey(key string, known []string) string {
	said := fmt.Sprintf("unknown key %q", key)
	if near := docedit.Nearest(key, known); near != "" {
		said += fmt.Sprintf("; did you mean %q?", near)
	}
	return said
}
