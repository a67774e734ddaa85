package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// claude answers one hook event of Claude Code. Events about nothing that can be
// stopped are told to the gate, if there is one, and passed over.
func (p *Responder) claude(ctx context.Context, r *run, q *Question) Output {
	e, err := ReadClaude(q.Payload)
	if err != nil {
		return FailClaude(e.Event, err)
	}
	var out Output
	switch {
	case e.Kind.Decides():
		out, err = p.decideClaude(ctx, r, q, e)
	case e.Kind != ClaudeOther:
		err = p.tellClaude(ctx, r, q, e)
	}
	if errors.Is(err, ErrAway) {
		r.away.Store(true)
	}
	if err != nil {
		return FailClaude(e.Event, err)
	}
	if out.Exit == 0 {
		p.remember(ctx, q, &e)
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
	home     string // of the person
	headless bool
}

func (p *Responder) decideClaude(ctx context.Context, r *run, q *Question, e ClaudeEvent) (Output, error) {
	c, err := p.claudeCase(r, q, e)
	if err != nil {
		return Output{}, err
	}
	switch {
	case c.config.WarnOnly:
		return p.warn(ctx, r, c), nil
	case p.through != nil:
		return p.through.answer(p, ctx, r, c)
	}
	d := c.alone(ctx)
	reply := c.reply(&d, false)
	if r, ok := p.plan(&c, &d, reply); ok {
		if p.Rewriter.Allows(ctx, c.question, c.project, &c.event.Call) {
			if out, ok := c.rewrite(ctx, p.Rewriter, &r, ""); ok {
				return out, nil
			}
		}
	}
	return AnswerClaude(c.event, d, reply), nil
}

// plan says how umpire runs a call instead of the host, if it does.
func (p *Responder) plan(c *claudeCase, d *umpire.Decision, reply Reply) (Rewriting, bool) {
	if c.config.Hook.NeverRewrite {
		return Rewriting{}, false
	}
	if p.Rewriter != nil {
		return planRewriting(&c.event, d, reply, c.undoes())
	}
	if p.HandOver != nil && rewritingAction(&c.event, d, reply, c.undoes()) != "" {
		p.HandOver(c.question)
	}
	return Rewriting{}, false
}

// warn has no opinion where umpire only warns. The gate keeps the record, if one runs; what
// it cannot keep holds nothing up.
func (p *Responder) warn(ctx context.Context, r *run, c claudeCase) Output {
	out := unenforced(c.alone(ctx))
	if p.through == nil || c.event.Kind != ClaudePreToolUse {
		return out
	}
	if err := p.through.record(p, ctx, r, c); err != nil {
		out.Stderr = fmt.Appendf(out.Stderr, "umpire: not enforced, and not recorded: %s\n", view.Visible(err.Error()))
	}
	return out
}

// claudeCase gathers what an event is decided by.
func (p *Responder) claudeCase(r *run, q *Question, e ClaudeEvent) (claudeCase, error) {
	project, err := claudeProject(q, &e)
	if err != nil {
		return claudeCase{}, err
	}
	c, err := p.config(r, q, project)
	if err != nil {
		return claudeCase{}, err
	}
	e.Call.Dir = cmp.Or(e.Call.Dir, project)
	// A configured reject asks nobody, and Claude Code's plan mode must not turn
	// that into a question.
	headless := q.Headless || c.Mode == umpire.ModeReject
	return claudeCase{question: q, event: e, project: project, config: c, home: p.Home, headless: headless}, nil
}

// reply is what Claude Code is told about a decision.
func (c *claudeCase) reply(d *umpire.Decision, hold bool) Reply {
	return c.event.Reply(*d, Mode{Hold: hold, Own: c.ownFolders(d)}, c.headless)
}

// ownFolders are Claude Code's own folders, where a decision may be about one of them. None
// lies in the project, and finding them looks at a dozen files.
func (c *claudeCase) ownFolders(d *umpire.Decision) []Folder {
	elsewhere := func(a umpire.Access) bool { return a.Resolved != "" && !files.Within(c.project, a.Resolved) }
	if !slices.ContainsFunc(d.Accesses, elsewhere) {
		return nil
	}
	return FindClaudeFolders(c.home, c.question.HostDir, c.project)
}

func (c *claudeCase) writeAnswer(d umpire.Decision, hold bool) Output {
	return AnswerClaude(c.event, d, c.reply(&d, hold))
}

// alone decides without a gate that keeps anything, as if somebody could be asked: that
// nobody can is part of the reply.
func (c *claudeCase) alone(ctx context.Context) umpire.Decision {
	given := policy.Conditions{Mode: c.event.Mode(c.config.Mode)}
	return c.config.Decide(ctx, c.project, policy.Query{Call: c.event.Call, Conditions: given})
}

// claudeProject is the folder that Claude Code was started in. The payload's own
// folder follows `cd`, so it is only second best.
func claudeProject(q *Question, e *ClaudeEvent) (string, error) {
	project := cmp.Or(q.Project, e.Dir, q.Dir)
	if !filepath.IsAbs(project) {
		return "", umpire.Errorf("project folder %q is not an absolute path", project)
	}
	return project, nil
}

// Session is the session that the question is about, "" where it names none or cannot be
// read. Nothing else of the question names one.
func (q *Question) Session() umpire.SessionID {
	if q.Agent != claudeAgent {
		return ""
	}
	e, err := ReadClaude(q.Payload)
	if err != nil {
		return ""
	}
	return e.Session
}

// undoes reports whether what calls change is to be undoable: the person lets edits run.
func (c *claudeCase) undoes() bool { return c.config.Autonomy.Edits }
