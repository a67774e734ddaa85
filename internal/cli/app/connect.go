package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/policy"
)

// connectWait is how long a command waits for an answer about a destination.
const connectWait = time.Minute

// MayAskToConnect reports whether a destination of an agent's command is asked about: a person would see the question,
// or wants it in umpire's inbox all the same.
func MayAskToConnect(c *config.Config, attended bool) bool {
	return c.Hook.WhenAsked == policy.AskedHold || c.Hook.WhenAsked == policy.AskedAuto && attended
}

// AskToConnect asks the gate, and so the person, whether the command of a call may connect to a
// destination. The question is a call of its own in the session. Without an answer within a minute it is
// withdrawn, and the answer is no.
func AskToConnect(ctx context.Context, g umpire.Gate, of *umpire.Call, d egress.Destination, why egress.Reason) bool {
	var asked struct {
		URL     string `json:"url"`
		Command string `json:"command,omitempty"`
	}
	_ = json.Unmarshal(of.Input, &asked) // a call without a command is asked about without one
	asked.URL = d.URL()
	input, err := json.Marshal(asked)
	if err != nil {
		return false
	}
	call := umpire.Call{
		ID: umpire.CallID("connect_" + rand.Text()), Tool: umpire.ConnectTool, Input: input, Dir: of.Dir,
		Agent: of.Agent,
	}
	id := umpire.BatchID("msg_" + string(call.ID))
	s := umpire.Submission{Session: of.Session, Batch: id, Lane: string(id), Calls: []umpire.Call{call}}
	if !why.MayBeSettled() {
		s.Tighten = []umpire.Rule{{
			ID: "connect", Action: umpire.Ask, Tool: umpire.ConnectTool, Description: why.Say(d).String(),
		}}
	}
	b, err := g.Submit(ctx, s)
	over := time.Now().Add(connectWait)
	for err == nil && b.State == umpire.BatchWaiting && ctx.Err() == nil && time.Now().Before(over) {
		b, err = g.Await(ctx, of.Session, id, time.Until(over))
	}
	end := umpire.Result{
		Session: of.Session, Batch: id, Call: call.ID, Status: umpire.ResultTimeout,
		Output: "the command did not wait any longer",
	}
	ctx = context.WithoutCancel(ctx)
	if err != nil || b.State == umpire.BatchWaiting {
		_, _ = g.Finish(ctx, end) // nothing depends on the question any more
		return false
	}
	started, err := g.Start(ctx, umpire.Start{Session: of.Session, Batch: id, Call: call.ID})
	if err != nil || !started.Go {
		return false
	}
	end.Status, end.Output = umpire.ResultOK, "the command may connect"
	_, err = g.Finish(ctx, end)
	return err == nil
}
