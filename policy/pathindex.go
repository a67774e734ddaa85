package policy

import (
	"strings"

	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// A pathNode holds the patterns whose literal folders lead to it. Keys are folded, so one walk
// finds both case-sensitive and case-insensitive patterns.
type pathNode struct {
	next map[string]*pathNode
	bucket
	// floats are patterns that continue with **/NAME/…, by NAME.
	floats map[string][]*compiled
}

// A bucket holds patterns by their last segment.
type bucket struct {
	names map[string][]*compiled
	exts  map[string][]*compiled
	rest  []*compiled
}

// at returns the node for a literal folder, creating it if necessary.
func (n *pathNode) at(folder []segment, nodes *block[pathNode]) *pathNode {
	for _, s := range folder {
		name := wildcard.FoldCase(s.text)
		next := n.next[name]
		if next == nil {
			if n.next == nil {
				n.next = map[string]*pathNode{}
			}
			next = &nodes.take(1)[0]
			n.next[name] = next
		}
		n = next
	}
	return n
}

func (ix *index) addPath(c *compiled, segs []segment) {
	count := countLiterals(segs)
	n := ix.paths.at(segs[:count], &ix.pathNodes)
	rest := segs[count:]
	switch {
	case len(rest) == 0 || n != &ix.paths && len(n.rest) < fewRules:
		n.rest = ix.lists.add(n.rest, c)
	case len(rest) > 2 && rest[0].sort == deep && rest[1].sort == literal:
		if n.floats == nil {
			n.floats = map[string][]*compiled{}
		}
		name := wildcard.FoldCase(rest[1].text)
		n.floats[name] = append(n.floats[name], c)
	default:
		n.bucket.add(c, &rest[len(rest)-1], &ix.lists)
	}
}

// fewRules is the number of rules a node keeps in one list: trying them all is as fast as looking them up.
const fewRules = 3

// ruleLists makes lists of rules. Most lists have one rule, so the first one comes from a block.
type ruleLists struct{ block[*compiled] }

func (l *ruleLists) add(rules []*compiled, c *compiled) []*compiled {
	if rules == nil {
		rules = l.take(1)[:0]
	}
	return append(rules, c)
}

func (b *bucket) add(c *compiled, last *segment, lists *ruleLists) {
	ext, hasExt := extensionOf(last)
	switch {
	case last.sort == literal:
		b.names = appendTo(b.names, wildcard.FoldCase(last.text), c)
	case hasExt:
		b.exts = appendTo(b.exts, wildcard.FoldCase(ext), c)
	default:
		b.rest = lists.add(b.rest, c)
	}
}

func appendTo(m map[string][]*compiled, key string, c *compiled) map[string][]*compiled {
	if m == nil {
		m = map[string][]*compiled{}
	}
	m[key] = append(m[key], c)
	return m
}

// extensionOf returns the extension that a wildcard name must end with.
func extensionOf(s *segment) (string, bool) {
	if s.sort != wild || strings.Contains(s.text, `\`) {
		return "", false
	}
	end := s.text[strings.LastIndexAny(s.text, "*?]")+1:]
	dot := strings.LastIndexByte(end, '.')
	if dot < 0 {
		return "", false
	}
	return end[dot:], true
}

func (b *bucket) find(h *hits, name string) {
	h.offer(b.rest)
	if b.names != nil {
		h.offer(b.names[name])
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && b.exts != nil {
		h.offer(b.exts[name[dot:]])
	}
}

func (b *bucket) offerAll(h *hits) {
	h.offer(b.rest)
	for _, rules := range b.names {
		h.offer(rules)
	}
	for _, rules := range b.exts {
		h.offer(rules)
	}
}

// find offers the patterns whose literal folder contains the path.
func (n *pathNode) find(h *hits, names []string) {
	last := ""
	if len(names) > 0 {
		last = names[len(names)-1]
	}
	for i := 0; n != nil; i++ {
		n.bucket.find(h, last)
		if n.floats != nil {
			for _, name := range names[i:] {
				h.offer(n.floats[name])
			}
		}
		if i == len(names) {
			return
		}
		n = n.next[names[i]]
	}
}

// findTree offers all patterns at the path and below it.
func (n *pathNode) findTree(h *hits, names []string) {
	for _, name := range names {
		if n = n.next[name]; n == nil {
			return
		}
	}
	n.offerBelow(h)
}

func (n *pathNode) offerBelow(h *hits) {
	n.offerHere(h)
	for _, child := range n.next {
		child.offerBelow(h)
	}
}

func (n *pathNode) offerHere(h *hits) {
	n.offerAll(h)
	for _, rules := range n.floats {
		h.offer(rules)
	}
}

// findPattern is find for a path with wildcards.
func (n *pathNode) findPattern(h *hits, target []segment, tree bool) {
	n.offerHere(h)
	switch {
	case len(target) == 0:
		if tree {
			n.offerBelow(h)
		}
	case target[0].sort == literal:
		if child := n.next[target[0].text]; child != nil {
			child.findPattern(h, target[1:], tree)
		}
	case target[0].sort == deep:
		n.offerBelow(h)
	default:
		for name, child := range n.next {
			if target[0].matches(name) {
				child.findPattern(h, target[1:], tree)
			}
		}
	}
}
