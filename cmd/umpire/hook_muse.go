package main

import (
	"context"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/adapter"
	"github.com/umpirehq/umpire/internal/gate"
)

// answerMuse answers one request of the marker protocol. The request names no
// folder: it is about the one that umpire is started in.
func (a *app) answerMuse(ctx context.Context, run *hookRun) adapter.Output {
	payload, err := a.payload()
	if err != nil {
		return adapter.FailMuse("", err)
	}
	r, err := adapter.ReadMuse(payload)
	run.isAbout(r.Call.Tool)
	if err != nil {
		return adapter.FailMuse(r.Call.Tool, err)
	}
	c, err := a.hookConfig(run, a.dir)
	if err != nil {
		return adapter.FailMuse(r.Call.Tool, err)
	}
	d := a.checkMuse(ctx, c, r)
	if !c.enforce {
		out := unenforced(d)
		out.Stdout = []byte("\n")
		return out
	}
	return adapter.AnswerMuse(r, d)
}

func (a *app) checkMuse(ctx context.Context, c *config, r adapter.MuseRequest) umpire.Decision {
	r.Call.Dir = a.dir
	g := gate.New(c.gate(a))
	defer g.Close()
	return g.Judge(ctx, gate.Request{
		Call: r.Call, Mode: c.mode, Headless: a.headless() || c.mode == umpire.ModeReject,
		Grants: r.Grants, AllowAll: r.AllowAll, Tighten: r.Rules,
	})
}
