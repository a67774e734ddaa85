package policy

import (
	"cmp"
	"iter"
	"path"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/wildcard"
)

// A Precedence says what happens where an ask and an allow rule match.
type Precedence uint8

// The precedences. Deny comes first in both.
const (
	DenyAskAllow Precedence = iota // asks
	DenyAllowAsk                   // allows
)

// Options say how rules are read. The zero value is safe, but without Root and
// Home the patterns below them match nothing that matters.
type Options struct {
	// Settings are those of the configuration. The rules need no Mode, AddDirs and Sandbox
	// of it: a Query has its own.
	Settings

	// Root is the canonical project root, the base of relative patterns.
	Root string
	// Home is the person's canonical home, the base of ~.
	Home string
	// StateDir is umpire's own folder when it is not ~/.umpire. It is
	// protected as a control file.
	StateDir string
	// ControlFiles are further files, by their canonical paths, that are protected as
	// control files: programs that umpire itself runs.
	ControlFiles []string
	// FoldCase makes allow and ask patterns ignore case, for file systems that
	// do. Deny patterns always ignore it.
	FoldCase bool

	rootSegs             []string
	rootPlain, rootFolds []segment
	homePattern          [1]string
	homePlain, homeFolds []segment
}

// prepare derives what matching needs from the exported fields.
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

// homeSegments returns those of the home, none if it is unknown.
func (o *Options) homeSegments(folded bool) []segment {
	if folded {
		return o.homeFolds
	}
	return o.homePlain
}

// below returns how many leading segments of a path are the root's own; a
// pattern for any depth does not look at those.
func (o *Options) below(f *form) int {
	if o != nil && f.rootSegs == 0 {
		f.rootSegs = 1
		if len(f.segs) >= len(o.rootSegs) && slices.EqualFunc(o.rootSegs, f.segs[:len(o.rootSegs)], foldedEqual) {
			f.rootSegs += len(o.rootSegs)
		}
	}
	return max(0, f.rootSegs-1)
}

// foldedEqual compares without regard to case, so that a differently written
// root cannot change which part of a path a deny pattern looks at.
func foldedEqual(a, b string) bool { return a == b || wildcard.FoldCase(a) == wildcard.FoldCase(b) }

// A Policy is a set of rules ready for deciding. It never changes and is safe
// for concurrent use. A nil Policy denies everything.
type Policy struct {
	opts  Options
	rules []umpire.Rule
	index *index
	// builtin are the rules that are built in; rules and index leave them out.
	builtin sections
}

// New makes a policy of the rules and of those that are built in. A rule that
// Validate refuses is an error: leaving it out could widen what is allowed, so
// that is for the caller to decide. Built-in rules among rules are ignored, and
// so is the order of rules.
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
	if !slices.IsSortedFunc(p.rules, compareRules) {
		slices.SortStableFunc(p.rules, compareRules)
	}
	p.index, p.builtin.opts = newIndex(), &p.opts
	k := compiler{opts: &p.opts}
	for i := range p.rules {
		c := k.compileRule(&p.rules[i])
		c.order = i
		p.index.add(c, &p.opts)
	}
	return p, nil
}

// Rules returns the rules that New was given, in the order in which a decision
// prefers to name them. Built-in rules are in Builtin.
func (p *Policy) Rules() iter.Seq[umpire.Rule] { return slices.Values(p.rules) }

// sourceRank says whose rule is named when several match alike.
var sourceRank = map[umpire.Source]int{
	umpire.SourceManaged: 1, umpire.SourceProject: 2, umpire.SourceUser: 3,
	umpire.SourceFlag: 4, umpire.SourceSession: 5,
}

// compareRules makes the order of rules depend on the rules alone.
func compareRules(a, b umpire.Rule) int {
	if a.Source == b.Source && a.File == b.File && a.Line != b.Line {
		return cmp.Compare(a.Line, b.Line) // as nearly always: what follows takes longer
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
