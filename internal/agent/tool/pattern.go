package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// maxPattern is the longest pattern.
const maxPattern = 1000

var errPattern = errors.New("is not a valid pattern")

// A pattern matches paths with slashes, relative to the start of a search: * stays
// within a name, ** matches any number of folders, {a,b} is a or b.
type pattern []string

// newPattern parses a pattern. It rejects a pattern that leads out of the start folder, even
// if only through its braces.
func newPattern(text string) (pattern, error) {
	if text == "" || len(text) > maxPattern {
		return nil, fmt.Errorf("want 1 to %d bytes", maxPattern)
	}
	all, err := wildcard.ExpandBraces(text)
	if err != nil {
		return nil, err
	}
	for i, one := range all {
		if path.IsAbs(one) || strings.HasPrefix(one, "~") || slices.Contains(strings.Split(one, "/"), "..") {
			return nil, errors.New("must stay in the folder given as path: no /, ~ or .. that leads out")
		}
		if !doublestar.ValidatePattern(one) {
			return nil, errPattern
		}
		all[i] = path.Clean(one)
	}
	return all, nil
}

// match reports whether the pattern matches a path.
func (p pattern) match(name string) bool {
	for _, one := range p {
		if ok, err := doublestar.Match(one, name); ok && err == nil {
			return true
		}
	}
	return false
}

// hidden reports whether the pattern has a name with a leading dot, which means that it
// is for hidden files.
func (p pattern) hidden() bool {
	for _, one := range p {
		for part := range strings.SplitSeq(one, "/") {
			if strings.HasPrefix(part, ".") && part != "." {
				return true
			}
		}
	}
	return false
}

// matchesAny reports whether a name matches one of the patterns.
func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); ok && err == nil || p == name {
			return true
		}
	}
	return false
}

// readWords reads a list of strings.
func readWords(field string, raw json.RawMessage) ([]string, error) {
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("input.%s: want a list of strings", field)
	}
	return list, nil
}
