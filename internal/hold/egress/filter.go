package egress

import (
	"bytes"
	"io"
)

// A word is replaced in a text.
type word struct{ find, put string }

// A filter reads a text in which it replaces words. It holds the beginning of a word back until the next bytes settle
// whether the word goes on. With refuse set, it fails at the first word instead.
type filter struct {
	from   io.Reader
	words  []word
	refuse func(word) error

	buffer, held, ready []byte
	err                 error
}

// Read returns what it can without waiting for the end of the text.
func (f *filter) Read(b []byte) (int, error) {
	if f.buffer == nil {
		f.buffer = make([]byte, copyBytes)
	}
	for len(f.ready) == 0 && f.err == nil {
		n, err := f.from.Read(f.buffer)
		f.held = append(f.held, f.buffer[:n]...)
		f.err = err
		f.release()
	}
	n := copy(b, f.ready)
	f.ready = f.ready[n:]
	if n == 0 && len(b) > 0 {
		return 0, f.err
	}
	return n, nil
}

// release makes all bytes ready that cannot belong to a word that has not ended.
func (f *filter) release() {
	f.ready = f.ready[:0]
	until := len(f.held)
	if f.err == nil {
		until -= f.begun()
	}
	at := 0
	for at < until {
		next, found := f.findWord(at)
		if found.find == "" || next >= until {
			break
		}
		f.ready = append(append(f.ready, f.held[at:next]...), found.put...)
		if at = next + len(found.find); f.refuse != nil {
			f.ready, f.err = f.ready[:len(f.ready)-len(found.put)], f.refuse(found)
			return
		}
	}
	if at < until {
		f.ready = append(f.ready, f.held[at:until]...)
		at = until
	}
	f.held = append(f.held[:0], f.held[at:]...)
}

// findWord returns the first word at or behind a place, the longest one of several.
func (f *filter) findWord(at int) (place int, found word) {
	for _, w := range f.words {
		i := bytes.Index(f.held[at:], []byte(w.find))
		if i < 0 || found.find != "" && (at+i > place || at+i == place && len(w.find) < len(found.find)) {
			continue
		}
		place, found = at+i, w
	}
	return place, found
}

// begun returns the length of the longest end that is the beginning of a word.
func (f *filter) begun() (longest int) {
	for _, w := range f.words {
		for n := min(len(w.find)-1, len(f.held)); n > longest; n-- {
			if string(f.held[len(f.held)-n:]) == w.find[:n] {
				longest = n
			}
		}
	}
	return longest
}

// replaceWords replaces words in a whole text.
func replaceWords(text string, words []word) string {
	f := &filter{words: words, held: []byte(text), err: io.EOF}
	f.release()
	return string(f.ready)
}
