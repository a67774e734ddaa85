package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/adapter"
	"github.com/umpirehq/umpire/internal/gate"
)

// answerClaude answers one hook event of Claude Code. Events about nothing that
// can be stopped are read and passed over.
func (a *app) answerClaude(run *hookRun) adapter.Output {
	payload, err := a.payload()
	if err != nil {
		return adapter.FailClaude("", err)
	}
	e, err := adapter.ReadClaude(payload)
	run.isAbout(e.Event)
	if err != nil {
		return adapter.FailClaude(e.Event, err)
	}
	if !e.Kind.Decides() {
		return adapter.Output{}
	}
	out, err := a.decideClaude(run, e)
	if err != nil {
		return adapter.FailClaude(e.Event, err)
	}
	return out
}

func (a *app) decideClaude(run *hookRun, e adapter.ClaudeEvent) (adapter.Output, error) {
	project, err := a.claudeProject(e)
	if err != nil {
		return adapter.Output{}, err
	}
	c, err := a.hookConfig(run, project)
	if err != nil {
		return adapter.Output{}, err
	}
	e.Call.Dir = cmp.Or(e.Call.Dir, project)
	// A configured reject asks nobody, and Claude Code's plan mode must not
	// turn that into a question.
	headless := a.headless() || c.mode == umpire.ModeReject || e.Unattended()
	g := gate.New(c.gate(a))
	defer g.Close()
	d := g.Check(gate.Request{Call: e.Call, Project: project, Mode: e.Mode(c.mode), Headless: headless})
	if !c.enforce {
		return unenforced(d), nil
	}
	return adapter.AnswerClaude(e, d, adapter.ClaudeAnswerOptions{Headless: headless}), nil
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
