package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// A claudeTool says what one tool of Claude Code is called here. umpire's names
// of inputs are Claude Code's, so few need renaming.
type claudeTool struct {
	name string
	tool string
	// from and to rename one input field.
	from, to string
	// needs names an input field without which the row does not apply.
	needs string
	// background says that the tool returns before its work is done.
	background bool
}

// claudeTools is the whole mapping. A name that is not here stays unchanged
// and is judged as an unknown tool.
var claudeTools = []claudeTool{
	{name: "Bash", tool: "Bash"},
	// Monitor runs a shell command and reports its lines; without a command it
	// opens a socket, and stays unknown.
	{name: "Monitor", tool: "Bash", needs: "command", background: true},

	{name: "Read", tool: "Read"},
	{name: "NotebookRead", tool: "Read", from: "notebook_path", to: "file_path"},
	{name: "Glob", tool: "Glob"},
	{name: "Grep", tool: "Grep"},
	{name: "LS", tool: "LS"},

	{name: "Write", tool: "Write"},
	{name: "Edit", tool: "Edit"},
	{name: "MultiEdit", tool: "Edit"},
	{name: "NotebookEdit", tool: "Edit", from: "notebook_path", to: "file_path"},

	{name: "WebFetch", tool: "WebFetch"},
	{name: "WebSearch", tool: "WebSearch"},

	{name: "TodoWrite", tool: "TodoWrite"},
	{name: "Task", tool: "Task"},
	{name: "Agent", tool: "Task"},
	{name: "TaskStop", tool: "TaskStop"},
	{name: "KillShell", tool: "TaskStop"},
	{name: "KillBash", tool: "TaskStop"},
	{name: "TaskOutput", tool: "TaskOutput"},
	{name: "BashOutput", tool: "TaskOutput"},
	{name: "Skill", tool: "Skill"},
	{name: "SlashCommand", tool: "SlashCommand"},
	{name: exitPlanMode, tool: exitPlanMode},
	{name: askUserQuestion, tool: askUserQuestion},
}

// Tools whose whole point is a dialog with the user. An allow would answer it
// in the user's place.
const (
	exitPlanMode    = "ExitPlanMode"
	askUserQuestion = "AskUserQuestion"
)

func isDialog(tool string) bool { return tool == exitPlanMode || tool == askUserQuestion }

// claudeCall maps a tool's name and input. raw and input are the same object.
func claudeCall(name string, raw json.RawMessage, input strictjson.Object) (umpire.Call, error) {
	call := umpire.Call{Tool: name, Input: raw}
	row, ok := claudeRow(name, input)
	if ok {
		call.Tool, call.Background = row.tool, row.background
	}
	background, err := input.Flag("run_in_background")
	if err != nil {
		return umpire.Call{}, err
	}
	call.Background = call.Background || background
	if _, has := input[row.from]; ok && row.from != "" && has {
		call.Input, err = rename(input, row.from, row.to)
	}
	return call, err
}

func claudeRow(name string, input object) (claudeTool, bool) {
	for _, row := range claudeTools {
		if row.name != name {
			continue
		}
		_, has := input[row.needs]
		return row, row.needs == "" || has
	}
	return claudeTool{}, false
}

// rename returns the object with one field under another name. Everything else
// stays byte for byte; keys come sorted, so that equal inputs stay equal.
func rename(input strictjson.Object, from, to string) (json.RawMessage, error) {
	if _, taken := input[to]; taken {
		return nil, fmt.Errorf("both %q and %q", from, to)
	}
	var b bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(input)) {
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		shown := name
		if name == from {
			shown = to
		}
		b.Write(bytes.TrimSuffix(strictjson.EncodeLine(shown), []byte("\n")))
		b.WriteByte(':')
		b.Write(input[name])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
