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
	"github.com/umpirehq/umpire/internal/cli/hook"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/host"
)

// BenchmarkHookDesk is what the gate does for a hook, without the process and the
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
	desk := hook.NewGateDesk(a, g.Gate)
	desk.Gate = deskGate{g.Gate}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		q := host.Question{Agent: "claude", Payload: fmt.Appendf(nil, deskPayload, n), Project: a.Dir, Dir: a.Dir, Runner: "r", Deadline: time.Minute}
		out, err := desk.Answer(b.Context(), q)
		if err != nil || !bytes.Contains(out.Stdout, []byte(`"permissionDecision":"allow"`)) {
			b.Fatalf("%v: %s", err, out.Stdout)
		}
	}
}

const deskPayload = `{"session_id":"bench","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",` +
	`"tool_use_id":"t%d","tool_input":{"command":"git status && grep -rn needle . | head"}}`

// A deskGate is a gate whose answers nobody waits for.
type deskGate struct{ *gate.Gate }

// Await returns the batch as it stands.
func (g deskGate) Await(ctx context.Context, session umpire.SessionID, id umpire.BatchID, _ time.Duration) (umpire.Batch, error) {
	return g.Batch(ctx, session, id)
}

// Attended: nobody looks.
func (deskGate) Attended() bool { return false }
