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

// answerHook answers one hook event of a host. Events that cannot stop anything are reported to the
// gate, if there is one, and get no opinion.
func (p *Responder) answerHook(ctx context.Context, r *run, q *Question, h *Host) Output {
	e, err := h.Read(q.Payload)
	if sender := senderOf(err); h == &claude && sender != nil && sender.StartsClaude {
		asked := *q
		asked.Agent, asked.Project = sender.Name, "" // its own payload names the project
		return p.answerHook(ctx, r, &asked, sender)
	}
	if err != nil {
		return h.Fail(e.Name, err)
	}
	e.nameShell(q.Shell)
	var out Output
	switch {
	case e.Kind.Decides():
		out, err = p.decide(ctx, r, q, e)
	case e.Kind != OtherEvent:
		err = p.tellGate(ctx, r, q, e)
		out = p.endTurn(q, &e)
	}
	if errors.Is(err, ErrAway) {
		r.away.Store(true)
	}
	if err != nil {
		return h.Fail(e.Name, err)
	}
	if out.Exit == 0 {
		p.remember(ctx, q, &e, r.asCame)
	}
	return out
}

// endTurn returns the answer to the end of a turn, with a line for the user if there is one to show.
func (p *Responder) endTurn(q *Question, e *Event) (out Output) {
	if e.Kind != TurnEnd || e.Host.turnMessage == "" || e.AgentType != "" || p.TurnLine == nil {
		return Output{}
	}
	if line := p.TurnLine(q, e); line != "" {
		f := form{message: e.Host.turnMessage}
		out.Stdout = f.write(e.Name, said{message: line})
	}
	return out
}

// A hookCase is one question of a host with the inputs of its decision.
type hookCase struct {
	question *Question
	event    Event
	project  string
	config   Config
	home     string // the user's
	headless bool
	gate     bool // a gate is running, which can hold a question
}

func (p *Responder) decide(ctx context.Context, r *run, q *Question, e Event) (Output, error) {
	c, err := p.hookCase(r, q, e)
	if err != nil {
		return Output{}, err
	}
	switch {
	case c.config.Observes():
		return p.observe(ctx, r, c), nil
	case p.through != nil:
		return p.through.answer(p, ctx, r, c)
	}
	d := c.alone(ctx)
	reply := c.reply(&d, false)
	if _, ok := p.plan(&c, &d); ok && p.Rewriter.Allows(ctx, c.question, c.project, &c.event.Call) {
		asked := *q
		asked.Deadline = r.left()
		return p.Rewriter.Answer(ctx, &asked)
	}
	r.asCame = &d
	return c.event.Answer(d, reply), nil
}

// plan returns the plan for umpire to run a call instead of the host, if it does. If no gate is running,
// one is opened for a trial, so a question that only a gate could hold does not prevent it.
func (p *Responder) plan(c *hookCase, d *umpire.Decision) (rewriting, bool) {
	if c.config.Hook.NeverRewrite {
		return rewriting{}, false
	}
	open := *c
	open.gate = true
	reply := open.reply(d, false)
	if p.Rewriter != nil {
		return planRewriting(&c.event, d, reply, c.undoes())
	}
	if p.HandOver != nil && rewritingAction(&c.event, d, reply, c.undoes()) != "" {
		p.HandOver(c.question)
	}
	return rewriting{}, false
}

// observe returns no opinion and keeps the decision. A running gate records the call; a failure to
// record it delays nothing.
func (p *Responder) observe(ctx context.Context, r *run, c hookCase) Output {
	out, d := c.event.silence(), c.alone(ctx)
	out.Stderr, r.asCame = unenforced(d, c.event.folders), &d
	if p.Observed != nil && c.event.Kind == BeforeTool {
		p.Observed(&c.event.Call, &d)
	}
	if p.through == nil || c.event.Kind != BeforeTool {
		return out
	}
	if err := p.through.record(p, ctx, r, c); err != nil {
		out.Stderr = fmt.Appendf(out.Stderr, "umpire: not enforced, and not recorded: %s\n", view.Visible(err.Error()))
	}
	return out
}

// hookCase gathers the inputs for the decision on an event.
func (p *Responder) hookCase(r *run, q *Question, e Event) (hookCase, error) {
	project, err := ProjectOf(q, &e)
	if err != nil {
		return hookCase{}, err
	}
	c, err := p.config(r, q, project)
	if err != nil {
		return hookCase{}, err
	}
	e.Call.Dir = cmp.Or(e.Call.Dir, project)
	e.folders, e.mayTry = view.Folders{Root: c.Root, Home: p.Home}, e.Host.Rewrites() && !c.Hook.NeverRewrite
	// A configured reject never asks, and Claude Code's plan mode must not turn that into a
	// question.
	headless := q.Headless || c.Mode == umpire.ModeReject
	return hookCase{question: q, event: e, project: project, config: c, home: p.Home, headless: headless,
		gate: p.through != nil}, nil
}

// reply returns the reply to the host for a decision.
func (c *hookCase) reply(d *umpire.Decision, hold bool) Reply {
	return c.event.Reply(*d, Mode{Hold: hold, Gate: c.gate, Own: c.ownFolders(d)}, c.headless)
}

// ownFolders returns the host's own folders, if a decision may be about one of them. They are never
// in the project, and finding them reads a dozen files.
func (c *hookCase) ownFolders(d *umpire.Decision) []Folder {
	elsewhere := func(a umpire.Access) bool {
		return a.Resolved != "" && a.Place != umpire.PlaceHarmless && !files.Within(c.project, a.Resolved)
	}
	if !slices.ContainsFunc(d.Accesses, elsewhere) {
		return nil
	}
	return c.event.Host.findFolders(c.home, c.question.HostDir, c.project)
}

func (c *hookCase) writeAnswer(d umpire.Decision, hold bool) Output {
	return c.event.Answer(d, c.reply(&d, hold))
}

// alone decides without a gate that keeps anything, as if attended: the reply takes care of
// headless sessions.
func (c *hookCase) alone(ctx context.Context) umpire.Decision {
	given := policy.Conditions{Mode: c.event.Mode(c.config.Mode)}
	return c.config.Decide(ctx, c.project, policy.Query{Call: c.event.Call, Conditions: given})
}

// ProjectOf returns the folder that the host was started in. If its hooks start in the shell's
// folder, the folder from the payload is used instead.
func ProjectOf(q *Question, e *Event) (string, error) {
	project := cmp.Or(q.Project, e.Project, q.Dir)
	if e.Host.InShellDir {
		project = cmp.Or(q.Project, e.Project, e.Dir, q.Dir)
	}
	if !filepath.IsAbs(project) {
		return "", umpire.Errorf("project folder %q is not an absolute path", project)
	}
	return project, nil
}

// SessionOf returns the session that a question is about, or "" if the payload does not name one or
// cannot be read. Only the payload names the session.
func SessionOf(q *Question) umpire.SessionID {
	h := Find(q.Agent)
	if h == nil || h.own != nil {
		return ""
	}
	e, err := h.Read(q.Payload)
	if err != nil {
		return ""
	}
	return e.Session
}

// undoes reports whether changes by calls should be undoable: the user lets edits run.
func (c *hookCase) undoes() bool { return c.config.Autonomy.Edits }
