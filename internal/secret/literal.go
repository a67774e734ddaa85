package secret

import "slices"

// A finder finds any number of literals in a text in one pass, with the Aho-Corasick
// automaton. It ignores the case of ASCII letters.
type finder struct {
	class   [256]uint8 // by byte; 0 for bytes that are in no literal
	classes int
	next    []uint16   // by state and class
	ends    [][]uint16 // by state: the literals that end there, longest first
}

// newFinder builds the automaton for lower-case literals.
func newFinder(literals []string) *finder {
	f := &finder{classes: 1}
	most := 1 // states
	for _, l := range literals {
		most += len(l)
		for _, c := range []byte(l) {
			if f.class[c] == 0 {
				f.class[c] = uint8(f.classes)
				f.classes++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		f.class[c] = f.class[c|0x20]
	}
	f.next = make([]uint16, 0, most*f.classes) // growing it would take most of the time
	f.ends = make([][]uint16, 0, most)
	f.grow()
	for i, l := range literals {
		f.addLiteral(uint16(i), l)
	}
	f.link()
	return f
}

func (f *finder) grow() uint16 {
	f.next = f.next[:len(f.next)+f.classes]
	f.ends = append(f.ends, nil)
	return uint16(len(f.ends) - 1)
}

func (f *finder) addLiteral(id uint16, literal string) {
	state := uint16(0)
	for _, c := range []byte(literal) {
		to := &f.row(state)[f.class[c]]
		if *to == 0 {
			*to = f.grow()
		}
		state = *to
	}
	f.ends[state] = append(f.ends[state], id)
}

// link completes the tree: after a mismatch, the search continues in the longest other
// literal that has started.
func (f *finder) link() {
	fail := make([]uint16, len(f.ends))
	queue := make([]uint16, 0, len(f.ends))
	for _, to := range f.row(0) {
		if to != 0 {
			queue = append(queue, to)
		}
	}
	for i := 0; i < len(queue); i++ {
		state := queue[i]
		back := fail[state]
		if len(f.ends[back]) > 0 {
			f.ends[state] = slices.Concat(f.ends[state], f.ends[back])
		}
		row, backRow := f.row(state), f.row(back)
		for c, to := range row {
			if to != 0 {
				fail[to] = backRow[c]
				queue = append(queue, to)
			} else {
				row[c] = backRow[c]
			}
		}
	}
}

// row returns the next states of a state, by class.
func (f *finder) row(state uint16) []uint16 {
	return f.next[int(state)*f.classes : (int(state)+1)*f.classes]
}

// eachLiteral calls hit for each literal in the text, with the end of its position.
func (f *finder) eachLiteral(text string, hit func(literal uint16, end int)) {
	state := 0
	for i := range len(text) {
		state = int(f.next[state*f.classes+int(f.class[text[i]])])
		for _, id := range f.ends[state] {
			hit(id, i+1)
		}
	}
}
