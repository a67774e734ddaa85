package policy

import (
	"cmp"
	"iter"
	"path"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// A Precedence decides between matching ask and allow rules.
type Precedence uint8

// The precedences. Deny comes first in both.
const (
	DenyAskAllow Precedence = iota // asks
	DenyAllowAsk                   // allows
)

// Options say how to read rules. The zero value is safe, but without Root and Home the patterns
// below them match nothing relevant.
type Options struct {
	// Settings come from the configuration. The rules do not use its Mode, AddDirs and Sandbox:
	// a Query has its own.
	Settings

	// Root is the canonical project root, the base of relative patterns.
	Root string
	// Home is the person's canonical home, the base of ~.
	Home string
	// StateDir is umpire's own folder if it is not ~/.umpire. It is protected as a control
	// file.
	StateDir string
	// ControlFiles are further files, by their canonical paths, to protect as control files:
	// programs that umpire itself runs.
	ControlFiles []string
	// FoldCase makes allow and ask patterns ignore case, for file systems that do. Deny
	// patterns always ignore it.
	FoldCase bool

	rootSegs             []string
	rootPlain, rootFolds []segment
	homePattern          [1]string
	homePlain, homeFolds []segment
}

// prepare derives the unexported fields that matching needs.
func (o Options) prepare() Options {
	if o.Root != "" {
		o.Root = path.Clean(o.Root)
	}
	if o.Root == "/" {
		o.Root = ""
	}
	if o.Home != "" {
		o.Home = path.Clean(o.Home)
	}
	o.rootSegs = cutPath(o.Root)
	o.rootPlain = splitSegments(wildcard.Escape(o.Root), false)
	o.rootFolds = splitSegments(wildcard.Escape(o.Root), true)
	o.homePattern[0] = wildcard.Escape(o.Home)
	o.homePlain = splitSegments(o.homePattern[0], false)
	o.homeFolds = splitSegments(o.homePattern[0], true)
	return o
}

func (o *Options) rootSegments(folded bool) []segment {
	if folded {
		return o.rootFolds
	}
	return o.rootPlain
}

// homeSegments returns the home's segments, or none if it is unknown.
func (o *Options) homeSegments(folded bool) []segment {
	if folded {
		return o.homeFolds
	}
	return o.homePlain
}

// below returns the number of leading segments of a path that belong to the root. A pattern for
// any depth ignores those.
func (o *Options) below(f *form) int {
	if o != nil && f.rootSegs == 0 {
		f.rootSegs = 1
		if len(f.segs) >= len(o.rootSegs) && slices.EqualFunc(o.rootSegs, f.segs[:len(o.rootSegs)], foldedEqual) {
			f.rootSegs += len(o.rootSegs)
		}
	}
	return max(0, f.rootSegs-1)
}

// foldedEqual compares without regard to case. A differently written root thus cannot change
// the part of a path that a deny pattern applies to.
func foldedEqual(a, b string) bool { return a == b || wildcard.FoldCase(a) == wildcard.FoldCase(b) }

// A Policy is a set of compiled rules. It never changes and is safe for concurrent use. A nil
// Policy denies everything.
type Policy struct {
	opts  Options
	rules []umpire.Rule
	index *index
	// builtin are the built-in rules; rules and index do not contain them.
	builtin *sections
}

// New returns a policy with the rules and the built-in ones. A rule that Validate rejects is an error, because only the
// caller may drop it: that could allow more. New ignores built-in rules among rules, and their order.
func New(rules []umpire.Rule, o Options) (*Policy, error) {
	p := &Policy{opts: o.prepare(), rules: make([]umpire.Rule, 0, len(rules))}
	for i, r := range rules {
		if r.Source == umpire.SourceBuiltin {
			continue
		}
		if err := Validate(r); err != nil {
			return nil, umpire.Errorf("rule %d (%q): %w", i+1, r.ID, err)
		}
		p.rules = append(p.rules, r)
	}
	slices.SortStableFunc(p.rules, compareRules)
	p.index, p.builtin = newIndex(), &sections{opts: &p.opts}
	k := compiler{opts: &p.opts}
	for i := range p.rules {
		c := k.compileRule(&p.rules[i])
		c.order = i
		p.index.add(c, k.opts)
	}
	return p, nil
}

// Rules returns the rules passed to New, in the order in which a decision prefers to name them.
// Built-in rules are in Builtin.
func (p *Policy) Rules() iter.Seq[umpire.Rule] { return slices.Values(p.rules) }

// sourceRank decides which source a decision names first if several rules match.
var sourceRank = map[umpire.Source]int{
	umpire.SourceManaged: 1, umpire.SourceProject: 2, umpire.SourceUser: 3,
	umpire.SourceFlag: 4, umpire.SourceSession: 5,
}

// compareRules makes the order of rules depend on the rules alone.
func compareRules(a, b umpire.Rule) int {
	if a.Source == b.Source && a.File == b.File && a.Line != b.Line {
		return cmp.Compare(a.Line, b.Line) // the usual case, and cheaper than the comparison below
	}
	if c := cmp.Or(
		cmp.Compare(sourceRank[a.Source], sourceRank[b.Source]),
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Tool, b.Tool),
	); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(FormatShort(a), FormatShort(b)),
		cmp.Compare(a.Action, b.Action),
		cmp.Compare(a.Description, b.Description),
		cmp.Compare(a.Says, b.Says),
		a.ExpiresAt.Compare(b.ExpiresAt),
	)
}
