package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// To bash `declare a='(…)'` assigns an array when a is one or is made one, and what
// stands between the brackets is then read as words: `$(…)` in it runs, though it
// was quoted.

// arrayNames are variables that may be arrays and those that were declared with a
// value that such a reading would run. A name that is both is doubt, whichever
// came first: a loop or a function may come back.
type arrayNames struct{ arrays, declared []string }

// builtInArrays are the arrays that bash itself makes.
const builtInArrays = "BASH_ALIASES BASH_ARGC BASH_ARGV BASH_CMDS BASH_LINENO BASH_REMATCH BASH_SOURCE COMPREPLY " +
	"COMP_WORDS COPROC DIRSTACK FUNCNAME GROUPS MAPFILE PIPESTATUS READARRAY"

// noteName adds a name to one of the lists and doubts it when it is on both.
func (n *arrayNames) noteName(w *walker, name string, list *[]string) {
	if slices.Contains(*list, name) {
		return
	}
	*list = append(*list, name)
	if slices.Contains(n.declared, name) && (slices.Contains(n.arrays, name) || scan.HasField(builtInArrays, name)) {
		w.doubt("", umpire.Say("a quoted value for the array %s may run what is in it", name))
	}
}

// isArray notes a variable that may be an array.
func isArray(w *walker, name string) { w.arrays.noteName(w, name, &w.arrays.arrays) }

// noteCompound notes a variable that is declared with a value in brackets.
func noteCompound(w *walker, name string, v value) {
	if v.array || len(v.words) == 0 || !runsAsCompound(v.words[0]) {
		return
	}
	w.arrays.noteName(w, name, &w.arrays.declared)
	if v.words[0].text != "" {
		isArray(w, name)
	}
}

// makeArrays notes what -a and -A make arrays.
func (d *declaration) makeArrays() {
	if !d.arrays {
		return
	}
	for _, name := range d.names {
		isArray(d.w, name)
	}
}

// runsAsCompound reports a value that may run something when it is read as words.
func runsAsCompound(wd word) bool {
	if wd.text == "" {
		return wd.open && !wd.isNumber()
	}
	return wd.text[0] == '(' && (wd.open || strings.ContainsAny(wd.text, "$`<>="))
}
