package prove

import (
	"container/heap"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
	"github.com/umpirehq/umpire/policy"
)

// Budgets. A walk that needs more is given up, and its answer is undecided.
const (
	maxGroups  = 256       // sets of patterns that are told apart
	maxNames   = 60_000    // states of names for one set of patterns
	maxStates  = 40_000    // states of paths
	maxWork    = 1_200_000 // a few seconds
	maxClasses = 6_000     // classes of paths that are decided
)

// The packing of a position in a list of tokens or segments: limits on patterns keep both small.
const (
	positionBits = 11
	maxPosition  = 1<<positionBits - 1
)

// A groupSet says which groups of patterns match a path.
type groupSet [maxGroups / 64]uint64

func (s *groupSet) include(group int)  { s[group/64] |= 1 << (group % 64) }
func (s *groupSet) has(group int) bool { return s[group/64]&(1<<(group%64)) != 0 }

func (s *groupSet) join(o groupSet) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s *groupSet) meets(o groupSet) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// A pathGlob is one pattern without braces, as segments.
type pathGlob struct {
	segs     []int // indexes of tests, or deepSegment
	group    int
	anyDepth bool // one segment, matched anywhere below the root
}

const deepSegment = -1

// strictGroups are groups with their keys.
type strictGroups struct {
	keys  map[int]string
	rules map[int]*umpire.Rule // one of each group, nil for built-in patterns
}

// A pathModel is an automaton over paths. It tells which groups of patterns match a path.
type pathModel struct {
	opts   policy.Options
	root   []string
	names  *namer
	globs  []pathGlob
	groups map[string]int
	// floating are the globs that may begin at any segment; they take part in every state.
	floating []int
	// problem says why the model is not exact, or is "".
	problem umpire.Phrase
	// leftOut is a pattern that may allow paths beyond the model, or "".
	leftOut string
	work    int
	limit   int
	// also are groups that have to match too.
	also []int
	// hopeless are groups that exclude a path from a positive answer, with any further rules.
	hopeless groupSet
	// strict are the groups of patterns that deny or ask, by the world that they come from.
	strict map[string]*strictGroups
}

func newPathModel(o policy.Options, names *namer, limit int) *pathModel {
	m := &pathModel{
		opts: o, names: names, limit: limit, groups: map[string]int{},
		strict: map[string]*strictGroups{},
	}
	if o.Root != "" && path.Clean(o.Root) != "/" {
		m.root = splitPath(path.Clean(o.Root))
		m.addPattern("root", wildcard.Escape(path.Clean(o.Root))+"/**", umpire.Allow, true)
	}
	return m
}

func splitPath(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// group returns the number of a group by its key: patterns with the same key are not told apart.
func (m *pathModel) group(key string) int {
	g, ok := m.groups[key]
	if !ok {
		if g = len(m.groups); g >= maxGroups {
			m.problem = "there are too many kinds of rules"
			return maxGroups - 1
		}
		m.groups[key] = g
	}
	return g
}

// addPattern adds a pattern of a rule with this action. folds says that it ignores case with any action.
// The reading of patterns is that of package policy; tests compare both.
func (m *pathModel) addPattern(key, pattern string, action umpire.Verdict, folds bool) {
	group := m.group(key)
	folded := action == umpire.Deny || folds || m.opts.FoldCase
	if folded {
		pattern = wildcard.FoldCase(pattern)
	}
	alternatives, err := wildcard.ExpandBraces(pattern)
	if err != nil {
		return // policy matches nothing with it either
	}
	for _, text := range alternatives {
		if isUnmodelled(text) { // no path of the model has such a character
			if action == umpire.Allow {
				m.leftOut = pattern
			}
			continue
		}
		rest, home := strings.CutPrefix(text, "~")
		switch {
		case strings.HasPrefix(text, "/"):
			m.addGlob(group, nil, text, folded)
		case action != umpire.Allow && !strings.Contains(text, "/") && text != "~" && text != "**" && text != ".":
			m.addGlob(group, nil, text, folded)
			m.globs[len(m.globs)-1].anyDepth = true
			m.floating = append(m.floating, len(m.globs)-1)
		case home && m.opts.Home != "" && (rest == "" || rest[0] == '/'):
			m.addGlob(group, splitPath(path.Clean(m.opts.Home)), rest, folded)
		case home && action != umpire.Allow:
			for _, folder := range []string{"/home/*", "/Users/*", "/root"} {
				m.addGlob(group, nil, wildcard.FoldCase(folder)+rest, folded)
			}
		case home:
		default:
			m.addGlob(group, m.root, text, folded)
		}
	}
}

// isStrict records that a group of patterns denies or asks.
func (m *pathModel) isStrict(side, key string, r *umpire.Rule) {
	if m.strict[side] == nil {
		m.strict[side] = &strictGroups{keys: map[int]string{}, rules: map[int]*umpire.Rule{}}
	}
	g := m.group(key)
	m.strict[side].keys[g], m.strict[side].rules[g] = key, r
}

// isUnmodelled reports whether a pattern needs a character that no path of the model has.
func isUnmodelled(text string) bool {
	for segment := range strings.SplitSeq(text, "/") {
		for _, t := range parseTest(segment, false).tokens {
			if t.char != 0 && (strings.ContainsRune(unmodelled, t.char) || !unicode.IsPrint(t.char)) {
				return true
			}
		}
	}
	return false
}

// isInexact reports whether the classes of a pattern hold characters whose case cannot be folded by ranges.
func isInexact(text string, folded bool) bool {
	return folded && strings.Contains(text, "[") &&
		strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

func (m *pathModel) addGlob(group int, folder []string, pattern string, folded bool) {
	g := pathGlob{group: group}
	for _, name := range folder {
		if folded {
			name = wildcard.FoldCase(name)
		}
		g.segs = append(g.segs, m.test(wildcard.Escape(name), folded))
	}
	if isInexact(pattern, folded) {
		m.problem = "a pattern has a range of letters beyond ASCII"
	}
	for text := range strings.SplitSeq(pattern, "/") {
		switch {
		case text == "" || text == ".":
		case text == "**":
			if n := len(g.segs); n == 0 || g.segs[n-1] != deepSegment {
				g.segs = append(g.segs, deepSegment)
			}
		default:
			g.segs = append(g.segs, m.test(text, folded))
		}
	}
	m.globs = append(m.globs, g)
	if len(g.segs) > 1 && g.segs[0] == deepSegment {
		m.floating = append(m.floating, len(m.globs)-1)
	}
}

func (m *pathModel) test(text string, folded bool) int {
	key := text
	if folded {
		key = "\x00" + text
	}
	at, ok := m.names.texts[key]
	if !ok {
		at = len(m.names.tests)
		m.names.texts[key] = at
		m.names.tests = append(m.names.tests, parseTest(text, folded))
	}
	return at
}

// A pathState is a state of the automaton, after some segments of a path.
type pathState struct {
	items []uint32 // positions in globs that do not float
	hit   groupSet // groups that match with any continuation
	// pending groups match at any depth, unless the path turns out to lie below the root.
	pending groupSet
	root    int // segments of the root that the path has begun with, or leftRoot
	text    string
	key     string
	// open and vain are the key in two parts: vain are the positions in hopeless groups.
	open string
	vain []uint32
}

const leftRoot = -1

func (m *pathModel) initial() *pathState {
	s := &pathState{}
	for i := range m.globs {
		if g := &m.globs[i]; !m.floats(i) {
			m.advance(s, i, 0)
		} else if len(g.segs) == 2 && g.segs[1] == deepSegment {
			s.hit.include(g.group)
		}
	}
	return m.seal(s)
}

func (m *pathModel) floats(glob int) bool {
	g := &m.globs[glob]
	return g.anyDepth || len(g.segs) > 1 && g.segs[0] == deepSegment
}

// advance adds a position of a glob, and those behind a ** that matches nothing.
func (m *pathModel) advance(s *pathState, glob, at int) {
	g := &m.globs[glob]
	if s.hit.has(g.group) {
		return
	}
	s.items = append(s.items, uint32(glob)<<positionBits|uint32(at))
	if at < len(g.segs) && g.segs[at] == deepSegment {
		if at+1 == len(g.segs) {
			s.hit.include(g.group)
			return
		}
		m.advance(s, glob, at+1)
	}
}

// seal drops the positions of groups that match anyway, and computes the key.
func (m *pathModel) seal(s *pathState) *pathState {
	s.items = slices.DeleteFunc(s.items, func(p uint32) bool { return s.hit.has(m.globs[p>>positionBits].group) })
	slices.Sort(s.items)
	s.items = slices.Compact(s.items)
	var more []uint32
	for _, set := range []*groupSet{&s.hit, &s.pending} {
		for _, word := range set {
			more = append(more, uint32(word), uint32(word>>32))
		}
	}
	more = append(more, uint32(s.root+1))
	s.key = packed(s.items, more...)
	if s.open = s.key; m.hopeless == (groupSet{}) {
		return s
	}
	var open []uint32
	for _, p := range s.items {
		if m.hopeless.has(m.globs[p>>positionBits].group) {
			s.vain = append(s.vain, p)
		} else {
			open = append(open, p)
		}
	}
	s.open = packed(open, more...)
	return s
}

// A frontier holds the states that were walked, by their open parts.
type frontier map[string][][]uint32

// covers reports whether a walked state allows at least as much: it differs at most by fewer hopeless positions.
func (f frontier) covers(s *pathState) bool {
	return slices.ContainsFunc(f[s.open], func(vain []uint32) bool {
		for _, p := range vain {
			if _, found := slices.BinarySearch(s.vain, p); !found {
				return false
			}
		}
		return true
	})
}

// matches returns the groups that match the path of a state.
func (m *pathModel) matches(s *pathState) groupSet {
	set := s.hit
	if s.root < len(m.root) {
		set.join(s.pending)
	}
	for _, p := range s.items {
		if g := &m.globs[p>>positionBits]; int(p&maxPosition) == len(g.segs) {
			set.include(g.group)
		}
	}
	return set
}

// reaches reports whether a path that continues a state can still match a group.
func (m *pathModel) reaches(s *pathState, group int) bool {
	if s.hit.has(group) || s.pending.has(group) {
		return true
	}
	for _, p := range s.items {
		if m.globs[p>>positionBits].group == group {
			return true
		}
	}
	return slices.ContainsFunc(m.floating, func(i int) bool { return m.globs[i].group == group })
}

// reachesAll is reaches for the groups of a walk.
func (m *pathModel) reachesAll(s *pathState, within int) bool {
	return m.reaches(s, within) && !slices.ContainsFunc(m.also, func(group int) bool { return !m.reaches(s, group) })
}

// isWithin reports whether a class belongs to a walk.
func (m *pathModel) isWithin(set *groupSet, within int) bool {
	return set.has(within) && !slices.ContainsFunc(m.also, func(group int) bool { return !set.has(group) })
}

// A user is a position that waits for a name.
type user struct{ glob, at int }

// users returns the positions of a state that wait for a name, by their test, and the sorted tests.
func (m *pathModel) users(s *pathState) (by map[int][]user, tests []int) {
	by = map[int][]user{}
	add := func(glob, at int) {
		if test := m.globs[glob].segs[at]; test != deepSegment {
			by[test] = append(by[test], user{glob, at})
		}
	}
	for _, i := range m.floating {
		switch g := &m.globs[i]; {
		case s.hit.has(g.group):
		case g.anyDepth:
			add(i, 0)
		default:
			add(i, 1)
		}
	}
	for _, p := range s.items {
		if g, at := int(p>>positionBits), int(p&maxPosition); at < len(m.globs[g].segs) {
			add(g, at)
		}
	}
	for test := range by {
		tests = append(tests, test)
	}
	slices.Sort(tests)
	return by, tests
}

// after returns the state after one more name.
func (m *pathModel) after(s *pathState, by map[int][]user, c *nameClass) *pathState {
	next := &pathState{hit: s.hit, pending: s.pending, root: s.root, text: s.text + "/" + c.name}
	var loose groupSet
	for _, p := range s.items {
		if g, at := int(p>>positionBits), int(p&maxPosition); at < len(m.globs[g].segs) &&
			m.globs[g].segs[at] == deepSegment {
			m.advance(next, g, at)
		}
	}
	for _, test := range c.matched {
		for _, u := range by[test] {
			if g := &m.globs[u.glob]; g.anyDepth {
				loose.include(g.group)
			} else {
				m.advance(next, u.glob, u.at+1)
			}
		}
	}
	switch {
	case s.root == leftRoot || s.root >= len(m.root):
		next.hit.join(loose)
	case wildcard.FoldCase(m.root[s.root]) == wildcard.FoldCase(c.name):
		next.root++
		next.pending.join(loose)
		if next.root == len(m.root) {
			next.pending = groupSet{} // a pattern for any depth ignores the folders of the root
		}
	default:
		next.root = leftRoot
		next.hit.join(s.pending)
		next.hit.join(loose)
		next.pending = groupSet{}
	}
	return m.seal(next)
}

// A stateQueue orders states by the length of their path.
type stateQueue []*pathState

func (q stateQueue) Len() int      { return len(q) }
func (q stateQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *stateQueue) Push(x any) {
	if s, ok := x.(*pathState); ok {
		*q = append(*q, s)
	}
}

func (q stateQueue) Less(i, j int) bool {
	if len(q[i].text) != len(q[j].text) {
		return len(q[i].text) < len(q[j].text)
	}
	return q[i].text < q[j].text
}

func (q *stateQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// walk visits one shortest path of every class that matches a group, until visit returns false. It returns why it gave
// up, or "".
func (m *pathModel) walk(within int, visit func(path string, matched groupSet) bool) umpire.Phrase {
	if m.problem != "" {
		return m.problem
	}
	m.work = 0
	queue := &stateQueue{m.initial()}
	walked, best, classes, states := frontier{}, map[string]int{}, map[groupSet]bool{}, 0
	for queue.Len() > 0 {
		s, ok := heap.Pop(queue).(*pathState)
		if !ok || walked.covers(s) {
			continue
		}
		walked[s.open] = append(walked[s.open], s.vain)
		if states++; states > maxStates {
			return umpire.Say("the rules tell more than %s states of paths apart", maxStates)
		}
		if set := m.matches(s); m.isWithin(&set, within) && !classes[set] {
			if classes[set] = true; len(classes) > maxClasses {
				return umpire.Say("the rules tell more than %s classes of paths apart", maxClasses)
			}
			text := s.text
			if text == "" {
				text = "/"
			}
			if !visit(text, set) {
				return ""
			}
		}
		by, tests := m.users(s)
		key := keyOf(tests)
		names, known := m.names.explored[key]
		if !known {
			var whole bool
			if names, whole = m.names.explore(tests); !whole {
				return umpire.Say("the rules tell more than %s beginnings of names apart", maxNames)
			}
			m.names.explored[key] = names
		}
		if m.work += len(names) * (1 + len(s.items)/8); m.work > m.limit {
			return "the rules need too many steps"
		}
		for i := range names {
			next := m.after(s, by, &names[i])
			if n, known := best[next.key]; known && n <= len(next.text) || next.hit.meets(m.hopeless) ||
				!m.reachesAll(next, within) || walked.covers(next) {
				continue
			}
			best[next.key] = len(next.text)
			heap.Push(queue, next)
		}
	}
	return ""
}
