package scan

import "strings"

// A Shells is a set of shells. The zero value is empty.
type Shells uint8

const (
	Bash Shells = 1 << iota
	Dash
	Zsh
	Ksh
	Mksh
	Busybox
)

// AnyShell contains all shells, for a shell that is unknown.
const AnyShell = Bash | Dash | Zsh | Ksh | Mksh | Busybox

// ShellsOf returns the shells that a name or path may mean. An unknown name, or sh, may be any shell.
func ShellsOf(name string) Shells {
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
	return AnyShell
}

// String lists the shells.
func (d Shells) String() string {
	var names []string
	for i, name := range []string{"bash", "dash", "zsh", "ksh", "mksh", "busybox"} {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
