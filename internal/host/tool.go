package host

// A Tool maps one tool of a host to umpire's name and describes it. umpire's input names are Claude
// Code's, so few need renaming.
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
	// Dialog means that asking the user is the whole point of the tool: an allow would answer in
	// the user's place.
	Dialog bool
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
