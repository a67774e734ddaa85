package host

import (
	"errors"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

func TestForeignToClaude(t *testing.T) {
	t.Parallel()
	common := []string{"session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode", "tool_name", "tool_input", "tool_use_id"}
	for _, tt := range []struct {
		name, event string
		fields      []string
		want        string // the agent; "-" if unknown, "" for Claude Code
	}{
		{"claude", "PreToolUse", common, ""},
		{"claude, session start", "SessionStart", []string{"session_id", "source", "model"}, ""},
		{"claude, an event that is not registered", "PreCompact", common, ""},
		{"claude, no event", "", common, ""},
		{"codex", "PreToolUse", append([]string{"turn_id", "model"}, common...), "codex"},
		{"codex, session start", "SessionStart", []string{"session_id", "turn_id", "model"}, "codex"},
		{"gemini", "BeforeTool", common, "gemini"},
		{"cursor", "preToolUse", append([]string{"cursor_version"}, common...), "cursor"},
		{"cursor, by its event", "beforeShellExecution", []string{"command"}, "cursor"},
		{"copilot", "", []string{"sessionId", "timestamp", "cwd", "toolName", "toolArgs"}, "copilot"},
		{"copilot, session start", "", []string{"sessionId", "timestamp", "source"}, "copilot"},
		{"muse", "", []string{"toolName", "toolCallId", "input", "options"}, "muse"},
		{"cline", "", []string{"clineVersion", "hookName"}, "cline"},
		{"windsurf", "", []string{"agent_action_name"}, "windsurf"},
		{"antigravity", "", []string{"toolCall", "workspacePaths"}, "antigravity"},
		{"grok", "", []string{"toolInput", "workspaceRoot"}, "grok"},
		{"kiro", "preToolUse", common, "kiro"},
		{"wrong case", "pretooluse", common, "-"},
		{"an event of tomorrow", "BeforeEverything", common, "-"},
	} {
		o := strictjson.Object{}
		for _, name := range tt.fields {
			o[name] = []byte(`"x"`)
		}
		delete(o, "hook_event_name")
		if tt.event != "" {
			o["hook_event_name"] = []byte(`"` + tt.event + `"`)
		}
		err := claude.checkForeign(o)
		foreign, is := errors.AsType[*foreignError](err)
		switch {
		case tt.want == "" && err != nil, tt.want != "" && !is:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want == "-" && foreign.Agent != "":
			t.Errorf("%s: taken for %s", tt.name, foreign.Agent)
		case tt.want != "" && tt.want != "-" && (foreign.Agent != tt.want || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
