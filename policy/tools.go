package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// A shape is what a tool does with its input.
type shape uint8

const (
	shapeInvoke  shape = iota // known by name only
	shapeShell                // runs the command line in its input
	shapeRead                 // reads the paths in its input
	shapeTree                 // looks at everything below a path
	shapeList                 // looks at the names of everything below a path
	shapeWrite                // changes the paths in its input
	shapeNetwork              // fetches the URL in its input
	shapeGit                  // runs one git subcommand, see GitWords
)

// A tool is what is known of one tool by its name.
type tool struct {
	name  string
	shape shape
	risk  umpire.Risk
	kind  umpire.PermissionType
	why   string
}

// tools are the tools that umpire knows. A tool that is not listed, one of an
// MCP server too, is of medium risk. Bash is judged by its command.
var tools = []tool{
	{"Bash", shapeShell, umpire.Medium, umpire.ShellExecute, "runs a command"},
	{"Read", shapeRead, umpire.Safe, umpire.FileRead, "reads a file"},
	{"NotebookRead", shapeRead, umpire.Safe, umpire.FileRead, "reads a notebook"},
	{"LS", shapeList, umpire.Safe, umpire.FileRead, "lists a folder"},
	{"Glob", shapeList, umpire.Safe, umpire.FileRead, "looks for files by name"},
	{"Grep", shapeTree, umpire.Safe, umpire.FileRead, "looks for text in files"},
	{"Write", shapeWrite, umpire.Medium, umpire.FileWrite, "creates or replaces a file"},
	{"Edit", shapeWrite, umpire.Medium, umpire.FileWrite, "changes a file"},
	{"MultiEdit", shapeWrite, umpire.Medium, umpire.FileWrite, "changes a file"},
	{"NotebookEdit", shapeWrite, umpire.Medium, umpire.FileWrite, "changes a notebook"},
	{"filesystem-edit", shapeWrite, umpire.Medium, umpire.FileWrite, "changes lines of a file"},
	{"filesystem-edit_search", shapeWrite, umpire.Medium, umpire.FileWrite, "replaces text in a file"},
	{"GitStatus", shapeGit, umpire.Safe, umpire.ShellExecute, "shows the state of the repository"},
	{"GitDiff", shapeGit, umpire.Safe, umpire.ShellExecute, "shows changes"},
	{"GitLog", shapeGit, umpire.Safe, umpire.ShellExecute, "shows commits"},
	{"GitCommit", shapeGit, umpire.High, umpire.GitCommit, "records a commit"},
	{"GitPush", shapeGit, umpire.High, umpire.GitPush, "publishes commits"},
	{"GitCheckout", shapeGit, umpire.High, umpire.ShellExecute, "replaces files by another version"},
	{"WebFetch", shapeNetwork, umpire.Safe, umpire.Network, "fetches a page"},
	{"WebSearch", shapeNetwork, umpire.Safe, umpire.Network, "searches the web"},
	{"TodoWrite", shapeInvoke, umpire.Safe, umpire.Other, "notes what is to be done"},
	{"TodoRead", shapeInvoke, umpire.Safe, umpire.Other, "reads what is to be done"},
	{"Task", shapeInvoke, umpire.Safe, umpire.Task, "starts a sub-agent, whose calls are judged one by one"},
	{"KillShell", shapeInvoke, umpire.Safe, umpire.Other, "ends a background command of this session"},
	{"BashOutput", shapeInvoke, umpire.Safe, umpire.Other, "reads the output of a background command"},
	{"AskUserQuestion", shapeInvoke, umpire.Safe, umpire.Other, "asks the person"},
	{"ExitPlanMode", shapeInvoke, umpire.Safe, umpire.Other, "shows the plan to the person"},
}

// LegacyDangerous is the list of tools that older clients treat as dangerous
// without looking at what a call does.
//
// Deprecated: a call is judged by its accesses; see Decide.
var LegacyDangerous = []string{"Bash", "Write", "Edit", "GitCommit", "GitPush", "GitCheckout"}

// toolOf returns what is known of a tool.
func toolOf(name string) tool {
	if i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name }); i >= 0 {
		return tools[i]
	}
	unknown := tool{name: name, risk: umpire.Medium, kind: umpire.Other, why: "a tool that is known by name only"}
	if strings.HasPrefix(name, "mcp__") {
		unknown.kind, unknown.why = umpire.MCP, "a tool of an MCP server"
	}
	return unknown
}
