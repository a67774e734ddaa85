package host

import "time"

// The modes of the host acp, one for each kind of request that its proxy asks about.
const (
	// ACPQuestion is a question of the agent, which the editor's dialog asks where umpire has no
	// answer.
	ACPQuestion = "question"
	// ACPRequest is something that the editor is to do, and does where umpire has no answer.
	ACPRequest = "request"
)

// acp are the agents behind umpire acp, whose payloads are umpire's own.
var acp = Host{
	Name: "acp", Title: "ACP",
	Marks: [][]string{{"acp_event"}},
	Events: []HookEvent{
		{Name: "before", Kind: BeforeTool, form: &acpBefore},
		{Name: "after", Kind: AfterTool},
		{Name: "failed", Kind: AfterFailure},
		{Name: "prompt", Kind: PromptSent},
		{Name: "stop", Kind: TurnEnd},
	},
	DefaultTimeout: 24 * time.Hour, Unit: time.Second,
	Modes: []HostMode{
		{ACPQuestion, Default, SilenceChecks},
		{ACPRequest, Default, SilenceRuns},
	},
	Holds:    HoldsCall,
	Evidence: Recorded,
	fields: fields{
		event: "acp_event", session: "session_id", dir: "cwd", project: "project_dir", mode: "permission_mode",
		tool: "tool_name", input: "tool_input", id: "tool_use_id", response: "tool_response", failure: "error",
	},
}

var acpBefore = form{
	decision: "decision", allow: `"allow"`, deny: `"deny"`, ask: `"ask"`, reason: "reason", message: "message",
	exit: exitBlock,
}
