package rulefile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Revision changes whenever the rules that hold change.
func (s *Set) Revision() string {
	sum := sha256.New()
	for i := range s.Files {
		fmt.Fprintf(sum, "%q %s\n", s.Files[i].Path, s.Files[i].state())
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

// state returns a text that changes whenever the file's rules in force change.
func (f *File) state() string {
	return fmt.Sprintf("%s %s %d %d %d", f.Hash, f.Health, f.Rules, f.Inert, f.Hooks)
}

// ChangedTo returns the files that differ in another set: by path, with a text that differs
// for each state of the file.
func (s *Set) ChangedTo(is *Set) map[string]string {
	before, changed := map[string]string{}, map[string]string{}
	for i := range s.Files {
		before[s.Files[i].Path] = s.Files[i].state()
	}
	for i := range is.Files {
		f := &is.Files[i]
		if state := f.state(); before[f.Path] != state {
			changed[f.Path] = state
		}
	}
	return changed
}
