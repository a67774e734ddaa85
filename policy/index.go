package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// An index finds the rules that may match an access without trying all of them: commands by
// their words, paths by the folder a pattern starts from, hosts and tools by name. It may
// return too many rules, never too few.
type index struct {
	tools     map[string][]*compiled // rules about a whole tool
	toolGlobs []*compiled
	self      []*compiled            // rules about umpire's own verbs
	lines     map[string][]*compiled // rules about one whole command, by its words
	words     wordNode
	paths     pathNode
	anyDepth  bucket
	below     pathNode // rules that deny or ask, at their anchors, for trees
	loose     []*compiled
	domains   map[string][]*compiled

	wordNodes block[wordNode]
	pathNodes block[pathNode]
	lists     ruleLists
}

// A wordNode holds the rules whose prefix ends at one word.
type wordNode struct {
	next  map[string]*wordNode
	rules []*compiled
}

func newIndex() *index {
	return &index{tools: map[string][]*compiled{}, domains: map[string][]*compiled{}, lines: map[string][]*compiled{}}
}

func (ix *index) add(c *compiled, o *Options) {
	switch {
	case c.bare() && c.rule.Tool != anyTool && strings.ContainsAny(c.rule.Tool, "*?["):
		ix.toolGlobs = append(ix.toolGlobs, c)
	case c.bare():
		ix.tools[c.rule.Tool] = append(ix.tools[c.rule.Tool], c)
	case c.self:
		ix.self = append(ix.self, c)
	case len(c.line) > 0:
		key := string(appendKey(nil, c.line...))
		ix.lines[key] = append(ix.lines[key], c)
	case len(c.words) > 0:
		ix.addWords(c)
	case c.domain != "":
		key := strings.TrimPrefix(c.domain, "*.")
		ix.domains[key] = append(ix.domains[key], c)
	}
	if c.forCommand() {
		return // found by its command, which then checks its files
	}
	for i := range c.globs {
		ix.addGlob(c, &c.globs[i], o)
	}
	if c.loose {
		ix.loose = append(ix.loose, c)
	}
}

func (ix *index) addGlob(c *compiled, g *glob, o *Options) {
	if g.anyDepth {
		ix.anyDepth.add(c, &g.segs[0], &ix.lists)
	} else {
		ix.addPath(c, g.segs)
	}
	if !c.allows() && !c.secret {
		n := ix.below.at(g.anchor(o), &ix.pathNodes)
		n.rest = ix.lists.add(n.rest, c)
	}
}

// isOption reports whether a word may be an option.
func isOption(word string) bool { return strings.HasPrefix(word, "-") }

// addWords adds a rule at the node of its last word, or at the first node without other rules.
// A deny or ask rule that names an option is added at its program, because options have many
// spellings and any order.
func (ix *index) addWords(c *compiled) {
	words, n := c.words, &ix.words
	if !c.allows() && slices.ContainsFunc(words, isOption) {
		words = words[:1]
	}
	for _, word := range words {
		next := n.next[word]
		if next == nil {
			next = &ix.wordNodes.take(1)[0]
			if n.next == nil {
				n.next = map[string]*wordNode{}
			}
			n.next[word] = next
			n = next
			break
		}
		n = next
	}
	n.rules = ix.lists.add(n.rules, c)
}

// find offers every rule that may match the hits' subject.
func (ix *index) find(h *hits) {
	ix.findTools(h)
	a := h.subject.access
	if isOwnProgram(a) {
		h.offer(ix.self)
	}
	switch {
	case a.Kind == umpire.KindExec && len(a.Words) > 0:
		ix.findLines(h)
		options := slices.ContainsFunc(a.Words[1:], isOption)
		for i, name := range [...]string{a.Words[0], a.Program} {
			if i > 0 && name == a.Words[0] {
				break
			}
			ix.words.find(h, name, a.Words[1:], false)
			if options {
				ix.words.find(h, name, a.Words[1:], true)
			}
		}
	case a.Kind == umpire.KindNetwork:
		ix.findDomains(h)
	case a.Paths() && a.Target != "":
		ix.findPaths(h)
	}
}

// findLines looks the command up as given, and by the words that deny and ask rules compare.
func (ix *index) findLines(h *hits) {
	if len(ix.lines) == 0 {
		return
	}
	a := h.subject.access
	var room [256]byte
	h.offer(ix.lines[string(appendKey(room[:0], a.Line...))])
	h.offer(ix.lines[string(appendKey(appendKey(room[:0], a.Program), a.Words[1:]...))])
}

// find offers the rules whose words begin the command. If operands is true, it skips the command's options.
func (n *wordNode) find(h *hits, first string, rest []string, operands bool) {
	n = n.next[first]
	for n != nil {
		h.offer(n.rules)
		for operands && len(rest) > 0 && isOption(rest[0]) {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return
		}
		n, rest = n.next[rest[0]], rest[1:]
	}
}

func (ix *index) findTools(h *hits) {
	tool, a := h.subject.tool, h.subject.access
	h.offer(ix.toolGlobs)
	h.offer(ix.tools[anyTool])
	h.offer(ix.tools[tool])
	for _, names := range familyTools(a.Kind, false) {
		for _, name := range names {
			h.offer(ix.tools[name])
		}
	}
	if a.Kind == umpire.KindExec {
		for name := range gitVerbs {
			h.offer(ix.tools[name])
		}
	}
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		for i := strings.Index(rest, "__"); i >= 0; {
			h.offer(ix.tools[tool[:len("mcp__")+i]])
			next := strings.Index(rest[i+1:], "__")
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
}

// findDomains looks the host up, and then the suffixes after its dots.
func (ix *index) findDomains(h *hits) {
	h.offer(ix.domains["*"])
	for host := h.subject.host; host != ""; {
		h.offer(ix.domains[host])
		_, rest, ok := strings.Cut(host, ".")
		if !ok {
			return
		}
		host = rest
	}
}

func (ix *index) findPaths(h *hits) {
	tree, globbed := h.subject.access.Tree, h.subject.access.Glob
	if h.subject.reachesBelow() {
		h.offer(ix.loose)
	}
	if found := h.subject.found; found != nil {
		for _, name := range found.folded {
			ix.anyDepth.find(h, name)
		}
		ix.paths.find(h, found.folded)
	}
	h.subject.forms.each(func(f *form) {
		if globbed {
			ix.anyDepth.offerAll(h)
			ix.paths.findPattern(h, f.patternFolded, false)
			ix.below.findPattern(h, f.patternFolded, tree)
			return
		}
		for _, name := range f.folded {
			ix.anyDepth.find(h, name)
		}
		ix.paths.find(h, f.folded)
		if tree {
			ix.below.findTree(h, f.folded)
		}
	})
	for _, pattern := range h.subject.filter {
		ix.paths.findPattern(h, pattern, false)
	}
}
