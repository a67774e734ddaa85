// Package dialect holds sets of shells, and the constructs that they read in different ways.
package dialect

import "strings"

// A Set is a set of shells. The zero value holds none.
type Set uint8

const (
	Bash Set = 1 << iota
	Dash
	Zsh
	Ksh
	Mksh
	Busybox
)

// Any is any shell, for one that is not known.
const Any = Bash | Dash | Zsh | Ksh | Mksh | Busybox

// Of returns the shells that a name or path may mean. Each unknown one, sh among them, may be any shell.
func Of(name string) Set {
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "bash":
		return Bash
	case "zsh":
		return Zsh
	case "dash":
		return Dash
	case "busybox":
		return Busybox
	case "mksh":
		return Mksh
	case "ksh":
		return Ksh | Mksh
	case "ash":
		return Dash | Busybox
	}
	return Any
}

// String names the shells.
func (d Set) String() string {
	var names []string
	for i, name := range []string{"bash", "dash", "zsh", "ksh", "mksh", "busybox"} {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
