package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/relay"
)

func payload(tool, input string) []byte {
	return fmt.Appendf(nil, `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","tool_name":%q,"tool_input":%s,"tool_use_id":"t1"}`, tool, input)
}

func TestReadClaudeMapsTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, tool, input string
		want, wantInput   string
		background        bool
	}{
		{"plain", "Bash", `{"command":"ls"}`, "Bash", `{"command":"ls"}`, false},
		{"background", "Bash", `{"command":"ls","run_in_background":true}`, "Bash", `{"command":"ls","run_in_background":true}`, true},
		{"sandbox switch stays visible", "Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`, "Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`, false},
		{"monitor runs a shell", "Monitor", `{"command":"tail -f x"}`, "Bash", `{"command":"tail -f x"}`, true},
		{"monitor of a socket is unknown", "Monitor", `{"ws":{"url":"wss://x"}}`, "Monitor", `{"ws":{"url":"wss://x"}}`, false},
		{"multi edit", "MultiEdit", `{"file_path":"/a","edits":[]}`, "Edit", `{"file_path":"/a","edits":[]}`, false},
		{"notebook", "NotebookEdit", `{"notebook_path":"/a.ipynb","new_source":"<x>"}`, "Edit", `{"file_path":"/a.ipynb","new_source":"<x>"}`, false},
		{"agent", "Agent", `{"prompt":"go"}`, "Task", `{"prompt":"go"}`, false},
		{"mcp", "mcp__github__push", `{"a":1}`, "mcp__github__push", `{"a":1}`, false},
		{"never guessed", "bash", `{"command":"ls"}`, "bash", `{"command":"ls"}`, false},
		{"unknown", "PowerShell", `{"command":"ls"}`, "PowerShell", `{"command":"ls"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := claude.Read(payload(tt.tool, tt.input))
			if err != nil {
				t.Fatal(err)
			}
			want := umpire.Call{ID: "t1", Tool: tt.want, Input: json.RawMessage(tt.wantInput), Dir: "/w",
				Agent: "claude", Session: "s", Background: tt.background}
			if diff := cmp.Diff(want, e.Call); diff != "" {
				t.Errorf("call (-want +got):\n%s", diff)
			}
			if e.ToolName != tt.tool {
				t.Errorf("ToolName = %q, want %q", e.ToolName, tt.tool)
			}
		})
	}
}

func TestReadClaudeRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20_000)
	for _, tt := range []struct{ name, payload, want string }{
		{"nothing", ``, "got nothing"},
		{"trailing text", `{} x`, "not JSON"},
		{"byte order mark", "\ufeff{}", "not JSON"},
		{"too deep", deep, "depth"},
		{"invalid UTF-8", "{\"hook_event_name\":\"PreToolUse\xff\"}", "UTF-8"},
		{"no event", `{"tool_name":"Bash"}`, "hook_event_name: missing"},
		{"event type", `{"hook_event_name":true}`, "hook_event_name: want a string, got a boolean"},
		{"event twice", `{"hook_event_name":"Stop","hook_event_name":"PreToolUse"}`, `"hook_event_name" appears twice`},
		{"event twice, escaped", `{"hook_event_name":"Stop","hook_event_n\u0061me":"PreToolUse"}`, `"hook_event_name" appears twice`},
		{"tool twice", `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Bash","tool_input":{}}`, `"tool_name" appears twice`},
		{"input twice", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_input":{"command":"x"}}`, `"tool_input" appears twice`},
		{"nested twice", string(payload("MultiEdit", `{"edits":[{"a":1,"a":2}]}`)), `"a" appears twice`},
		{"Kelvin sign", string(payload("X", `{"key":1,"`+"\u212a"+`ey":2}`)), "both"},
		{"input is null", string(payload("Bash", `null`)), "tool_input: missing"},
		{"input is a list", string(payload("Bash", `[]`)), "tool_input: want an object, got a list"},
		{"background type", string(payload("Bash", `{"run_in_background":"yes"}`)), "run_in_background: want true or false"},
		{"notebook and file", string(payload("NotebookEdit", `{"notebook_path":"/a","file_path":"/b"}`)), `both "notebook_path" and "file_path"`},
		{"relative cwd", `{"hook_event_name":"Stop","cwd":"w"}`, "cwd: want an absolute path"},
		{"session type", `{"hook_event_name":"Stop","session_id":{}}`, "session_id: want a string, got an object"},
		{"session with NUL", `{"hook_event_name":"Stop","session_id":"s\u0000"}`, "session_id: contains U+0000"},
		{"session too long", `{"hook_event_name":"Stop","session_id":"` + strings.Repeat("x", 257) + `"}`, "session_id: longer than 256"},
		{"prompt with a newline", `{"hook_event_name":"Stop","prompt_id":"p\n"}`, "prompt_id: contains U+000A"},
		{"agent with an escape", `{"hook_event_name":"Stop","agent_id":"a\u001b"}`, "agent_id: contains U+001B"},
		{"call id read right to left", `{"hook_event_name":"PreToolUse","tool_name":"LS","tool_input":{},"tool_use_id":"t\u202e"}`, "tool_use_id: contains U+202E"},
		{"other spelling is another field", `{"Hook_Event_Name":"PreToolUse"}`, "hook_event_name: missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := claude.Read([]byte(tt.payload))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			if e.Call.Tool != "" || e.ToolName != "" {
				t.Errorf("a refused payload left a call behind: %+v", e.Call)
			}
		})
	}
}

func TestReadClaudeSizeLimit(t *testing.T) {
	t.Parallel()
	if _, err := claude.Read(bytes.Repeat([]byte(" "), relay.MaxPayload+1)); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("error %v, want a size limit", err)
	}
}

func TestReadClaudeTolerates(t *testing.T) {
	t.Parallel()
	e, err := claude.Read([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/a"},
		"agent_id":null,"mcp_server":{"name":"x"},"some_new_field":[1,{"deep":null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if e.Kind != BeforeTool || e.Call.Tool != "Read" || e.Call.ID == "" {
		t.Errorf("got %+v", e)
	}
}

func TestDerivedID(t *testing.T) {
	t.Parallel()
	id := func(tool, input string) umpire.CallID {
		e, err := claude.Read(fmt.Appendf(nil, `{"hook_event_name":"PermissionRequest","tool_name":%q,"tool_input":%s}`, tool, input))
		if err != nil {
			t.Fatal(err)
		}
		return e.Call.ID
	}
	same := id("Bash", `{"command":"ls","timeout":5}`)
	if other := id("Bash", `{ "timeout":5, "command":"l\u0073" }`); other != same {
		t.Errorf("equal inputs have ids %s and %s", same, other)
	}
	for _, other := range []umpire.CallID{id("Bash", `{"command":"ls","timeout":6}`), id("Monitor", `{"command":"ls","timeout":5}`)} {
		if other == same {
			t.Errorf("different calls share id %s", same)
		}
	}
	e, err := claude.Read(payload("Bash", `{"timeout":5,"command":"ls"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := umpire.CallID(derivedID + e.digest()); got != same {
		t.Errorf("PreToolUse and PermissionRequest of one call: %s and %s", got, same)
	}
}

func TestClaudeMode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sent             string
		configured, want umpire.Mode
	}{
		{"plan", umpire.ModeDefault, umpire.ModePlan},
		{"plan", umpire.ModeBypass, umpire.ModePlan},
		{"bypassPermissions", umpire.ModeDefault, umpire.ModeDefault},
		{"bypassPermissions", umpire.ModeReject, umpire.ModeReject},
		{"bypassPermissions", umpire.ModeBypass, umpire.ModeBypass},
		{"dontAsk", umpire.ModeDefault, umpire.ModeDefault},
		{"dontAsk", umpire.ModeBypass, umpire.ModeReject},
		{"dontAsk", umpire.ModePlan, umpire.ModePlan},
		{"dontAsk", umpire.ModeAsk, umpire.ModeAsk},
		{"default", umpire.ModeAsk, umpire.ModeAsk},
		{"acceptEdits", umpire.ModeDefault, umpire.ModeDefault},
		{"auto", umpire.ModeDefault, umpire.ModeDefault},
		{"", umpire.ModeAuto, umpire.ModeAuto},
		{"turbo", umpire.ModeDefault, umpire.ModeDefault},
	} {
		t.Run("X-45 "+tt.sent+" over "+tt.configured.String(), func(t *testing.T) {
			t.Parallel()
			e := Event{Host: &claude, PermissionMode: tt.sent}
			if got := e.Mode(tt.configured); got != tt.want {
				t.Errorf("mode %s, want %s", got, tt.want)
			}
			if e.unattended() != (tt.sent == "dontAsk") {
				t.Errorf("Unattended() = %v", e.unattended())
			}
		})
	}
}

func TestToolDenied(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, tool, id, reason, want string }{
		{"M-191 without reason", "Bash", "tc-1", " ", `[Tool Denied] The user denied the "Bash" tool call (ID: tc-1). Please try a different approach or ask the user for guidance.`},
		{"M-192 with reason", "Write", "tc-2", "不要修改配置文件", `[Tool Denied] The user denied the "Write" tool call (ID: tc-2). Reason: 不要修改配置文件. Please adjust your approach.`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ToolDenied(tt.tool, umpire.CallID(tt.id), tt.reason); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestLongReasons: the client cuts at maxReason, and what to do next stands last.
func TestLongReasons(t *testing.T) {
	t.Parallel()
	for _, long := range []string{strings.Repeat("x", 50_000), strings.Repeat("文", 20_000), strings.Repeat("😀", 20_000), strings.Repeat("\x1b", 20_000)} {
		for _, code := range []umpire.ReasonCode{umpire.CodeBlocked, codeDenied} {
			d := umpire.Decision{Reason: umpire.Verbatim(long), ReasonCode: code, Rule: &umpire.RuleRef{ID: umpire.RuleID(long), File: long},
				Accesses: []umpire.Access{{Kind: umpire.KindWrite, Target: long, Reason: umpire.Verbatim(long)}}}
			text := denyText(&Event{Host: &claude, ToolName: "Bash"}, d)
			if n := len(utf16.Encode([]rune(text))); n > maxReason {
				t.Errorf("%d units, want at most %d", n, maxReason)
			}
			if !strings.HasSuffix(text, "ask the user.") && !strings.HasSuffix(text, "adjust your approach.") {
				t.Errorf("the next step is lost: …%s", text[len(text)-60:])
			}
		}
	}
}

// TestDenialIsLoud: a denial that only half reached the client still denies.
func TestDenialIsLoud(t *testing.T) {
	t.Parallel()
	for _, out := range []Output{
		(&Event{Host: &claude, Kind: BeforeTool}).Answer(umpire.Decision{}, Deny),
		(&Event{Host: &claude, Kind: BeforeTool}).Answer(umpire.Decision{Verdict: 99}, Deny),
		claude.Fail("", nil), claude.Fail("PreToolUse", errors.New("")), claude.Fail("SomethingNew", errors.New("gate is gone")),
	} {
		if out.Exit != 2 || len(bytes.TrimSpace(out.Stderr)) == 0 || bytes.Count(out.Stdout, []byte("\n")) != 1 ||
			!bytes.Contains(out.Stdout, []byte(`"permissionDecision":"deny"`)) {
			t.Errorf("half a denial: %+v", out)
		}
	}
}

func FuzzReadClaude(f *testing.F) {
	f.Add(payload("Bash", `{"command":"ls"}`))
	f.Add(payload("NotebookEdit", `{"notebook_path":"/a\u0000","x":[{"y":"\ud800"}]}`))
	f.Add([]byte(`{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"x"}}`))
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"A","tool_input":{"a":1,"a":2}}`))
	f.Add([]byte(` [ "x" , { } ] `))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := claude.Read(data)
		if err != nil {
			out := claude.Fail(e.Name, err)
			if out.Exit == 0 && !bytes.Contains(out.Stdout, []byte(`"deny"`)) {
				t.Fatalf("a failure did not deny: %+v", out)
			}
			return
		}
		if e.Kind.AboutTool() && (e.Call.Tool == "" || e.Call.ID == "" || !json.Valid(e.Call.Input) || e.Call.Input[0] != '{') {
			t.Fatalf("incomplete call %+v", e.Call)
		}
		out := e.Answer(umpire.Decision{Reason: umpire.Verbatim(e.ToolName)}, Deny)
		if e.Kind.Decides() && (!json.Valid(out.Stdout) || bytes.Count(out.Stdout, []byte("\n")) != 1 || len(out.Stderr) == 0) {
			t.Fatalf("not a denial: %+v", out)
		}
	})
}
