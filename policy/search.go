package policy

import (
	"slices"

	"github.com/umpirehq/umpire"
)

// A Search is the result of looking at the files that a read by a pattern, or below a folder,
// would meet. The zero value is unremarkable.
type Search struct {
	// Secret is the first file that a rule about secrets names, or "".
	Secret string
	// Links are the targets outside the project of links that the search follows.
	Links []string
	// Problem says why the search is not possible.
	Problem string
}

// IsNothing reports whether a search meets nothing remarkable.
func (s Search) IsNothing() bool { return s.Secret == "" && s.Problem == "" && len(s.Links) == 0 }

// NamesSecret reports whether a built-in rule about secrets or forbidden paths names a file.
func (p *Policy) NamesSecret(file string) bool {
	h := p.hitsOfReading(file)
	isSecret := func(c *compiled) bool { return c.secret }
	return len(h.rows[rowHardStop]) > 0 || slices.ContainsFunc(h.rows[rowAskRule], isSecret)
}

// hitsOfReading returns the rules about reading a file.
func (p *Policy) hitsOfReading(file string) *hits {
	a := umpire.Access{Kind: umpire.KindRead, Target: file, Resolved: file, Place: umpire.PlaceOutside}
	return &p.findHits(&Query{Call: umpire.Call{Tool: "Read"}}, []umpire.Access{a})[0]
}

// lookForSecrets records a file of secrets that the access reads by a pattern, or that a search
// for names passes to a program. A search for text names no file, and is how people usually
// look through a project.
func (s *subject) lookForSecrets(search func(*umpire.Access) Search, o *Options) {
	a := s.access
	if search == nil || a.Kind != umpire.KindRead || a.Names || a.Doubt != "" || a.Place != umpire.PlaceInside {
		return
	}
	if a.Glob && !a.Tree || len(a.Handed) > 0 {
		if secret := search(a).Secret; secret != "" {
			f := newForm(absolutePath(secret, o.Root))
			s.found = &f
		}
	}
}

// isSearch reports whether an access reads all files below a folder, or all matches of a
// pattern.
func isSearch(a *umpire.Access) bool {
	return a.Kind == umpire.KindRead && !a.Names && (a.Tree || a.Glob)
}

// coversSearch reports whether a rule about paths outside the project covers all files that the
// access would read: a rule for a folder covers neither secrets in it nor targets of links.
// Without a look at the files, it covers nothing.
func (j *judge) coversSearch(c *compiled) bool {
	if !j.outside {
		return true
	}
	found, looked := lookThrough(j)
	isUncovered := func(link string) bool { return !c.coversPath(link, &j.policy.opts) }
	return looked && found.Secret == "" && found.Problem == "" && !slices.ContainsFunc(found.Links, isUncovered)
}

// lookThrough returns the result of a search, and reports whether one was possible. An access
// that does not search meets nothing.
func lookThrough(j *judge) (found Search, looked bool) {
	switch {
	case !isSearch(j.access()):
		return Search{}, true
	case j.given.Search == nil:
		return Search{}, false
	case j.search == nil:
		found = j.given.Search(j.access())
		j.search = &found
	}
	return *j.search, true
}

// coversPath reports whether one of the rule's patterns covers a resolved path.
func (c *compiled) coversPath(name string, o *Options) bool {
	return slices.ContainsFunc(c.globs, func(g glob) bool {
		f := newForm(name)
		return g.match(&f, o)
	})
}

// anyTarget returns the pattern of a path with wildcards, or the names of one without.
func (f *form) anyTarget(folded bool) []segment {
	names := f.segs
	if folded {
		names = f.folded
	}
	if len(names) == 0 {
		return f.target(folded)
	}
	literals := make([]segment, len(names))
	for i, name := range names {
		literals[i] = segment{text: name, sort: literal}
	}
	return literals
}
