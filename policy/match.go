package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
	"github.com/umpirehq/umpire/shell"
)

// A subject is one access of a call, prepared for matching against rules.
type subject struct {
	tool   string
	access *umpire.Access
	forms  forms       // of a path access
	host   string      // of a network access
	files  []*subject  // of a program: the files of its part of the command
	filter [][]segment // the files that a search of a tree is limited to, if it is
	found  *form       // a file of secrets that a pattern matches on disk, or nil
	// below is the function of [Query.Below].
	below func(folder string) (paths []string, whole bool)
}

func newSubject(tool, glob string, a *umpire.Access, o *Options) subject {
	s := subject{tool: tool, access: a}
	switch {
	case a.Paths() && a.Target != "":
		s.forms = newForms(a, o.Root)
		s.filter = searchFilter(a, glob)
	case a.Kind == umpire.KindNetwork:
		s.host = hostName(a.Target)
	}
	return s
}

// newSubjects returns the subjects of a call, and gives every program the files of its part of
// the command line.
func newSubjects(call *umpire.Call, accesses []umpire.Access, o *Options) []*subject {
	made, all, glob := make([]subject, len(accesses)), make([]*subject, len(accesses)), searchGlob(call)
	files := map[int][]*subject{}
	for i := range accesses {
		made[i] = newSubject(call.Tool, glob, &accesses[i], o)
		all[i] = &made[i]
		if a := &accesses[i]; a.Paths() && a.Target != "" {
			files[a.Part] = append(files[a.Part], all[i])
		}
	}
	for _, s := range all {
		if s.access.Kind == umpire.KindExec {
			s.files = files[s.access.Part]
		}
	}
	return all
}

// matches reports whether the rule matches the subject. It alone decides; the index only avoids
// trying every rule.
func (c *compiled) matches(s *subject, o *Options) bool {
	if c.allows() && !canBeAllowed(s.access) {
		return false
	}
	if !c.withinCap(s.access) {
		return false
	}
	if c.onlyTree && !s.access.Tree || c.named && s.access.Names {
		return false
	}
	if c.bare() {
		return c.matchesTool(s)
	}
	switch {
	case c.secret:
		return c.readsSecret(s)
	case c.self:
		verb, uses := usesPersonVerb(s.access)
		return uses && verb == strings.Join(c.words[1:], " ")
	case c.forCommand():
		return c.matchesCommand(s) && (len(c.globs) == 0 || c.matchesFiles(s, o))
	case len(c.globs) > 0:
		return s.access.Paths() && s.access.Target != "" && c.judges(s) && c.matchesPath(s, o)
	case c.domain != "":
		return s.access.Kind == umpire.KindNetwork && c.judges(s) && hostMatches(c.domain, s.host)
	}
	return false
}

// canBeAllowed reports whether a rule may allow the access at all. A rule never covers unknown
// effects.
func canBeAllowed(a *umpire.Access) bool {
	if a.Doubt != "" || a.Kind == umpire.KindUnknown {
		return false
	}
	return a.Target != "" || !a.Paths() && a.Kind != umpire.KindNetwork
}

func (c *compiled) judges(s *subject) bool {
	return toolJudges(c.rule.Tool, s.tool, s.access.Kind, c.allows())
}

// matchesTool matches a rule about a whole tool. If it denies or asks about a Git tool, it also
// covers the same command in a shell.
func (c *compiled) matchesTool(s *subject) bool {
	if c.judges(s) {
		return true
	}
	verb := gitVerbs[c.rule.Tool]
	words := s.access.Words
	return verb != "" && !c.allows() && s.access.Kind == umpire.KindExec &&
		len(words) > 1 && words[0] == "git" && words[1] == verb
}

// matchesFiles matches a rule about a command and its files: one of them has to match for a
// rule that denies or asks, and all for one that allows.
func (c *compiled) matchesFiles(s *subject, o *Options) bool {
	for _, file := range s.files {
		if c.matchesPath(file, o) != c.allows() {
			return !c.allows()
		}
	}
	return c.allows() && len(s.files) > 0
}

// matchesCommand compares a whole line or its first words.
func (c *compiled) matchesCommand(s *subject) bool {
	if len(c.line) > 0 {
		return c.matchesLine(s)
	}
	return c.matchesWords(s)
}

// matchesLine compares all words, including those before a subcommand. A rule that denies or
// asks also matches the command without them.
func (c *compiled) matchesLine(s *subject) bool {
	a := s.access
	if a.Kind != umpire.KindExec || !c.judges(s) {
		return false
	}
	if slices.Equal(a.Line, c.line) {
		return true
	}
	return !c.allows() && len(a.Words) == len(c.line) && a.Program == c.line[0] &&
		slices.Equal(a.Words[1:], plainWords(c.line[1:]))
}

// matchesWords compares whole words. A rule that denies or asks also matches a program called
// by its path, and options in any spelling and order.
func (c *compiled) matchesWords(s *subject) bool {
	a := s.access
	if a.Kind != umpire.KindExec || len(a.Words) == 0 || !c.judges(s) {
		return false
	}
	if a.Words[0] != c.words[0] && (c.allows() || a.Program != c.words[0]) {
		return false
	}
	if len(a.Words) >= len(c.words) && slices.Equal(c.words[1:], a.Words[1:len(c.words)]) {
		return true
	}
	return !c.allows() && shell.Covers(c.words, a.Words)
}

// matchesPath requires every spelling of the path to match for a rule that allows, and one for
// the others.
func (c *compiled) matchesPath(s *subject, o *Options) bool {
	fs := &s.forms
	if c.allows() {
		return fs.hasResolved && c.matchesForm(&fs.written, s, o) && c.matchesForm(&fs.resolved, s, o)
	}
	matched := false
	fs.each(func(f *form) { matched = matched || c.matchesForm(f, s, o) })
	return matched || c.loose && s.reachesBelow() && c.liesBelow(s, o)
}

func (c *compiled) matchesForm(f *form, s *subject, o *Options) bool {
	a, tree := s.access, s.reachesBelow() && !c.allows() && !c.named
	if a.Glob && a.Names && a.Kind == umpire.KindRead && !c.allows() {
		return false // listing names with a wildcard is not reading
	}
	for i := range c.globs {
		g := &c.globs[i]
		switch {
		case a.Picked && c.row == rowHardStop && c.sparesPicked(g, f.target(g.fold), a.Glob):
		case c.allows() && (a.Glob || isSearch(a)): // permission to list a folder does not permit searching it
			if g.coversTree(f.anyTarget(g.fold)) {
				return true
			}
		case (tree || a.Glob) && !g.match(f, o) && c.sparedBy(a.Kinds, g, f):
		case a.Glob:
			if c.meets(g, f.target(g.fold), tree, o) {
				return true
			}
		case g.match(f, o):
			return true
		case tree && g.reachedFrom(f, o):
			return true
		}
	}
	return false
}

// sparedBy reports whether a formatter does not affect the glob's files. It changes only some
// kinds of files below a folder or among the matches of a wildcard, so it spares other kinds,
// and also control files, whose meaning it preserves. A file that is named, directly or by its
// folder, is not spared.
func (c *compiled) sparedBy(kinds []string, g *glob, f *form) bool {
	if len(kinds) == 0 || len(g.segs) == 0 || c.allows() {
		return false
	}
	if c.row == rowControl {
		return !namesGuarded(g, f)
	}
	last := &g.segs[len(g.segs)-1]
	ext, fixed := extensionOf(last)
	if last.sort == literal {
		ext, fixed = path.Ext(last.text), true
	}
	return fixed && ext != "" && !slices.Contains(kinds, strings.ToLower(ext))
}

// namesGuarded reports whether a path names the folder of a guarded place, such as .vscode.
func namesGuarded(g *glob, f *form) bool {
	if len(g.segs) < 3 || g.segs[0].sort != deep {
		return g.segs[0].sort != deep // a single file is named only by itself
	}
	folder := &g.segs[1]
	return slices.ContainsFunc(f.segs, folder.matches) ||
		slices.ContainsFunc(f.pattern, func(s segment) bool { return s.sort == literal && folder.matches(s.text) })
}

// reachesBelow reports whether the access covers everything below its path. Listing names is
// not reading the files.
func (s *subject) reachesBelow() bool {
	return s.access.Tree && !s.access.Names
}

// meets reports whether a target with wildcards could match a path of the rule, or a folder
// above one.
func (c *compiled) meets(g *glob, target []segment, tree bool, o *Options) bool {
	if c.wholeFolder && mayMeet(g.segs, trimBroad(target)) {
		return true
	}
	if g.anyDepth {
		return metAtAnyDepth(&g.segs[0], target, o)
	}
	if mayMeet(g.segs, target) && !(c.row == rowControl && g.isOneOfMany(target)) {
		return true
	}
	if !tree {
		return false
	}
	anchor := g.anchor(o)
	return len(anchor) >= len(target) && mayMeet(anchor[:len(target)], target)
}

// isOneOfMany reports whether the glob is one plain name at any depth, and the target all files
// of a folder or of a kind: build/* and *.json do not mean opencode.json.
func (g *glob) isOneOfMany(target []segment) bool {
	if len(g.segs) != 2 || g.segs[0].sort != deep || len(target) == 0 {
		return false
	}
	last := &target[len(target)-1]
	ext, star := strings.CutPrefix(last.text, "*")
	return last.sort == wild && star && !wildcard.Has(ext) && (ext == "" || ext[0] == '.')
}

func metAtAnyDepth(rule *segment, target []segment, o *Options) bool {
	start := 0
	if inRoot(target, o) {
		start = len(o.rootSegs)
	}
	for i := start; i < len(target); i++ {
		if target[i].sort == deep || segmentsMeet(rule, &target[i]) {
			return true
		}
	}
	return false
}

func inRoot(target []segment, o *Options) bool {
	if countLiterals(target) < len(o.rootSegs) {
		return false
	}
	for i, name := range o.rootSegs {
		if !foldedEqual(target[i].text, name) {
			return false
		}
	}
	return true
}

// trimBroad removes trailing segments that match everything in a folder.
func trimBroad(target []segment) []segment {
	for len(target) > 0 && isBroad(&target[len(target)-1]) {
		target = target[:len(target)-1]
	}
	return target
}

// isBroad reports whether a wildcard segment contains no fixed letter or digit.
func isBroad(s *segment) bool {
	if s.sort == literal {
		return false
	}
	class := false
	for _, r := range s.text {
		switch {
		case r == '[':
			class = true
		case r == ']':
			class = false
		case !class && r != '*' && r != '?' && r != '.':
			return false
		}
	}
	return true
}

// anchor returns the literal folder that the glob starts from. A pattern for any depth is
// anchored at the root: a tree above the root contains the protected files, a tree beside it
// probably does not.
func (g *glob) anchor(o *Options) []segment {
	segs := g.segs
	if g.anyDepth || len(segs) > 0 && segs[0].sort == deep {
		if !g.anyDepth {
			segs = segs[1:]
		}
		prefix := o.rootSegments(g.fold)
		return append(slices.Clip(prefix), segs[:countLiterals(segs)]...)
	}
	return segs[:countLiterals(segs)]
}

// reachedFrom reports whether the glob's files lie below the tree.
func (g *glob) reachedFrom(f *form, o *Options) bool {
	names := f.segs
	if g.fold {
		names = f.folded
	}
	if anchor := g.anchor(o); len(anchor) >= len(names) && matchSegments(anchor[:len(names)], names) {
		return true
	}
	return len(g.segs) > 1 && g.segs[0].sort == deep && endsWithin(g.segs[1:], names)
}

// endsWithin reports whether the path ends with the first segments of a pattern for any depth:
// sub/.git is above sub/.git/hooks.
func endsWithin(segs []segment, names []string) bool {
	for n := min(countLiterals(segs)-1, len(names)); n > 0; n-- {
		if matchSegments(segs[:n], names[len(names)-n:]) {
			return true
		}
	}
	return false
}
