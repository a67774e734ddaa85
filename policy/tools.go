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
	shapeGit                  // runs one git subcommand
)

// A tool is what is known of one tool by its name.
type tool struct {
	name  string
	shape shape
	risk  umpire.Risk
	kind  umpire.PermissionType
	why   string
	words []string // shapeGit: the command it stands for
}

// tools are the tools that umpire knows. A tool that is not listed, one of an
// MCP server too, is of medium risk. Bash is judged by its command.
var tools = []tool{
	{"Bash", shapeShell, umpire.Medium, umpire.ShellExecute, "runs a command", nil},
	{"Read", shapeRead, umpire.Safe, umpire.FileRead, "reads a file", nil},
	{"NotebookRead", shapeRead, umpire.Safe, umpire.FileRead, "reads a notebook", nil},
	{"LS", shapeList, umpire.Safe, umpire.FileRead, "lists a folder", nil},
	{"Glob", shapeList, umpire.Safe, umpire.FileRead, "looks for files by name", nil},
	{"Grep", shapeTree, umpire.Safe, umpire.FileRead, "looks for text in files", nil},
	{"Write", shapeWrite, umpire.Medium, umpire.FileWrite, "creates or replaces a file", nil},
	{"Edit", shapeWrite, umpire.Medium, umpire.FileWrite, "changes a file", nil},
	{"MultiEdit", shapeWrite, umpire.Medium, umpire.FileWrite, "changes a file", nil},
	{"NotebookEdit", shapeWrite, umpire.Medium, umpire.FileWrite, "changes a notebook", nil},
	{"filesystem-edit", shapeWrite, umpire.Medium, umpire.FileWrite, "changes lines of a file", nil},
	{"filesystem-edit_search", shapeWrite, umpire.Medium, umpire.FileWrite, "replaces text in a file", nil},
	{"GitStatus", shapeGit, umpire.Safe, umpire.ShellExecute, "shows the state of the repository", []string{"git", "status"}},
	{"GitDiff", shapeGit, umpire.Safe, umpire.ShellExecute, "shows changes", []string{"git", "diff"}},
	{"GitLog", shapeGit, umpire.Safe, umpire.ShellExecute, "shows commits", []string{"git", "log"}},
	{"GitCommit", shapeGit, umpire.High, umpire.GitCommit, "records a commit", []string{"git", "commit"}},
	{"GitPush", shapeGit, umpire.High, umpire.GitPush, "publishes commits", []string{"git", "push"}},
	{"GitCheckout", shapeGit, umpire.High, umpire.ShellExecute, "replaces files by another version", []string{"git", "checkout"}},
	{"WebFetch", shapeNetwork, umpire.Safe, umpire.Network, "fetches a page", nil},
	{"WebSearch", shapeNetwork, umpire.Safe, umpire.Network, "searches the web", nil},
	{"TodoWrite", shapeInvoke, umpire.Safe, umpire.Other, "notes what is to be done", nil},
	{"TodoRead", shapeInvoke, umpire.Safe, umpire.Other, "reads what is to be done", nil},
	{"Task", shapeInvoke, umpire.Safe, umpire.Task, "starts a sub-agent, whose calls are judged one by one", nil},
	{"KillShell", shapeInvoke, umpire.Safe, umpire.Other, "ends a background command of this session", nil},
	{"BashOutput", shapeInvoke, umpire.Safe, umpire.Other, "reads the output of a background command", nil},
	{"AskUserQuestion", shapeInvoke, umpire.Safe, umpire.Other, "asks the person", nil},
	{"ExitPlanMode", shapeInvoke, umpire.Safe, umpire.Other, "shows the plan to the person", nil},
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
