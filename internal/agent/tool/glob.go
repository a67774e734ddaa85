package tool

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxFound is how many files a Glob lists.
const maxFound = 1000

var globTool = tool{
	about: "Finds files by name, the latest changed first. * stays within a name, ** goes down folders, {a,b} is " +
		"either. " +
		"What .gitignore names is left out.",
	schema: `{"type":"object","required":["pattern"],"properties":{
		"pattern":{"type":"string","description":"for example **/*.go, from path on"},
		"path":{"type":"string","description":"the folder to look in (default: the working directory)"}}}`,
	run: (*Set).glob,
}

func (s *Set) glob(ctx context.Context, u *use) (string, error) {
	text, err := u.in.must("pattern")
	if err != nil {
		return "", err
	}
	wanted, err := newPattern(text)
	if err != nil {
		return "", fmt.Errorf("input.pattern: %w", err)
	}
	p, err := s.options.base(u)
	if err != nil {
		return "", err
	}
	defer p.closeDir()
	var all []match
	err = s.search(ctx, p, true, func(f found) error {
		if wanted.match(f.path) {
			all = append(all, match{path: f.path, changed: changedAt(f)})
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return listFiles(p.path, all), nil
}

// A match is one file that a Glob found.
type match struct {
	path    string
	changed time.Time
}

func changedAt(f found) time.Time {
	info, err := f.entry.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// listFiles writes the latest files first, a line each.
func listFiles(base string, all []match) string {
	if len(all) == 0 {
		return "[no file matches]\n"
	}
	slices.SortFunc(all, func(a, b match) int {
		return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(a.path, b.path))
	})
	var out strings.Builder
	for i, m := range all {
		if i == maxFound {
			fmt.Fprintf(&out, "[%d more]\n", len(all)-i)
			break
		}
		out.WriteString(visibleName(filepath.Join(base, filepath.FromSlash(m.path))) + "\n")
	}
	return out.String()
}
