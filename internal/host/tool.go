package host

// A Tool says what one tool of a host is called here, and what it does. umpire's names
// of inputs are Claude Code's, so few need renaming.
type Tool struct {
	Name string
	As   string // umpire's name, by which it is judged
	// From and To rename one input field.
	From, To string
	// Dir names the input field with the folder that the tool works in.
	Dir string
	// Needs names an input field without which the row does not apply.
	Needs string
	// Background says that the tool returns before its work is done.
	Background bool
	// Dialog says that asking the user is the whole point of the tool: an allow would
	// answer in the user's place.
	Dialog bool
	// Types says that it types into a program that runs already.
	Types bool
}

// commandField is the host's name of the input field with the command, "" for umpire's.
func (t *Tool) commandField() string {
	if t.To == "command" {
		return t.From
	}
	return ""
}
