package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

func secretRules(o *Options) iter.Seq[hardRule] {
	return func(yield func(hardRule) bool) {
		for _, s := range sensitive.Secrets {
			if s.ID == "secret-umpire" && o.StateDir != "" {
				own := wildcard.Escape(o.StateDir)
				s.Patterns = append(slices.Clip(s.Patterns), own, own+"/{state,keys}/**")
			}
			h := hardRule{
				id: s.ID, tool: "Read", patterns: s.Patterns, except: s.Except,
				says: umpire.Say("may hold secrets: %s", s.Says),
				row:  rowAskRule, code: umpire.CodeSecret, secret: true,
			}
			if !yield(h) {
				return
			}
		}
	}
}

// readsSecret reports whether the access reads a file of a rule about secrets. Named files and
// matches of wildcards on disk count. A tree above the file does not, because that is the usual
// way to search a project.
func (c *compiled) readsSecret(s *subject) bool {
	a := s.access
	if a.Kind != umpire.KindRead || a.Names || a.Target == "" {
		return false
	}
	read := false
	s.forms.each(func(f *form) { read = read || c.namesSecret(f, a.Glob) })
	read = read || s.found != nil && c.namesSecret(s.found, false)
	for _, pattern := range s.filter {
		for i := range c.globs {
			read = read || spellsRule(c.globs[i].segs, pattern)
		}
	}
	return read
}

// searchFilter returns the patterns that limit the files of a Grep call, at any depth below the
// folder it searches.
func searchFilter(a *umpire.Access, glob string) [][]segment {
	if !a.Tree || a.Glob || glob == "" || glob[0] == '!' {
		return nil
	}
	alternatives, err := wildcard.ExpandBraces(glob)
	if err != nil {
		return nil // no search understands such a pattern
	}
	var filter [][]segment
	for _, pattern := range alternatives {
		filter = append(filter, splitSegments(wildcard.Escape(a.Target)+"/**/"+pattern, true))
	}
	return filter
}

func (c *compiled) namesSecret(f *form, globbed bool) bool {
	for i := range c.globs {
		switch g := &c.globs[i]; {
		case globbed && spellsRule(g.segs, f.target(g.fold)):
			return true
		case !globbed && g.match(f, nil) && !c.excepted(f):
			return true
		}
	}
	return false
}

func (c *compiled) excepted(f *form) bool {
	return slices.ContainsFunc(c.except, func(g glob) bool { return g.match(f, nil) })
}

// secretAllowed reports whether a person's allow rule covers the access and names the secret:
// Read(.env.test) does, Read(config/**) does not. A rule from the project's own file does not
// count.
func (j *judge) secretAllowed(secret *compiled) bool {
	return slices.ContainsFunc(j.hits.rows[rowAllowRule], func(c *compiled) bool {
		return slices.Contains(LiftingSources, c.rule.Source) && c.spellsOut(secret)
	})
}

// LiftingSources are the sources of rules that lift questions about secrets.
var LiftingSources = []umpire.Source{umpire.SourceUser, umpire.SourceManaged, umpire.SourceFlag}

// spellsOut reports whether the rule names the files of a rule about secrets.
func (c *compiled) spellsOut(secret *compiled) bool {
	for i := range c.globs {
		for k := range secret.globs {
			if spellsRule(secret.globs[k].segs, refoldSegments(c.globs[i].segs)) {
				return true
			}
		}
	}
	return false
}

// Spells reports whether an allow rule names the files of a built-in rule about secrets, so that a person's rule lifts
// its question.
func Spells(allow, secret umpire.Rule, o Options) bool {
	o = o.prepare()
	k := compiler{opts: &o, folds: true}
	return compileRule(&allow, &o).spellsOut(k.compileRule(&secret))
}

// refoldSegments folds the segments for patterns that ignore case.
func refoldSegments(segs []segment) []segment {
	folded := make([]segment, len(segs))
	for i, s := range segs {
		folded[i] = segment{text: wildcard.FoldCase(s.text), sort: s.sort}
	}
	return folded
}

// spellsRule reports whether a pattern of a command or of an allow rule names the rule's files,
// rather than only covering them: .env* and certs/*.pem do, * and src/** do not. It uses the
// table of mayMeet with a stricter notion of meeting.
func spellsRule(rule, target []segment) bool {
	if !mentionsRule(rule, target) {
		return false
	}
	next := make([]bool, len(target)+1)
	row := make([]bool, len(target)+1)
	for i := len(rule); i >= 0; i-- {
		for j := len(target); j >= 0; j-- {
			row[j] = tailsSpell(rule, target, i, j, row, next)
		}
		row, next = next, row
	}
	return next[0]
}

// mentionsRule is a quick check that avoids most of the tables: a part of the target must spell
// the first name of the rule.
func mentionsRule(rule, target []segment) bool {
	for i := range rule {
		if rule[i].sort == deep {
			continue
		}
		for j := range target {
			if target[j].sort != deep && spellsPart(&rule[i], &target[j]) && segmentsMeet(&rule[i], &target[j]) {
				return true
			}
		}
		return false
	}
	return true
}

func tailsSpell(rule, target []segment, i, j int, row, next []bool) bool {
	ruleLeft, targetLeft := i < len(rule), j < len(target)
	switch {
	case ruleLeft && rule[i].sort == deep:
		return next[j] || targetLeft && row[j+1]
	case targetLeft && target[j].sort == deep:
		return row[j+1] // it may match anything, and so names nothing
	case ruleLeft && targetLeft:
		return next[j+1] && spellsPart(&rule[i], &target[j]) && segmentsMeet(&rule[i], &target[j])
	}
	return !ruleLeft && !targetLeft
}

// minSpelled is the number of characters that a wildcard must spell to name a file.
const minSpelled = 2

// spellsPart reports whether a segment spells a part of the rule's: its beginning, or its end
// beyond a common extension.
func spellsPart(rule, target *segment) bool {
	if target.sort == literal {
		return true
	}
	start, end := fixedEnds(target)
	if start == "" && end == "" {
		return false
	}
	ruleStart, ruleEnd := fixedEnds(rule)
	if strings.HasPrefix(ruleStart, ".") && start == "." {
		return true // every hidden file is meant
	}
	if meant := min(len(start), len(ruleStart)); meant >= minSpelled && start[:meant] == ruleStart[:meant] {
		return true
	}
	beyond := minSpelled
	if ruleStart != "" || strings.Count(rule.text, "*") > 1 {
		beyond = max(beyond, len(suffixOf(ruleEnd))+1)
	}
	meant := min(len(end), len(ruleEnd))
	return meant >= beyond && end[len(end)-meant:] == ruleEnd[len(ruleEnd)-meant:]
}

// fixedEnds returns the text that a name must begin with and the text it must end with.
func fixedEnds(s *segment) (start, end string) {
	if s.sort == literal {
		return s.text, s.text
	}
	return s.text[:strings.IndexAny(s.text, "*?[")], s.text[strings.LastIndexAny(s.text, "*?]")+1:]
}
