package prove

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// A nameTest is one segment of a pattern: it matches some names of files.
type nameTest struct {
	tokens []token
	fold   bool // it is compared with the folded name
}

// A token matches one character, or any text if star is set.
type token struct {
	star  bool
	any   bool
	class string // a class as written, with its brackets
	char  rune
}

// parseTest splits a valid segment of a pattern without braces into tokens.
func parseTest(text string, fold bool) nameTest {
	t := nameTest{fold: fold}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '*':
			if n := len(t.tokens); n == 0 || !t.tokens[n-1].star {
				t.tokens = append(t.tokens, token{star: true})
			}
		case r == '?':
			t.tokens = append(t.tokens, token{any: true})
		case r == '[':
			size = classLen(text[i:])
			t.tokens = append(t.tokens, token{class: text[i : i+size]})
		case r == '\\' && i+1 < len(text):
			escaped, n := utf8.DecodeRuneInString(text[i+1:])
			size = 1 + n
			t.tokens = append(t.tokens, token{char: escaped})
		default:
			t.tokens = append(t.tokens, token{char: r})
		}
		i += size
	}
	return t
}

// classLen returns the length of the class that begins a text.
func classLen(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == ']':
			return i + 1
		}
	}
	return len(text)
}

// matches reports whether the token matches one character. It asks the matcher of package policy about classes.
func (t *token) matches(r rune) bool {
	switch {
	case t.star || t.any:
		return true
	case t.class != "":
		return doublestar.MatchUnvalidated(t.class, string(r))
	}
	return t.char == r
}

// A nameClass is a set of names that match the same tests. name is a shortest one.
type nameClass struct {
	name    string
	matched []int // the tests, in order
}

// usual are the characters of names, the plainest first. Others take part only if a pattern mentions them.
const usual = "abcdefghijklmnopqrstuvwxyz0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZ.+=@,%~ ()#!$&'\"*;<>?[]^`{|}\u00e9"

// unmodelled are characters that may begin another spelling of a path, as in C:/Windows.
const unmodelled = `:\`

// dots counts the dots of a name of dots alone, because "." and ".." are no names.
type dots uint8

const manyDots dots = 3

// A namer is an automaton over names, built as far as it is needed. Its states are sets of positions in tests.
type namer struct {
	tests []nameTest
	texts map[string]int // tests by text and folding
	known map[string]int // nodes by positions
	nodes []nameNode
	// explored are the classes of names by the tests that tell them apart.
	explored map[string][]nameClass
}

func newNamer() *namer {
	return &namer{texts: map[string]int{}, known: map[string]int{}, explored: map[string][]nameClass{}}
}

// A nameNode is a state: the positions, the tests that match a name that ends here, and the states that follow.
type nameNode struct {
	at      []uint32
	matched []int
	class   string // matched as a key
	edges   []nameEdge
	grown   bool
}

type nameEdge struct {
	char rune
	to   int
}

// node returns the state for some positions.
func (n *namer) node(at []uint32) int {
	key := packed(at)
	id, ok := n.known[key]
	if !ok {
		id = len(n.nodes)
		n.known[key] = id
		matched := finished(n.tests, at)
		n.nodes = append(n.nodes, nameNode{at: at, matched: matched, class: keyOf(matched)})
	}
	return id
}

// edges returns the states that follow a state.
func (n *namer) edges(id int) []nameEdge {
	if !n.nodes[id].grown {
		var edges []nameEdge
		at := n.nodes[id].at
		for _, r := range nextRunes(n.tests, at) {
			edges = append(edges, nameEdge{r, n.node(step(n.tests, at, r))})
		}
		n.nodes[id].edges, n.nodes[id].grown = edges, true
	}
	return n.nodes[id].edges
}

// A nameVisit is a state that a walk over names has come to. The characters on the way are those of from, and char.
type nameVisit struct {
	node, from int
	char       rune
	only       dots
}

// explore returns the classes of names under the tests, the shortest names first. It reports false if there are more
// than maxNames states.
func (n *namer) explore(active []int) (classes []nameClass, whole bool) {
	var start []uint32
	for _, t := range active {
		start = appendPosition(start, n.tests, t, 0)
	}
	slices.Sort(start)
	visits := []nameVisit{{node: n.node(slices.Compact(start)), from: -1}}
	seen, found := map[[2]int]bool{}, map[string]bool{}
	for at := 0; at < len(visits); at++ {
		if len(visits) > maxNames {
			return nil, false
		}
		v := visits[at]
		node := &n.nodes[v.node]
		if at > 0 && (v.only == 0 || v.only == manyDots) && !found[node.class] {
			found[node.class] = true
			classes = append(classes, nameClass{nameOf(visits, at), node.matched})
		}
		for _, e := range n.edges(v.node) {
			next := nameVisit{node: e.to, from: at, char: e.char}
			if e.char == '.' && (at == 0 || v.only > 0) {
				next.only = min(v.only+1, manyDots)
			}
			if key := [2]int{next.node, int(next.only)}; !seen[key] {
				seen[key] = true
				visits = append(visits, next)
			}
		}
	}
	return classes, true
}

// nameOf returns the name that leads to a visit.
func nameOf(visits []nameVisit, at int) string {
	var name []rune
	for ; visits[at].from >= 0; at = visits[at].from {
		name = append(name, visits[at].char)
	}
	slices.Reverse(name)
	return string(name)
}

// appendPosition adds a position of a test, and the position behind a star.
func appendPosition(at []uint32, all []nameTest, test, position int) []uint32 {
	packed := uint32(test)<<positionBits | uint32(position)
	if !slices.Contains(at[max(0, len(at)-8):], packed) {
		at = append(at, packed)
	}
	if tokens := all[test].tokens; position < len(tokens) && tokens[position].star {
		return appendPosition(at, all, test, position+1)
	}
	return at
}

// step returns the positions after one more character.
func step(all []nameTest, at []uint32, r rune) []uint32 {
	folded, _ := utf8.DecodeRuneInString(wildcard.FoldCase(string(r)))
	var next []uint32
	for _, p := range at {
		test, position := int(p>>positionBits), int(p&maxPosition)
		t := &all[test]
		if position >= len(t.tokens) {
			continue
		}
		c := r
		if t.fold {
			c = folded
		}
		switch token := &t.tokens[position]; {
		case token.star:
			next = appendPosition(next, all, test, position)
		case token.matches(c):
			next = appendPosition(next, all, test, position+1)
		}
	}
	slices.Sort(next)
	return slices.Compact(next)
}

// finished returns the tests that match the name so far.
func finished(all []nameTest, at []uint32) (tests []int) {
	for _, p := range at {
		if test := int(p >> positionBits); int(p&maxPosition) == len(all[test].tokens) {
			tests = append(tests, test)
		}
	}
	slices.Sort(tests)
	return slices.Compact(tests)
}

// nextRunes returns one character for each different step: those that the next tokens mention, in each case, and one
// that none mentions. With a class, every usual character is tried.
func nextRunes(all []nameTest, at []uint32) []rune {
	var mentioned []rune
	classes := false
	add := func(r rune) {
		if r != '/' && !strings.ContainsRune(unmodelled, r) && unicode.IsPrint(r) && !slices.Contains(mentioned, r) {
			mentioned = append(mentioned, r)
		}
	}
	for _, p := range at {
		t := &all[p>>positionBits]
		position := int(p & maxPosition)
		if position >= len(t.tokens) {
			continue
		}
		switch token := &t.tokens[position]; {
		case token.class != "":
			classes = true
			for _, r := range token.class {
				for _, near := range []rune{r - 1, r, r + 1} {
					add(near)
				}
			}
		case token.star || token.any:
		default:
			add(token.char)
			for r := unicode.SimpleFold(token.char); t.fold && r != token.char; r = unicode.SimpleFold(r) {
				add(r)
			}
		}
	}
	other := false
	for _, r := range usual {
		if !slices.Contains(mentioned, r) && (classes || !other) {
			mentioned, other = append(mentioned, r), true
		}
	}
	slices.SortStableFunc(mentioned, func(a, b rune) int { return rank(a) - rank(b) })
	return mentioned
}

// rank orders characters: the plainest names come first.
func rank(r rune) int {
	if at := strings.IndexRune(usual, r); at >= 0 {
		return at
	}
	return len(usual)
}

// packed returns positions as the key of a map.
func packed(at []uint32, more ...uint32) string {
	key := make([]byte, 0, 4*(len(at)+len(more)))
	for _, list := range [][]uint32{at, more} {
		for _, p := range list {
			key = append(key, byte(p), byte(p>>8), byte(p>>16), byte(p>>24))
		}
	}
	return string(key)
}

// keyOf returns numbers as the key of a map.
func keyOf(numbers []int) string {
	at := make([]uint32, len(numbers))
	for i, n := range numbers {
		at[i] = uint32(n)
	}
	return packed(at)
}
