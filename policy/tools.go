package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// A shape is the way a tool uses its input.
type shape uint8

const (
	shapeInvoke  shape = iota // known by name only
	shapeShell                // runs the command line in its input
	shapeRead                 // reads the paths in its input
	shapeTree                 // looks at everything below a path
	shapeList                 // looks at the names of everything below a path
	shapeWrite                // changes the paths in its input
	shapeDelete               // deletes the paths in its input
	shapeNetwork              // fetches the URL in its input
	shapeGit                  // runs one git subcommand, see GitWords
)

var changes = [...]umpire.AccessKind{shapeWrite: umpire.KindWrite, shapeDelete: umpire.KindDelete} // to paths

// A tool is the built-in knowledge about one tool, by its name.
type tool struct {
	name        string
	shape       shape
	risk        umpire.Risk
	consequence umpire.Consequence
	kind        umpire.PermissionType
	why         umpire.Phrase
}

// tools are the tools that umpire knows. Unlisted tools, including those of MCP servers, are of
// medium risk. Bash is judged by its command.
var tools = []tool{
	{"Bash", shapeShell, umpire.Medium, umpire.Lost, umpire.ShellExecute, "runs a command"},
	{"Read", shapeRead, umpire.Safe, umpire.Harmless, umpire.FileRead, "reads a file"},
	{"NotebookRead", shapeRead, umpire.Safe, umpire.Harmless, umpire.FileRead, "reads a notebook"},
	{"LS", shapeList, umpire.Safe, umpire.Harmless, umpire.FileRead, "lists a folder"},
	{"Glob", shapeList, umpire.Safe, umpire.Harmless, umpire.FileRead, "looks for files by name"},
	{"Grep", shapeTree, umpire.Safe, umpire.Harmless, umpire.FileRead, "looks for text in files"},
	{"Write", shapeWrite, umpire.Medium, umpire.Reversible, umpire.FileWrite, "creates or replaces a file"},
	{"Edit", shapeWrite, umpire.Medium, umpire.Reversible, umpire.FileWrite, "changes a file"},
	{"MultiEdit", shapeWrite, umpire.Medium, umpire.Reversible, umpire.FileWrite, "changes a file"},
	{"NotebookEdit", shapeWrite, umpire.Medium, umpire.Reversible, umpire.FileWrite, "changes a notebook"},
	{"filesystem-edit", shapeWrite, umpire.Medium, umpire.Reversible, umpire.FileWrite, "changes lines of a file"},
	{
		"filesystem-edit_search", shapeWrite, umpire.Medium, umpire.Reversible, umpire.FileWrite,
		"replaces text in a file",
	},
	{"Delete", shapeDelete, umpire.High, umpire.Lost, umpire.FileWrite, "deletes files for good"},
	{"GitStatus", shapeGit, umpire.Safe, umpire.Harmless, umpire.ShellExecute, "shows the state of the repository"},
	{"GitDiff", shapeGit, umpire.Safe, umpire.Harmless, umpire.ShellExecute, "shows changes"},
	{"GitLog", shapeGit, umpire.Safe, umpire.Harmless, umpire.ShellExecute, "shows commits"},
	{"GitCommit", shapeGit, umpire.High, umpire.Reversible, umpire.GitCommit, "records a commit"},
	{"GitPush", shapeGit, umpire.High, umpire.Outward, umpire.GitPush, "publishes commits"},
	{"GitCheckout", shapeGit, umpire.High, umpire.Lost, umpire.ShellExecute, "replaces files by another version"},
	{"WebFetch", shapeNetwork, umpire.Safe, umpire.Outward, umpire.Network, "fetches a page"},
	{umpire.ConnectTool, shapeNetwork, umpire.Medium, umpire.Outward, umpire.Network, "connects a command to a host"},
	{"WebSearch", shapeNetwork, umpire.Safe, umpire.Outward, umpire.Network, "searches the web"},
	{"TodoWrite", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "writes a list of tasks"},
	{"TodoRead", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "reads a list of tasks"},
	{
		"Task", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Task,
		"starts a sub-agent, whose calls are judged one by one",
	},
	{
		"KillShell", shapeInvoke, umpire.Safe, umpire.Reversible, umpire.Other,
		"ends a background command of this session",
	},
	{"BashOutput", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "reads the output of a background command"},
	{"AskUserQuestion", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "asks the person"},
	{"ExitPlanMode", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "shows the plan to the person"},

	// Internal functions of hosts.
	{"EnterPlanMode", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "offers to plan first"},
	{"ToolSearch", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "looks up tools of the agent"},
	{"ListAgents", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "lists sub-agents"},
	{"SendMessage", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other,
		"writes to a sub-agent, whose calls are judged one by one"},
	{"ReportFindings", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "shows findings to the person"},
	{"SendUserMessage", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "shows a message to the person"},
	{
		"StructuredOutput", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other,
		"gives the result in a form that was asked for",
	},
	{"CronList", shapeInvoke, umpire.Safe, umpire.Harmless, umpire.Other, "lists what is scheduled"},
	{
		"CronCreate", shapeInvoke, umpire.Safe, umpire.Reversible, umpire.Other,
		"schedules a message to the agent, whose calls are judged then",
	},
	{"CronDelete", shapeInvoke, umpire.Safe, umpire.Reversible, umpire.Other, "takes back what is scheduled"},
	{
		"ScheduleWakeup", shapeInvoke, umpire.Safe, umpire.Reversible, umpire.Other,
		"schedules a message to the agent, whose calls are judged then",
	},
	{
		"Workflow", shapeInvoke, umpire.Medium, umpire.Reversible, umpire.Task,
		"runs a script of sub-agents, whose calls are judged one by one",
	},
	{
		"Skill", shapeInvoke, umpire.Medium, umpire.Reversible, umpire.Other,
		"loads instructions, which may run commands while they load",
	},
	{
		"LSP", shapeInvoke, umpire.Medium, umpire.Reversible, umpire.Other,
		"asks a language server, which runs beside the project",
	},
	{"EnterWorktree", shapeInvoke, umpire.Medium, umpire.Reversible, umpire.Other, "makes a worktree and works there"},
	{"ExitWorktree", shapeInvoke, umpire.Medium, umpire.Lost, umpire.Other, "leaves a worktree, and may remove it"},
}

// LegacyDangerous is the list of tools that older clients treat as dangerous regardless of the
// call.
//
// Deprecated: a call is judged by its accesses; see Decide.
var LegacyDangerous = []string{"Bash", "Write", "Edit", "GitCommit", "GitPush", "GitCheckout"}

// toolOf returns the tool of that name, or a default for an unknown tool.
func toolOf(name string) tool {
	if i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name }); i >= 0 {
		return tools[i]
	}
	unknown := tool{name: name, risk: umpire.Medium, kind: umpire.Other}
	unknown.why = "calls a tool that umpire knows by name only"
	if strings.HasPrefix(name, "mcp__") {
		unknown.kind, unknown.why = umpire.MCP, "calls a tool of an MCP server"
	}
	return unknown
}
