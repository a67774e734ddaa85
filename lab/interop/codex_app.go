package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/drive"
)

// codexApp is Codex as driven by editors. In its freest mode it asks about everything that is not
// known to be harmless.
var codexApp = driver{
	Agent: &drive.Agent{
		Name: host.CodexAppServer, Env: codex.Env, Settings: codex.Settings, Shell: codex.Shell,
	},
	Package: codex.Package, Version: codex.Version, Program: codex.Program,
	Editor: playAppServer, Proxy: "app-server",
	Background: codex.Background, WriteFile: codex.WriteFile, SubAgent: codex.SubAgent, Await: codex.Await,
}

// playAppServer acts as an editor that drives Codex through one turn.
func playAppServer(ctx context.Context, l *Lab, words []string, mode agentMode) (string, error) {
	said := &strings.Builder{}
	cmd := l.Command(ctx, words[0], append(words[1:], "app-server")...)
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	e := appServerEditor{project: l.Project(), mode: mode, answer: "accept", to: in}
	if l.proxied && mode != usualMode && mode != planningMode {
		e.answer = "decline"
	}
	err = e.converse(bufio.NewReader(io.TeeReader(out, said)))
	in.Close()     //nolint:errcheck // it may have ended already
	_ = cmd.Wait() // agents end with any exit code
	return said.String(), err
}

// An appServerEditor answers Codex's questions in one turn. In the freest mode it says yes, but no
// behind umpire: umpire has already allowed the calls that run there.
type appServerEditor struct {
	project string
	mode    agentMode
	answer  string
	thread  string
	to      io.Writer
}

// converse runs the turn to its end.
func (e *appServerEditor) converse(from *bufio.Reader) error {
	e.say(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"lab","version":"1"}}}`)
	for {
		line, err := from.ReadBytes('\n')
		if err != nil {
			return err
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Thread string `json:"threadId"`
			} `json:"params"`
			Result struct {
				Thread struct {
					ID string `json:"id"`
				} `json:"thread"`
			} `json:"result"`
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		switch id := string(m.ID); {
		case m.Method == "turn/completed" && m.Params.Thread == e.thread:
			return nil
		case m.Method != "" && id != "":
			e.say(`{"id":%s,"result":{"decision":%q}}`, id, e.answer)
		case m.Method != "":
		case id == "1":
			e.start()
		case id == "2":
			e.thread = m.Result.Thread.ID
			e.say(`{"id":3,"method":"turn/start","params":{"threadId":%q,"input":[{"type":"text","text":%q}]}}`,
				e.thread, drive.Prompt)
		}
	}
}

// start opens a thread.
func (e *appServerEditor) start() {
	policy, sandbox := "on-request", "workspace-write"
	switch e.mode {
	case freeMode, askingMode:
		policy = "untrusted"
	case planningMode:
		sandbox = "read-only"
	case usualMode:
	}
	e.say(`{"method":"initialized"}`)
	e.say(`{"id":2,"method":"thread/start","params":{"cwd":%q,"approvalPolicy":%q,"sandbox":%q}}`,
		e.project, policy, sandbox)
}

// say writes a line. Errors show up when reading.
func (e *appServerEditor) say(format string, args ...any) { fmt.Fprintf(e.to, format+"\n", args...) }
