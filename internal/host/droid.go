package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// droid is Factory's Droid, whose hooks are Claude Code's.
var droid = Host{
	Caller: &relay.Droid, Title: "Factory Droid",
	Program:  []string{"droid"},
	Settings: Settings{FormatJSON, ".factory/hooks.json", ".factory/hooks.json", ""},
	Events: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &qwenBefore},
		{Name: "PostToolUse", Kind: AfterTool},
		{Name: "SessionStart", Kind: SessionStart},
		{Name: "UserPromptSubmit", Kind: PromptSent},
		{Name: "Stop", Kind: TurnEnd},
		{Name: "SessionEnd", Kind: SessionEnd},
	},
	OtherEvents: []string{"Notification", "SubagentStop", "PreCompact"},
	Tools: []Tool{
		{Name: "Execute", As: "Bash"},
		{Name: "Create", As: "Write"},
		{Name: "Edit", As: "Edit"},
		{Name: "MultiEdit", As: "Edit"},
		{Name: "Read", As: "Read"},
		{Name: "LS", As: "LS", From: "directory_path", To: "path"},
		{Name: "Glob", As: "Glob", From: "folder", To: "path"},
		{Name: "Grep", As: "Grep"},
		{Name: "FetchUrl", As: "WebFetch", Needs: "url"},
		{Name: "WebSearch", As: "WebSearch"},
		{Name: "TodoWrite", As: "TodoWrite"},
		{Name: "Task", As: "Task"},
		{Name: "Skill", As: "Skill"},
		{Name: "AskUser", As: "AskUserQuestion", Dialog: true},
		{Name: "ExitSpecMode", As: "ExitPlanMode", Dialog: true},
	},
	Timeout: 600 * time.Second, Unit: time.Second,
	Modes: []HostMode{
		{"", Default, SilenceRuns}, {"default", Default, SilenceRuns}, {"acceptEdits", AcceptEdits, SilenceRuns},
		{"plan", Plan, SilenceRuns}, {"spec", Plan, SilenceRuns}, {"bypassPermissions", Bypass, SilenceRuns},
	},
	Holds:    holdsCall,
	Holes:    []umpire.Phrase{"a call runs if its hook is late, or killed with its shell", holeNoRewrite},
	Evidence: Documented, Version: "2026-10",
	fields: claudeFields,
}
