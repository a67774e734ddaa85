//go:build interop

package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"
)

// A session is the record of one run of Claude Code, as seen by a program that answers
// its permission dialogs like an editor.
type session struct {
	// asked are the ids of the calls for which Claude Code showed its dialog.
	asked map[string]bool
	// mode is the permission mode that Claude Code reports.
	mode string
}

// A wireMessage is the part of Claude Code's output that these tests use.
type wireMessage struct {
	Type           string `json:"type"`
	Subtype        string `json:"subtype"`
	PermissionMode string `json:"permissionMode"`
	RequestID      string `json:"request_id"`
	Request        struct {
		Subtype   string         `json:"subtype"`
		ToolUseID string         `json:"tool_use_id"`
		Input     map[string]any `json:"input"`
	} `json:"request"`
}

// hostSession plays the model's script in one of Claude Code's modes. It answers the
// dialogs with yes or no, and counts them.
func (w *world) hostSession(mode string, yes bool) session {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), sessionLimit)
	defer cancel()
	cmd := w.Command(ctx, w.Program, "-p", "--model", "scripted", "--permission-mode", mode, "--verbose",
		"--input-format", "stream-json", "--output-format", "stream-json", "--permission-prompt-tool", "stdio")
	in, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	var trouble strings.Builder
	cmd.Stderr = &trouble
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	s, end := talk(in, out, yes)
	err = cmd.Wait()
	if ctx.Err() != nil || !end {
		w.Fatalf("Claude Code in %s did not end its turn: %v, %v\n%s", mode, err, ctx.Err(), trouble.String())
	}
	return s
}

// sessionLimit bounds a session of some thirty calls, each of which may start a program.
const sessionLimit = 6 * time.Minute

// talk gives Claude Code its prompt and answers its dialogs until the turn ends; end
// reports whether it did.
func talk(in io.WriteCloser, out io.Reader, yes bool) (s session, end bool) {
	var once sync.Once
	shut := func() { once.Do(func() { in.Close() }) }
	defer shut()
	send := func(v any) {
		line, _ := json.Marshal(v)
		in.Write(append(line, '\n')) // a client that is gone shows at its end
	}
	send(map[string]any{"type": "control_request", "request_id": "init", "request": map[string]any{"subtype": "initialize"}})
	send(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "go on"}})
	s.asked = map[string]bool{}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return s, end
		}
		var m wireMessage
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		switch {
		case m.Type == "system" && m.Subtype == "init":
			s.mode = m.PermissionMode
		case m.Type == "control_request" && m.Request.Subtype == "can_use_tool":
			s.asked[m.Request.ToolUseID] = true
			answer := map[string]any{"behavior": "deny", "message": "the person said no"}
			if yes {
				answer = map[string]any{"behavior": "allow", "updatedInput": m.Request.Input}
			}
			send(map[string]any{"type": "control_response", "response": map[string]any{
				"subtype": "success", "request_id": m.RequestID, "response": answer,
			}})
		case m.Type == "result":
			end = true
			shut()
		}
	}
}
