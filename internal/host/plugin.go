package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// opencode and amp have plugins instead of hooks: a small plugin of umpire starts the hook. Silence
// passes the call on to the host's own check, and any exit code other than 0 stops it.
var (
	opencode = Host{
		Caller: &relay.OpenCode, Title: "opencode",
		Program: []string{"opencode"},
		Settings: Settings{
			FormatPlugin, ".config/opencode/plugin/umpire.js", ".opencode/plugin/umpire.js", "XDG_CONFIG_HOME",
		},
		Events: []HookEvent{
			{Name: "tool.execute.before", Kind: BeforeTool, form: &opencodeBefore},
			{Name: "tool.execute.after", Kind: AfterTool},
		},
		Marks: [][]string{{"sessionID", "callID"}},
		Tools: []Tool{
			{Name: "bash", As: "Bash", Dir: "workdir"},
			{Name: "read", As: "Read"},
			{Name: "write", As: "Write"},
			{Name: "edit", As: "Edit"},
			{Name: "multiedit", As: "Edit"},
			{Name: "patch", As: "Edit", Needs: "patchText"},
			{Name: "apply_patch", As: "Edit", Needs: "patchText"},
			{Name: "list", As: "LS"},
			{Name: "glob", As: "Glob"},
			{Name: "grep", As: "Grep"},
			{Name: "webfetch", As: "WebFetch", Needs: "url"},
			{Name: "websearch", As: "WebSearch"},
			{Name: "codesearch", As: "WebSearch"},
			{Name: "todowrite", As: "TodoWrite"},
			{Name: "todoread", As: "TodoRead"},
			{Name: "task", As: "Task"},
			{Name: "skill", As: "Skill"},
			{Name: "lsp", As: "LSP"},
			{Name: "question", As: "AskUserQuestion", Dialog: true},
		},
		Timeout: 600 * time.Second, Unit: time.Second,
		Modes: []HostMode{
			{"", Bypass, SilenceChecks}, // its own rules apply after the plugin, and let nearly all run
			{"auto", Bypass, SilenceRuns},
		},
		Shells:   shellFamily,
		Holds:    holdsCall,
		Holes:    []umpire.Phrase{"nothing is seen when it is started without plugins"},
		Evidence: Driven, Version: "1.18.33",
		fields: fields{
			event: "hook", session: "sessionID", dir: "directory", project: "directory", mode: "mode",
			tool: "tool", input: "args", id: "callID", response: "output",
		},
		complete: completePatch,
	}
	amp = Host{
		Caller: &relay.Amp, Title: "Amp",
		Program:  []string{"amp"},
		Settings: Settings{FormatPlugin, ".config/amp/plugins/umpire.ts", "", "XDG_CONFIG_HOME"},
		Events:   []HookEvent{{Name: "tool.call", Kind: BeforeTool, form: &pluginBefore}},
		Marks:    [][]string{{"hook", "toolUseID"}},
		Tools: []Tool{
			{Name: "Bash", As: "Bash", From: "cmd", To: "command", Dir: "cwd"},
			{Name: "Read", As: "Read"},
			{Name: "create_file", As: "Write"},
			{Name: "edit_file", As: "Edit"},
			{Name: "undo_edit", As: "Edit"},
			{Name: "glob", As: "Glob"},
			{Name: "Grep", As: "Grep"},
			{Name: "read_web_page", As: "WebFetch", Needs: "url"},
			{Name: "web_search", As: "WebSearch"},
			{Name: "todo_write", As: "TodoWrite"},
			{Name: "todo_read", As: "TodoRead"},
			{Name: "Task", As: "Task"},
			{Name: "skill", As: "Skill"},
		},
		Timeout: 600 * time.Second, Unit: time.Second,
		Modes: []HostMode{{"", Default, SilenceRuns}}, // it runs tools without asking
		Holds: holdsCall,
		Holes: []umpire.Phrase{"it does not tell its mode, so umpire asks wherever its rules say so",
			"nothing is seen when it is started without plugins", holeNoRewrite},
		Evidence: Documented, Version: "2026-11",
		fields: fields{
			event: "hook", session: "thread", dir: "cwd", project: "cwd", tool: "tool", input: "input", id: "toolUseID",
		},
	}
)

// opencodeBefore is the form that umpire's plugin for opencode reads. The plugin answers opencode's
// own questions about calls that a person approved, and no others.
var opencodeBefore = form{
	decision: "decision", allow: `"allow"`, deny: `"deny"`, reason: "reason", input: "args", approved: "approved",
	exit: exitBlock,
}

// pluginBefore is the form that umpire's other plugin reads.
var pluginBefore = form{
	decision: "decision", allow: `"allow"`, deny: `"deny"`, reason: "reason", input: "args", exit: exitBlock,
}
