//go:build interop

package interop

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/host/drive"
)

// TestAppServerShell: behind umpire proxy codex, no shell outside of Codex's sandbox waits for
// input that a person would not see, and input to a shell in the sandbox stays there. The editor
// would allow everything.
func TestAppServerShell(t *testing.T) {
	t.Parallel()
	m := startModel(t)
	w := newLab(t, "codex-app", m)
	open := func(id string, more map[string]any) turn {
		input := map[string]any{"cmd": "bash --norc -i", "tty": true, "yield_time_ms": 500}
		maps.Copy(input, more)
		return turn{{ID: id, Tool: "exec_command", Input: input}}
	}
	session := regexp.MustCompile(`session ID (\d+)`)
	m.Inputs = map[string]func(map[string]drive.Result) map[string]any{
		"typed": func(told map[string]drive.Result) map[string]any {
			input := map[string]any{"session_id": 0, "chars": "touch .git/typed; echo $?\n", "yield_time_ms": 1000}
			if found := session.FindStringSubmatch(told["inside"].Text); found != nil {
				input["session_id"] = json.Number(found[1])
			}
			return input
		},
	}
	m.Main = []turn{
		open("outside", map[string]any{"sandbox_permissions": "require_escalated", "justification": "to try"}),
		open("inside", nil), {{ID: "typed", Tool: "write_stdin"}},
	}
	w.git("init", "-q")
	if err := w.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := w.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	said, err := w.Play(ctx, usualMode)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if r := w.told("outside"); session.MatchString(r.Text) {
		t.Errorf("a shell outside of the sandbox was started: %s", r.Text)
	}
	if r := w.told("inside"); !session.MatchString(r.Text) {
		t.Errorf("no shell was started in the sandbox: %s", r.Text)
	}
	w.told("typed")
	if w.Exists("project/.git/typed") {
		t.Error("what was typed had an effect outside of the sandbox")
	}
}

// TestAppServerTool: Codex asks its editor about a tool of an MCP server, in the form of a question from that server,
// which umpire never accepts. Before that, it asks its hook for permissions. There umpire accepts the call that a
// person approved, so the editor is never asked again.
func TestAppServerTool(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		hooks bool
		asked bool // of the editor
	}{
		{"with hooks", true, false},
		{"the proxy alone", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := startModel(t, turn{{
				ID: "call_1", Tool: "wipe", Input: map[string]any{"path": "wiped"},
				Fields: map[string]any{"namespace": "mcp__t"},
			}})
			w := newLab(t, "codex-app", m)
			w.git("init", "-q")
			if err := w.Prepare(); err != nil {
				t.Fatal(err)
			}
			w.addsToolServer()
			if err := w.Register(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.write("home/.umpire/config.yaml", "hook.when_asked: native\n")
			if tt.hooks {
				w.write("home/.umpire/config.yaml", "hook.when_asked: hold\n")
				if out, code := w.start(w.Umpire, "setup", "codex"); code != 0 {
					t.Fatalf("umpire setup codex: exit %d: %s", code, out)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), runLimit)
			defer cancel()
			if err := os.Chmod(w.Path("home/.umpire"), 0o700); err != nil {
				t.Fatal(err)
			}
			w.serve(ctx)
			said := ""
			played := make(chan error, 1)
			go func() {
				var err error
				said, err = w.Play(ctx, freeMode) // the editor refuses all requests
				played <- err
			}()
			if tt.hooks {
				w.approve(ctx, "call_1")
			}
			if err := <-played; err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			asked := strings.Contains(said, "mcpServer/elicitation/request")
			if runs := w.Exists("project/wiped"); runs == tt.asked || asked != tt.asked {
				t.Errorf("ran: %t, the editor was asked: %t, want %t\n%.3000s", runs, asked, tt.asked, said)
			}
		})
	}
}

// addsToolServer gives Codex an MCP server with one tool, which makes a file.
func (w *world) addsToolServer() {
	w.Helper()
	w.program("tools", `#!/usr/bin/env node
const send = (m) => process.stdout.write(JSON.stringify(m) + "\n")
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line)
  const answer = (result) => send({ jsonrpc: "2.0", id: m.id, result })
  if (m.method === "initialize") answer({
    protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } })
  if (m.method === "tools/list") answer({ tools: [{ name: "wipe", description: "Wipes a file",
    inputSchema: { type: "object", properties: { path: { type: "string" } } }, annotations: { destructiveHint: true } }] })
  if (m.method === "tools/call") {
    require("fs").writeFileSync("`+w.Project()+`/" + m.params.arguments.path, "")
    answer({ content: [{ type: "text", text: "wiped" }] })
  }
})
`)
	at := w.Path("home/.codex/config.toml")
	text, err := os.ReadFile(at)
	if err != nil {
		w.Fatal(err)
	}
	w.write("home/.codex/config.toml", string(text)+"\n[mcp_servers.t]\ncommand = \""+w.Path("bin/tools")+"\"\n")
}
