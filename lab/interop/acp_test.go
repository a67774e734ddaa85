//go:build interop

package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// acpArgs start each agent that an editor can run over the Agent Client Protocol.
var acpArgs = map[string][]string{
	"gemini": {"--acp", "-m", "gemini-2.5-flash", "--skip-trust"}, "opencode": {"acp"}, "copilot": {"--acp"},
}

// titleOnly are agents that send only the title of a command.
var titleOnly = map[string]bool{"gemini": true}

// TestACP plays one command with each agent behind umpire proxy acp, and an editor that would allow
// everything. A command that a rule allows runs without a question. A denied one does not
// run, also without a question. The editor is asked about all others.
func TestACP(t *testing.T) {
	t.Parallel()
	for name, args := range acpArgs {
		for _, tt := range []struct {
			file    string
			asks    bool
			happens bool
		}{
			{"allowed", titleOnly[name], true}, {"denied", false, false}, {"asked", true, true},
		} {
			t.Run(name+"/"+tt.file, func(t *testing.T) {
				t.Parallel()
				m := startModel(t)
				w := newLab(t, name, m)
				call := w.Driver.Shell("touch " + tt.file)
				call.ID = "call_1"
				m.Main = []turn{{call}}
				if err := w.Prepare(); err != nil {
					t.Fatal(err)
				}
				if name == "opencode" {
					w.askForEverything()
				}
				ctx, cancel := context.WithTimeout(t.Context(), runLimit)
				defer cancel()
				w.adds(ctx, "allow", "Bash(touch allowed)")
				w.adds(ctx, "deny", "Bash(touch denied)")
				asked := w.playACP(ctx, args)
				if happens := w.Exists("project/" + tt.file); asked != tt.asks || happens != tt.happens {
					t.Errorf("asked %v, happened %v; want %v, %v", asked, happens, tt.asks, tt.happens)
				}
			})
		}
	}
}

// adds adds a rule for every project.
func (w *world) adds(ctx context.Context, action, rule string) {
	w.Helper()
	out, code, err := w.Exec(ctx, w.Umpire, "rules", "add", action, rule, "--scope", "global")
	if err != nil || code != 0 {
		w.Fatalf("rules add: %v, exit code %d: %s", err, code, out)
	}
}

// askForEverything makes opencode ask, which it never does by default.
func (w *world) askForEverything() {
	w.Helper()
	for path, text := range w.Driver.Settings(w.Lab.Lab) {
		if !strings.HasSuffix(path, "opencode.json") {
			continue
		}
		var config map[string]any
		if err := json.Unmarshal([]byte(text), &config); err != nil {
			w.Fatal(err)
		}
		config["permission"] = map[string]string{"bash": "ask"}
		whole, err := json.Marshal(config)
		if err == nil {
			err = w.Write(path, string(whole))
		}
		if err != nil {
			w.Fatal(err)
		}
	}
}

// playACP acts as the editor: it starts the agent behind umpire, gives it a prompt, and allows
// each request once. It reports whether there was one.
func (w *world) playACP(ctx context.Context, args []string) (asked bool) {
	w.Helper()
	cmd := w.Command(ctx, w.Umpire, append([]string{"acp", "--", w.Program}, args...)...)
	var words bytes.Buffer
	cmd.Stderr = &words
	in, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	defer func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			w.Errorf("umpire proxy acp: %v: %s", err, words.String())
		}
	}()
	say(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{`+
		`"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"interop","version":"1"}}}`)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			w.Fatalf("the agent has ended: %v: %s", err, words.String())
		}
		w.Logf("%.400s", line)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Error  json.RawMessage `json:"error"`
			Result struct {
				Session string `json:"sessionId"`
			} `json:"result"`
			Params struct {
				Options []struct {
					ID   string `json:"optionId"`
					Kind string `json:"kind"`
				} `json:"options"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		switch id := string(m.ID); {
		case m.Method == "session/request_permission":
			asked = true
			for _, o := range m.Params.Options {
				if o.Kind == "allow_once" {
					say(in, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, id, o.ID)
				}
			}
		case m.Method != "" && id != "":
			say(in, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not supported"}}`, id)
		case m.Method != "":
		case m.Error != nil:
			w.Fatalf("%s", m.Error)
		case id == "1":
			say(in, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, w.Project())
		case id == "2":
			say(in, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,`+
				`"prompt":[{"type":"text","text":"Run the scripted steps."}]}}`, m.Result.Session)
		case id == "3":
			return asked
		}
	}
}

// say writes a line. The next read detects the end of the other side.
func say(to io.Writer, format string, args ...any) { fmt.Fprintf(to, format+"\n", args...) }
