package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/hosts"
	"github.com/umpirehq/umpire/internal/host"
)

// BenchmarkHookDesk measures the gate's work for a hook, without the process and the
// socket: decide, store durably, answer.
func BenchmarkHookDesk(b *testing.B) {
	p := newProgram(b, nil)
	p.Stderr = io.Discard
	a := &app.App{Surroundings: p.Surroundings}
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		b.Fatal(err)
	}
	at, err := a.ReadStoreAddress("")
	if err != nil {
		b.Fatal(err)
	}
	g, err := a.StartGate(b.Context(), conf, at, true)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := g.Close(); err != nil {
			b.Error(err)
		}
	})
	responder := hosts.NewGateResponder(a, g.Gate)
	responder.UseGate(g.Gate, func(context.Context, umpire.SessionID) bool { return false })
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		q := host.Question{Agent: "claude", Payload: fmt.Appendf(nil, benchPayload, n), Project: a.Dir, Dir: a.Dir, Runner: "r", Deadline: time.Minute}
		out, err := responder.Answer(b.Context(), q)
		if err != nil || !bytes.Contains(out.Stdout, []byte(`"permissionDecision":"allow"`)) {
			b.Fatalf("%v: %s", err, out.Stdout)
		}
	}
}

const benchPayload = `{"session_id":"bench","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",` +
	`"tool_use_id":"t%d","tool_input":{"command":"git status && grep -rn needle . | head"}}`
