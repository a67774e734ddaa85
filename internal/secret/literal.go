package secret

import "slices"

// A finder finds literals in a text, in one pass, whatever their number: it is
// the automaton of Aho and Corasick. ASCII letters of both cases are the same.
type finder struct {
	class   [256]uint8 // of each byte; 0 is every byte that no literal has
	classes int
	next    []uint16   // by state and class
	ends    [][]uint16 // by state: the literals that end there, the longest first
}

// newFinder builds the automaton for literals in lower case.
func newFinder(literals []string) *finder {
	f := &finder{classes: 1}
	for _, l := range literals {
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
	f.grow()
	for i, l := range literals {
		f.addLiteral(uint16(i), l)
	}
	f.link()
	return f
}

func (f *finder) grow() uint16 {
	f.next = append(f.next, make([]uint16, f.classes)...)
	f.ends = append(f.ends, nil)
	return uint16(len(f.ends) - 1)
}

func (f *finder) addLiteral(id uint16, literal string) {
	state := 0
	for _, c := range []byte(literal) {
		at := state*f.classes + int(f.class[c])
		if f.next[at] == 0 {
			to := f.grow()
			f.next[at] = to
		}
		state = int(f.next[at])
	}
	f.ends[state] = append(f.ends[state], id)
}

// link completes the tree: where a literal breaks off, the walk goes on in the
// longest other one that has been begun.
func (f *finder) link() {
	fail := make([]uint16, len(f.ends))
	var queue []int
	for _, to := range f.next[:f.classes] {
		if to != 0 {
			queue = append(queue, int(to))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		state := queue[0]
		back := int(fail[state])
		f.ends[state] = slices.Concat(f.ends[state], f.ends[back])
		for c := range f.classes {
			at := state*f.classes + c
			if to := f.next[at]; to != 0 {
				fail[to] = f.next[back*f.classes+c]
				queue = append(queue, int(to))
			} else {
				f.next[at] = f.next[back*f.classes+c]
			}
		}
	}
}

// eachLiteral calls hit for each literal in the text, with the end of where it stands.
func (f *finder) eachLiteral(text string, hit func(literal uint16, end int)) {
	state := 0
	for i := range len(text) {
		state = int(f.next[state*f.classes+int(f.class[text[i]])])
		for _, id := range f.ends[state] {
			hit(id, i+1)
		}
	}
}
