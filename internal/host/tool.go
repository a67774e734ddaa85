package host

// A Tool says what one tool of a host is called here, and what it does. umpire's names
// of inputs are Claude Code's, so few need renaming.
type Tool struct {
	Name string
	As   string // umpire's name, by which it is judged
	// From and To rename one input field.
	From, To string
	// Needs names an input field without which the row does not apply.
	Needs string
	// Background says that the tool returns before its work is done.
	Background bool
	// Dialog says that asking the user is the whole point of the tool: an allow would
	// answer in the user's place.
	Dialog bool
}

// ClaudeTools are the tools of Claude Code up to [ClaudeVersion], with those of older
// releases. A name that is not here stays unchanged and is judged as an unknown tool.
var ClaudeTools = []Tool{
	{Name: "Bash", As: "Bash"},
	// Monitor runs a shell command and reports its lines; without a command it
	// opens a socket, and stays unknown.
	{Name: "Monitor", As: "Bash", Needs: "command", Background: true},

	{Name: "Read", As: "Read"},
	{Name: "NotebookRead", As: "Read", From: "notebook_path", To: "file_path"},
	{Name: "Glob", As: "Glob"},
	{Name: "Grep", As: "Grep"},
	{Name: "LS", As: "LS"},

	{Name: "Write", As: "Write"},
	{Name: "Edit", As: "Edit"},
	{Name: "MultiEdit", As: "Edit"},
	{Name: "NotebookEdit", As: "Edit", From: "notebook_path", To: "file_path"},

	{Name: "WebFetch", As: "WebFetch"},
	{Name: "WebSearch", As: "WebSearch"},

	{Name: "TodoWrite", As: "TodoWrite"},
	{Name: "TaskCreate", As: "TodoWrite"},
	{Name: "TaskUpdate", As: "TodoWrite"},
	{Name: "TaskGet", As: "TodoRead"},
	{Name: "TaskList", As: "TodoRead"},

	{Name: "Task", As: "Task"},
	{Name: "Agent", As: "Task"},
	{Name: "ListAgents", As: "ListAgents"},
	{Name: "SendMessage", As: "SendMessage"},
	{Name: "Workflow", As: "Workflow"},

	{Name: "TaskStop", As: "KillShell"},
	{Name: "KillShell", As: "KillShell"},
	{Name: "KillBash", As: "KillShell"},
	{Name: "TaskOutput", As: "BashOutput"},
	{Name: "BashOutput", As: "BashOutput"},

	{Name: "CronCreate", As: "CronCreate"},
	{Name: "CronDelete", As: "CronDelete"},
	{Name: "CronList", As: "CronList"},
	{Name: "ScheduleWakeup", As: "ScheduleWakeup"},

	{Name: "ToolSearch", As: "ToolSearch"},
	{Name: "Skill", As: "Skill"},
	{Name: "SlashCommand", As: "Skill"},
	{Name: "LSP", As: "LSP"},
	{Name: "ReportFindings", As: "ReportFindings"},
	{Name: "SendUserMessage", As: "SendUserMessage"},
	{Name: "StructuredOutput", As: "StructuredOutput"},
	{Name: "EnterWorktree", As: "EnterWorktree"},
	{Name: "ExitWorktree", As: "ExitWorktree"},

	{Name: "EnterPlanMode", As: "EnterPlanMode", Dialog: true},
	{Name: "ExitPlanMode", As: "ExitPlanMode", Dialog: true},
	{Name: "AskUserQuestion", As: "AskUserQuestion", Dialog: true},
}

// ClaudeTool returns the row of a tool, and whether there is one.
func ClaudeTool(name string) (Tool, bool) {
	for _, t := range ClaudeTools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
