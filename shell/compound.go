package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// In bash `declare a='(…)'` assigns an array if a is one or becomes one. bash then reads the
// text between the brackets as words and runs `$(…)` in it, although it was quoted.

// arrayNames are the variables that may be arrays and those declared with a value that would
// run as an array. A name in both lists is in doubt, in either order, because a loop or a
// function may run again.
type arrayNames struct{ arrays, declared []string }

// builtInArrays are the arrays that bash defines.
const builtInArrays = "BASH_ALIASES BASH_ARGC BASH_ARGV BASH_CMDS BASH_LINENO BASH_REMATCH BASH_SOURCE COMPREPLY " +
	"COMP_WORDS COPROC DIRSTACK FUNCNAME GROUPS MAPFILE PIPESTATUS READARRAY"

// noteName adds a name to one of the lists and doubts it if it is in both.
func (n *arrayNames) noteName(w *walker, name string, list *[]string) {
	if slices.Contains(*list, name) {
		return
	}
	*list = append(*list, name)
	if slices.Contains(n.declared, name) && (slices.Contains(n.arrays, name) || scan.HasField(builtInArrays, name)) {
		w.doubt("", umpire.Say("a quoted value for the array %s may run what is in it", name))
	}
}

// isArray records a variable that may be an array.
func isArray(w *walker, name string) { w.arrays.noteName(w, name, &w.arrays.arrays) }

// noteCompound records a variable declared with a value in brackets.
func noteCompound(w *walker, name string, v value) {
	if v.array || len(v.words) == 0 || !runsAsCompound(v.words[0]) {
		return
	}
	w.arrays.noteName(w, name, &w.arrays.declared)
	if v.words[0].text != "" {
		isArray(w, name)
	}
}

// makeArrays records the arrays of -a and -A.
func (d *declaration) makeArrays() {
	if !d.arrays {
		return
	}
	for _, name := range d.names {
		isArray(d.w, name)
	}
}

// runsAsCompound reports whether a value may run something when read as words.
func runsAsCompound(wd word) bool {
	if wd.text == "" {
		return wd.open && !wd.isNumber()
	}
	return wd.text[0] == '(' && (wd.open || strings.ContainsAny(wd.text, "$`<>="))
}
