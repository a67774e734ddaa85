package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/internal/view"
)

// claude answers one hook event of Claude Code. Events about nothing that can be
// stopped are told to the gate, if there is one, and passed over.
func (d *Desk) claude(ctx context.Context, r *run, q *Question) Output {
	e, err := ReadClaude(q.Payload)
	if err != nil {
		return FailClaude(e.Event, err)
	}
	var out Output
	switch {
	case e.Kind.Decides():
		out, err = d.decideClaude(ctx, r, q, e)
	case e.Kind != ClaudeOther:
		err = d.tellClaude(ctx, r, q, e)
	}
	if errors.Is(err, ErrAway) {
		r.away.Store(true)
	}
	if err != nil {
		return FailClaude(e.Event, err)
	}
	return out
}

func aboutClaude(payload []byte) string {
	e, _ := ReadClaude(payload) // its event is there as far as it could be read
	return e.Event
}

// A claudeCase is one question of Claude Code with all that it is decided by.
type claudeCase struct {
	question *Question
	event    ClaudeEvent
	project  string
	config   Config
	headless bool
}

func (d *Desk) decideClaude(ctx context.Context, r *run, q *Question, e ClaudeEvent) (Output, error) {
	c, err := d.claudeCase(r, q, e)
	if err != nil {
		return Output{}, err
	}
	switch {
	case !c.config.Enforce:
		return unenforced(c.alone(ctx)), nil
	case d.Gate != nil:
		return d.claudeThrough(ctx, r, c)
	}
	return adapter.AnswerClaude(c.event, c.alone(ctx), adapter.ClaudeAnswerOptions{Headless: c.headless}), nil
}

// claudeCase gathers what an event is decided by.
func (d *Desk) claudeCase(r *run, q *Question, e ClaudeEvent) (claudeCase, error) {
	project, err := claudeProject(q, &e)
	if err != nil {
		return claudeCase{}, err
	}
	c, err := d.config(r, project)
	if err != nil {
		return claudeCase{}, err
	}
	e.Call.Dir = cmp.Or(e.Call.Dir, project)
	// A configured reject asks nobody, and Claude Code's plan mode must not turn
	// that into a question.
	headless := q.Headless || c.Mode == umpire.ModeReject || e.Unattended()
	return claudeCase{question: q, event: e, project: project, config: c, headless: headless}, nil
}

// alone decides without a gate that keeps anything.
func (c *claudeCase) alone(ctx context.Context) umpire.Decision {
	return c.config.Decide(ctx, judge.Request{
		Call: c.event.Call, Project: c.project, Mode: c.event.Mode(c.config.Mode), Headless: c.headless,
	})
}

// claudeProject is the folder that Claude Code was started in. The payload's own
// folder follows `cd`, so it is only second best.
func claudeProject(q *Question, e *ClaudeEvent) (string, error) {
	project := cmp.Or(q.Project, e.Dir, q.Dir)
	if !filepath.IsAbs(project) {
		return "", fmt.Errorf("project folder %q is not an absolute path", project)
	}
	return project, nil
}

// About returns the folder that tells the project of Claude Code's question, and
// whether it is one that an answer can stop or permit. What cannot be read counts
// as one.
func (q *Question) About() (project string, decides bool) {
	e, err := adapter.ReadClaude(q.Payload)
	return cmp.Or(q.Project, e.Dir, q.Dir), err != nil || e.Kind.Decides()
}
