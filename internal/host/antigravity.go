package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// antigravity is Google's Antigravity CLI. It blocks a call if the hook prints nothing; its allow
// grants nothing.
var antigravity = Host{
	Caller: &relay.Antigravity, Title: "Antigravity",
	Program:  []string{"agy"},
	Settings: Settings{FormatJSON, ".gemini/config/hooks.json", ".agents/hooks.json", ""},
	Events:   []HookEvent{{Name: "PreToolUse", Kind: BeforeTool, form: &antigravityBefore}},
	Marks:    [][]string{{"toolCall"}},
	Tools: []Tool{
		{Name: "run_command", As: "Bash", From: "CommandLine", To: "command", Dir: "Cwd"},
		{Name: "view_file", As: "Read", From: "AbsolutePath", To: "file_path"},
		{Name: "write_to_file", As: "Write", From: "TargetFile", To: "file_path"},
		{Name: "replace_file_content", As: "Edit", From: "TargetFile", To: "file_path"},
		{Name: "list_dir", As: "LS", From: "DirectoryPath", To: "path"},
		{Name: "grep_search", As: "Grep", From: "SearchPath", To: "path"},
		{Name: "read_url_content", As: "WebFetch", From: "Url", To: "url", Needs: "Url"},
	},
	Timeout: 60 * time.Second, Unit: time.Second,
	Modes: []HostMode{{"", Default, SilenceRuns}},
	Holds: holdsCall,
	Holes: []umpire.Phrase{"it does not tell its mode, so umpire asks wherever its rules say so",
		"a result may be taken for that of an equal call", holeNoRewrite},
	Evidence: Documented, Version: "1.1.2",
	fields: fields{
		session: "conversationId", project: "workspacePaths", dir: "workspacePaths",
		tool: "toolCall.name", input: "toolCall.args",
	},
	eventOf: func(strictjson.Object) string { return "PreToolUse" },
}

// antigravityBefore uses force_ask: the plain ask of Antigravity skips calls that the user always allows.
var antigravityBefore = form{
	decision: "decision", allow: `"allow"`, deny: `"deny"`, ask: `"force_ask"`, reason: "reason", silent: `"allow"`,
}
