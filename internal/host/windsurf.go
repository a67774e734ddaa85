package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/relay"
)

// windsurf is Windsurf's Cascade. Each kind of tool is a separate event, and only the exit code
// decides.
var windsurf = Host{
	Caller: &relay.Windsurf, Title: "Windsurf",
	Program:  []string{"windsurf"},
	Settings: Settings{FormatJSON, ".codeium/windsurf/hooks.json", ".windsurf/hooks.json", ""},
	Events: []HookEvent{
		{Name: "pre_run_command", Kind: BeforeTool, form: &exitOnly, tool: "run_command"},
		{Name: "pre_write_code", Kind: BeforeTool, form: &exitOnly, tool: "write_code"},
		{Name: "pre_read_code", Kind: BeforeTool, form: &exitOnly, tool: "read_code"},
		{Name: "pre_mcp_tool_use", Kind: BeforeTool, form: &exitOnly, tool: "mcp_tool_use"},
		{Name: "pre_user_prompt", Kind: PromptSent},
	},
	OtherEvents: []string{
		"post_run_command", "post_write_code", "post_read_code", "post_mcp_tool_use", "post_cascade_response",
		"post_setup_worktree",
	},
	Marks: [][]string{{"agent_action_name"}},
	Tools: []Tool{
		{Name: "run_command", As: "Bash", From: "command_line", To: "command", Dir: "cwd"},
		{Name: "write_code", As: "Edit"},
		{Name: "read_code", As: "Read"},
	},
	Timeout: 60 * time.Second, Unit: time.Second,
	Modes: []HostMode{{"", Default, SilenceRuns}}, // hooks are not told of its turbo mode
	Holds: holdsCall,
	Holes: []umpire.Phrase{"it does not tell its mode, so umpire asks wherever its rules say so",
		"a result may be taken for that of an equal call", "a call runs if its hook is late, or killed with its shell",
		holeNoRewrite},
	Evidence: Documented, Version: "2026-09",
	fields: fields{
		event: "agent_action_name", session: "trajectory_id", input: "tool_info",
		server: "tool_info.mcp_server_name", serverTool: "tool_info.mcp_tool_name",
	},
}
