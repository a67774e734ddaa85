// Package dialect defines sets of shells, and the constructs that they read differently.
package dialect

import "strings"

// A Set is a set of shells. The zero value is empty.
type Set uint8

const (
	Bash Set = 1 << iota
	Dash
	Zsh
	Ksh
	Mksh
	Busybox
)

// Any contains all shells, for a shell that is unknown.
const Any = Bash | Dash | Zsh | Ksh | Mksh | Busybox

// Of returns the shells that a name or path may mean. An unknown name, or sh, may be any shell.
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

// String lists the shells.
func (d Set) String() string {
	var names []string
	for i, name := range []string{"bash", "dash", "zsh", "ksh", "mksh", "busybox"} {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
