package host

import (
	"slices"
	"strings"
)

// A Tool describes a tool of a host by more than umpire's name for it. umpire's input names are
// Claude Code's, so few need renaming.
type Tool struct {
	Name string
	As   string // umpire's name, used to judge it
	// From and To rename one input field.
	From, To string
	// Dir names the input field with the folder that the tool works in.
	Dir string
	// Needs names an input field without which the row does not apply.
	Needs string
	// Background means that the tool returns before its work is done.
	Background bool
	// Types means that it types into a running program.
	Types bool
}

// commandField returns the host's name of the input field with the command, or "" if it is umpire's.
func (t *Tool) commandField() string {
	if t.To == "command" {
		return t.From
	}
	return ""
}

// dialogs are umpire's names of tools whose whole point is to ask the user: an allow would answer
// in the user's place.
var dialogs = []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}

// isDialog reports whether the tool of the call asks the user by itself.
func (e *Event) isDialog() bool {
	row, _ := e.Host.tool(e.ToolName)
	return slices.Contains(dialogs, row.As)
}

// tool returns the row of a tool by the host's name for it, and whether it exists.
func (h *Host) tool(name string) (Tool, bool) {
	for i := range h.Special {
		if h.Special[i].Name == name {
			return h.Special[i], true
		}
	}
	as, known := lookUp(h.Tools, name)
	as, needs, _ := strings.Cut(as, "?")
	return Tool{Name: name, As: as, Needs: needs}, known
}

// shellTool returns the first tool that runs a command line, and whether there is one.
func (h *Host) shellTool() (Tool, bool) {
	for _, row := range h.Special {
		if row.As == "Bash" && row.Needs == "" {
			return row, true
		}
	}
	for word := range strings.FieldsSeq(h.Tools) {
		name, _, _ := strings.Cut(word, "=")
		if row, _ := h.tool(name); row.As == "Bash" {
			return row, true
		}
	}
	return Tool{}, false
}

// lookUp finds a name in words NAME=VALUE, where NAME alone is its own value.
func lookUp(words, name string) (value string, known bool) {
	for words != "" && name != "" {
		var word string
		word, words, _ = strings.Cut(words, " ")
		key, value, given := strings.Cut(word, "=")
		if key != name {
			continue
		}
		if !given {
			value = name
		}
		return value, true
	}
	return "", false
}
