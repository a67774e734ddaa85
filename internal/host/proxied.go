package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// Hosts that start no hook: umpire is a proxy between them and another program, and writes the
// payloads itself.
var proxied = []*Host{&acp, &claudePrompt, &codexApp}

// The modes of the host acp, one for each kind of request that its proxy asks about.
const (
	// ACPQuestion is a question of the agent, which the editor's dialog asks if umpire has no
	// answer.
	ACPQuestion = "question"
	// ACPRequest is a request to the editor, which carries it out if umpire has no answer.
	ACPRequest = "request"
)

// acp are the agents behind umpire proxy acp.
var acp = Host{
	Caller: &relay.Caller{Name: "acp", DefaultTimeout: proxiedTimeout}, Title: "ACP",
	Marks:   proxiedMarks,
	Decides: []HookEvent{{Name: "before", Kind: BeforeTool, form: &acpBefore}}, Reports: proxiedReports,
	modes:    []HostMode{{ACPQuestion, Default, SilenceChecks}, {ACPRequest, Default, SilenceRuns}},
	Evidence: Recorded, fields: proxiedFields,
}

// CodexAppServer is the name of Codex behind umpire proxy codex.
const CodexAppServer = "codex-app"

// codexApp is Codex behind umpire proxy codex, which answers Codex's questions to its editor.
var codexApp = Host{
	Caller: &relay.Caller{Name: CodexAppServer, DefaultTimeout: proxiedTimeout}, Title: "Codex app-server",
	Marks:   proxiedMarks,
	Decides: []HookEvent{{Name: "before", Kind: BeforeTool, form: &acpBefore}}, Reports: proxiedReports,
	Special: codex.Special,
	modes:   []HostMode{{ACPQuestion, Default, SilenceChecks}},
	Shells:  codex.Shells, Evidence: Driven, Version: codex.Version,
	Holes: []umpire.Phrase{"only Codex's own sandbox and its hooks limit what it does not ask its editor about",
		holeNoRewrite},
	fields: proxiedFields, unseen: true,
}

// claudePrompt is Claude Code asking umpire proxy mcp permission-prompt instead of its user, about calls
// that neither its rules nor a hook decided. Claude Code then asks no other party.
var claudePrompt = Host{
	Caller: &relay.Caller{Name: "claude-prompt", DefaultTimeout: proxiedTimeout}, Title: claude.Title,
	Marks:   proxiedMarks,
	Decides: []HookEvent{{Name: "before", Kind: BeforeTool, form: &promptBefore}}, Reports: proxiedReports,
	Tools: claudeTools, Special: claudeSpecial,
	Folders: claude.Folders, Scratch: claude.Scratch, Shells: claude.Shells, GitBash: claude.GitBash,
	Holds: holdsRest, Evidence: Driven, Version: ClaudeVersion, fields: proxiedFields,
}

// proxiedReports are the events of every proxy after a call.
const proxiedReports = "after=PostToolUse failed=PostToolUseFailure prompt=UserPromptSubmit stop=Stop end=SessionEnd"

// proxiedTimeout is the longest wait for a person when no other limit applies.
const proxiedTimeout = 24 * time.Hour

var (
	proxiedFields = fields{
		event: "proxy_event", session: "session_id", dir: "cwd", project: "project_dir", mode: "permission_mode",
		tool: "tool_name", input: "tool_input", id: "tool_use_id", response: "tool_response", failure: "error",
	}
	proxiedMarks = [][]string{{"proxy_event"}}
	acpBefore    = form{
		decision: "decision", allow: `"allow"`, deny: `"deny"`, ask: `"ask"`, reason: "reason", message: "message",
		exit: exitBlock,
	}
	promptBefore = form{decision: "decision", allow: `"allow"`, deny: `"deny"`, reason: "reason", exit: exitBlock}
)
