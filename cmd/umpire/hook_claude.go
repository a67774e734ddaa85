package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/adapter"
	"github.com/umpirehq/umpire/internal/gate"
)

// answerClaude answers one hook event of Claude Code. Events about nothing that
// can be stopped are told to the gate that runs, if one does, and passed over.
func (a *app) answerClaude(ctx context.Context, run *hookRun) adapter.Output {
	payload, err := a.payload()
	if err != nil {
		return adapter.FailClaude("", err)
	}
	e, err := adapter.ReadClaude(payload)
	run.isAbout(e.Event)
	if err != nil {
		return adapter.FailClaude(e.Event, err)
	}
	var out adapter.Output
	switch {
	case e.Kind.Decides():
		out, err = a.decideClaude(ctx, run, e)
	case e.Kind != adapter.ClaudeOther:
		err = a.tellClaude(ctx, run, e, payload)
	}
	if err != nil {
		return adapter.FailClaude(e.Event, err)
	}
	return out
}

// A claudeCase is one question of Claude Code with all that it is decided by.
type claudeCase struct {
	event    adapter.ClaudeEvent
	project  string
	config   *config
	headless bool
}

func (a *app) decideClaude(ctx context.Context, run *hookRun, e adapter.ClaudeEvent) (adapter.Output, error) {
	q, err := a.claudeCase(run, e)
	if err != nil {
		return adapter.Output{}, err
	}
	if !q.config.enforce {
		return unenforced(a.claudeAlone(ctx, q)), nil
	}
	running, err := a.runningGate(ctx, q.config.listen, agentCredential)
	if err != nil {
		return adapter.Output{}, err
	}
	if running != nil {
		return a.claudeThrough(ctx, running, run, q)
	}
	return adapter.AnswerClaude(q.event, a.claudeAlone(ctx, q), adapter.ClaudeAnswerOptions{Headless: q.headless}), nil
}

// claudeCase gathers what an event is decided by.
func (a *app) claudeCase(run *hookRun, e adapter.ClaudeEvent) (claudeCase, error) {
	project, err := a.claudeProject(e)
	if err != nil {
		return claudeCase{}, err
	}
	c, err := a.hookConfig(run, project)
	if err != nil {
		return claudeCase{}, err
	}
	e.Call.Dir = cmp.Or(e.Call.Dir, project)
	// A configured reject asks nobody, and Claude Code's plan mode must not
	// turn that into a question.
	headless := a.headless() || c.mode == umpire.ModeReject || e.Unattended()
	return claudeCase{event: e, project: project, config: c, headless: headless}, nil
}

// claudeAlone decides without a gate that keeps anything.
func (a *app) claudeAlone(ctx context.Context, q claudeCase) umpire.Decision {
	g := gate.New(q.config.gate(a))
	defer g.Close()
	return g.Judge(ctx, gate.Request{Call: q.event.Call, Project: q.project, Mode: q.event.Mode(q.config.mode), Headless: q.headless})
}

// claudeProject is the folder that Claude Code was started in. The payload's own
// folder follows `cd`, so it is only second best.
func (a *app) claudeProject(e adapter.ClaudeEvent) (string, error) {
	project := cmp.Or(a.getenv("CLAUDE_PROJECT_DIR"), e.Dir, a.dir)
	if !filepath.IsAbs(project) {
		return "", fmt.Errorf("project folder %q is not an absolute path", project)
	}
	return project, nil
}

// headless says that whoever started the agent wants nobody to be asked.
func (a *app) headless() bool { return a.getenv("UMPIRE_HEADLESS") == "1" }
