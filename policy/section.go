package policy

import (
	"sync"
	"sync/atomic"

	"github.com/umpirehq/umpire"
)

// Built-in rules are divided into sections by the accesses they apply to. A section is compiled
// on first use: a hook lives for one call, and would spend most of its time on rules unrelated
// to its call.

// A section is the built-in rules about one kind of access.
type section uint8

const (
	sectionRead   section = iota // reads
	sectionSecret                // reads of contents, not only names
	sectionWrite
	sectionDelete
	sectionSelf // umpire's own verbs
	sectionCount
)

// sectionOf returns the section of a line of the tables.
func sectionOf(h *hardRule) section {
	switch {
	case h.secret:
		return sectionSecret
	case h.tool == "Delete":
		return sectionDelete
	case h.tool == "Write":
		return sectionWrite
	}
	return sectionRead
}

// concerns reports whether a rule of the section may match the subject.
func (s section) concerns(of *subject) bool {
	a := of.access
	judges := func(tool string) bool {
		return a.Paths() && a.Target != "" && toolJudges(tool, of.tool, a.Kind, false)
	}
	switch s {
	case sectionRead:
		return judges("Read")
	case sectionSecret:
		return a.Kind == umpire.KindRead && a.Target != "" && !a.Names
	case sectionWrite:
		return judges("Write")
	case sectionDelete:
		return judges("Delete")
	case sectionSelf:
		return isOwnProgram(a)
	case sectionCount:
	}
	return false
}

// sections are the built-in rules under the options of one policy.
type sections struct {
	opts *Options
	all  [sectionCount]compiledSection
}

type compiledSection struct {
	compile, index sync.Once
	asked          atomic.Int64
	rules          []*compiled
	indexed        *index
}

// indexAfter is the number of accesses judged by trying every rule of a section before building
// its index, which takes as long.
const indexAfter = 16

// find offers every built-in rule that may match the hits' subject.
func (s *sections) find(h *hits) {
	for at := range sectionCount {
		if at.concerns(h.subject) {
			s.all[at].find(at, s.opts, h)
		}
	}
}

func (s *compiledSection) find(at section, o *Options, h *hits) {
	s.compile.Do(func() { s.rules = compileSection(at, o) })
	if s.asked.Load() < indexAfter {
		s.asked.Add(1)
		h.offer(s.rules)
		return
	}
	s.index.Do(func() {
		s.indexed = newIndex()
		for _, c := range s.rules {
			s.indexed.add(c, o)
		}
	})
	s.indexed.find(h)
}
