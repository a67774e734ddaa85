package cli

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/hosts"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/host"
)

// TestRanRefused: a call that umpire denied and that its host reports as run is on the timeline, of every
// host that reports ends, and also if it failed.
func TestRanRefused(t *testing.T) {
	t.Parallel()
	a, g, responder := startResponder(t)
	responder.UseGate(g, func(context.Context, umpire.SessionID) bool { return false })
	answer := func(t *testing.T, h *host.Host, payload []byte) host.Output {
		t.Helper()
		q := host.Question{
			Agent: h.Name, Payload: payload, Project: a.Dir, Dir: a.Dir, Runner: "r", Deadline: time.Minute, Nonce: "n",
			Shell: "/bin/bash",
		}
		out, err := responder.Answer(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := endings()
	if len(all) < 14 {
		t.Errorf("only %d ends are reported", len(all))
	}
	for _, e := range all {
		h := e.Host
		t.Run(h.Name+" "+e.after, func(t *testing.T) {
			session := umpire.SessionID("s-" + h.Name + e.after)
			for _, line := range []string{"rm -rf /etc", "ls"} {
				asked := h.Sample(string(session), "t-"+h.Name+line[:2], a.Dir, line)
				denied := answer(t, h, asked)
				if line != "ls" && !h.Denies(denied.Stdout, denied.Stderr, denied.Exit) {
					t.Fatalf("%s is not denied: %s", line, denied.Stdout)
				}
				ended := endOf(t, asked, e.before, e.after)
				for range 2 {
					if out := answer(t, h, ended); out.Exit != 0 {
						t.Fatalf("%s: %s", ended, out.Stderr)
					}
				}
			}
			kinds := map[umpire.EventKind]int{}
			events, err := g.Events(t.Context(), umpire.Filter{Session: session})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				kinds[e.Kind]++
				if e.Kind == umpire.EventCallRanRefused && (*e.Verdict != umpire.Deny || e.Code != umpire.CodeCritical) {
					t.Errorf("%s, %s", e.Verdict, e.Code)
				}
			}
			if kinds[umpire.EventCallRanRefused] != 1 || kinds[umpire.EventCallRanUnasked] != 0 {
				t.Errorf("the timeline is %v", kinds)
			}
		})
	}
}

// startResponder starts a gate on a new store, and a responder for its hooks.
func startResponder(t *testing.T) (*app.App, *gate.Gate, *host.Responder) {
	t.Helper()
	p := newProgram(t, nil)
	p.Stderr = io.Discard
	a := &app.App{Surroundings: p.Surroundings}
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		t.Fatal(err)
	}
	at, err := a.ReadStoreAddress("")
	if err != nil {
		t.Fatal(err)
	}
	g, err := a.StartGate(t.Context(), conf, at, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, g.Gate, hosts.NewGateResponder(a, g.Gate)
}

// An ending is how a host reports that a call ran, and asks before that.
type ending struct {
	*host.Host
	before, after string
}

func endings() (all []ending) {
	for _, h := range host.Hosts {
		for _, e := range h.Events() {
			if e.Kind == host.AfterTool || e.Kind == host.AfterFailure && h.FailedRan {
				all = append(all, ending{h, h.Decides[0].Name, e.Name})
			}
		}
	}
	return all
}

// endOf turns a question about a call into the report that it ran.
func endOf(t *testing.T, asked []byte, before, after string) []byte {
	t.Helper()
	payload := map[string]any{}
	if err := json.Unmarshal(asked, &payload); err != nil {
		t.Fatal(err)
	}
	for field := range maps.Keys(payload) {
		if payload[field] == before {
			payload[field] = after
		}
	}
	payload["toolResult"] = map[string]any{"textResultForLlm": "done"} // by which Copilot CLI distinguishes its events
	text, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
