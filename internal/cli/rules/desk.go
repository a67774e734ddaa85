package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// A Desk drafts tasks for a session, and tells what a task would allow. It decides the session's calls by the rules and
// settings in force. It is for one goroutine.
type Desk struct {
	app       *app.App
	session   *umpire.Session
	title     string // the first words of its prompt, or ""
	questions []*question
	asked     int // equal questions count each time
	lost      int // calls whose input is not known
}

// maxTitle bounds the title of a draft, in which odd characters are escaped.
const maxTitle = 100

// openDesk reads the calls of a session and those that its plans name, and decides them.
func openDesk(ctx context.Context, a *app.App, gate umpire.Gate, session *umpire.Session) (*Desk, error) {
	own := *a
	own.Dir = session.Root
	if _, err := own.LoadConfig(own.Dir); err != nil {
		return nil, err
	}
	f := pastFlags{session: session.ID}
	d := &Desk{app: &own, session: session}
	if said, err := gate.Conversations().Read(ctx, umpire.ConversationQuery{Session: session.ID}); err == nil {
		d.title = view.Clip(view.FirstWords(view.FirstMessage(said.Messages)), maxTitle)
	}
	err := f.withGateCalls(ctx, &own, gate, session.CreatedAt, func(past *pastCalls, batches *batchCache) error {
		if err := past.addPlanned(ctx, batches); err != nil {
			return err
		}
		s := newSuggester(&own, false)
		err := s.decideCalls(ctx, past, batches)
		d.questions, d.asked, d.lost = s.questions, s.found.Questions, s.found.LeftOut
		return err
	})
	return d, err
}

// Desks returns a function that opens the desk of a session of a gate.
func Desks(a *app.App, gate umpire.Gate) func(context.Context, *umpire.Session) (task.Desk, error) {
	return func(ctx context.Context, s *umpire.Session) (task.Desk, error) { return openDesk(ctx, a, gate, s) }
}

// Draft returns a task that would have answered the session's questions, or with the lines of an old one too, and the
// calls that no line can allow.
func (d *Desk) Draft(old *task.Task) (made task.Task, left []string) {
	var all []task.Question
	for _, q := range d.questions {
		all = append(all, task.Question{
			Suggestions: q.decision.Suggestions, Most: q.decision.Consequence, Times: q.past.times,
		})
	}
	var at []int
	if old != nil {
		made, at = task.Widen(*old, all)
	} else {
		other := fmt.Sprintf(d.app.Text.Of("Work of session %s"), d.session.ID)
		made, at = task.Draft(cmp.Or(d.title, other), all)
	}
	for _, i := range at {
		if d.questions[i].past.times == 0 {
			continue // only planned
		}
		left = append(left, view.SubjectOf(d.questions[i].call.Input))
	}
	return made, left
}

// Describe returns the card of a task.
func (d *Desk) Describe(ctx context.Context, t *task.Task) (*task.Card, error) {
	p := newTaskPreview(d.app, t, d.session.Root)
	defer p.decider.Close()
	answered, byLine, err := p.countAnswered(d.questions)
	if err != nil {
		return nil, err
	}
	card := &task.Card{Task: *t, Questions: d.asked, Answered: answered}
	in := view.Folders{Root: d.session.Root, Home: d.app.UserHome()}
	for i := range t.Lines {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		worst, err := p.worst(i)
		if err != nil {
			return nil, err
		}
		card.Risky = card.Risky || worst != nil && worst.decision.Risk.AtLeast(umpire.High)
		line := task.CardLine{Answers: byLine[i]}
		if worst != nil && t.Lines[i].Match.Command == "" {
			line.Worst = view.Clip(view.Visible(view.SubjectOf(worst.call.Input)), maxShownSubject)
			if headline := view.Headline(&worst.decision, in, d.app.Text); headline != "" {
				line.Worst = view.Bracketed(line.Worst, app.Clip(headline))
			}
		}
		card.Lines = append(card.Lines, line)
	}
	return card, nil
}

// Suggestions returns a function that lists suggestions for the project of a folder, like umpire suggest.
func Suggestions(a *app.App, from umpire.Gate) func(ctx context.Context, dir string, since time.Time) (string, error) {
	return func(ctx context.Context, dir string, since time.Time) (string, error) {
		var said strings.Builder
		own := *a
		own.Dir, own.Stdout = dir, &said
		if _, err := own.LoadConfig(dir); err != nil {
			return "", err
		}
		found, err := suggestFrom(ctx, &own, from, since, false)
		if err == nil {
			err = found.tell(&own)
		}
		return said.String(), err
	}
}

// Suggest returns the permissions that would have saved the most questions in all projects since a time.
func Suggest(ctx context.Context, a *app.App, gate umpire.Gate, since time.Time) (list []history.Saving, err error) {
	found, err := suggestFrom(ctx, a, gate, since, true)
	if err != nil {
		return nil, err
	}
	for i := range found.List {
		list = append(list, found.List[i].Saving)
	}
	return list, nil
}

// suggestFrom finds suggestions for the calls of a gate, of one project or of all.
func suggestFrom(
	ctx context.Context, a *app.App, gate umpire.Gate, since time.Time, all bool,
) (found *suggested, err error) {
	f := pastFlags{all: all}
	err = f.withGateCalls(ctx, a, gate, since, func(past *pastCalls, batches *batchCache) (err error) {
		s := newSuggester(a, all)
		if err = s.decideCalls(ctx, past, batches); err == nil {
			found, err = s.suggest(ctx)
		}
		return err
	})
	return found, err
}

// TryRule says how one more rule, in short form, would have changed the calls of a project since a time, like
// umpire replay. An error that matches [umpire.ErrInvalid] is about the rule.
func TryRule(
	ctx context.Context, a *app.App, from umpire.Gate, dir, action, short string, since time.Time,
) (string, error) {
	rule, err := policy.ParseShort(short)
	if err == nil {
		err = rule.Action.UnmarshalText([]byte(action))
	}
	if err != nil {
		return "", errors.Join(err, umpire.ErrInvalid)
	}
	rule.ID, rule.Source = "tried", umpire.SourceProject
	var said strings.Builder
	own := *a
	own.Dir, own.Stdout = dir, &said
	if _, err := own.LoadConfig(dir); err != nil {
		return "", err
	}
	f, r := pastFlags{}, replay{}
	err = f.withGateCalls(ctx, &own, from, since, func(past *pastCalls, batches *batchCache) error {
		add := func(_ string, c *gate.Config) { c.Rules = append(c.Rules, rule) }
		return r.compare(ctx, &own, past, batches, add)
	})
	if err == nil {
		err = r.tell(&own)
	}
	return said.String(), err
}
