package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const whyLong = `Tells the story of one call: what it would have done, the decision and its rule, the
question, your answer and how long it took, and the outcome.

CALL is the id of a call or of its question, or words from its command; if several calls
match, it is the last one. Without CALL it is the last call that asked you or was denied.`

type whyFlags struct{ json, all bool }

// NewWhyCommand is `umpire why`.
func NewWhyCommand(a *app.App) *cobra.Command {
	var f whyFlags
	cmd := &cobra.Command{
		Use: "why [CALL]", Short: "Explain a past call: the question, the answer and the outcome", Long: whyLong,
		Example: "  umpire why\n  umpire why 'git push'\n  umpire why --json toolu_01A",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runWhy(cmd.Context(), a, &f, strings.Join(args, ""))
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "write JSON")
	app.AddAllProjects(cmd.Flags(), &f.all)
	return cmd
}

// A story is the result of `umpire why`.
type story struct {
	Session umpire.SessionID `json:"session_id"`
	ID      umpire.CallID    `json:"call_id"`
	history.Call
	Undone bool `json:"undone,omitempty"`

	events    []umpire.Event
	explained bool // a step has told why it ran
	root      string
}

// question returns a question that a person got, or nil.
func (s *story) question(id umpire.RequestID) *history.Question {
	for i := range s.Questions {
		if s.Questions[i].Request == id {
			return &s.Questions[i]
		}
	}
	return nil
}

func runWhy(ctx context.Context, a *app.App, f *whyFlags, about string) error {
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		here, err := app.ViewProject(ctx, a, gate, app.PersonCredential, f.all)
		if err != nil {
			return err
		}
		name, err := findCall(ctx, here, gate, about)
		if err != nil {
			return err
		}
		if name == (history.Name{}) {
			if about == "" {
				return app.Usage("umpire timeline", "no call was asked about or denied yet")
			}
			return app.Usage("umpire timeline", "%q: no call has this id, or a command with these words", about)
		}
		s, err := tellStory(ctx, a.StateDir(), gate, name)
		if err != nil {
			return err
		}
		return a.Show(f.json, s, func() error { return s.tell(a) })
	})
}

// whyPage is how many events are searched at a time, from the last one back.
const whyPage = 500

// findCall returns the last call with an id, a question or words in its command, or else no name.
func findCall(ctx context.Context, here *app.ProjectView, gate umpire.Gate, about string) (history.Name, error) {
	f := umpire.Filter{Last: whyPage}
	m := matcher{gate: gate, about: about, looked: map[history.Name]bool{}, settled: map[umpire.RequestID]bool{}}
	for {
		page, err := here.Events(ctx, f)
		if err != nil || len(page) == 0 {
			return history.Name{}, err
		}
		for i := range slices.Backward(page) {
			e := &page[i]
			if e.Call != "" && m.matches(ctx, e) {
				return history.Name{Session: e.Session, Call: e.Call}, nil
			}
		}
		f.Before = page[0].Seq
	}
}

// A matcher recognizes the events of the wanted call, from the last event back.
type matcher struct {
	gate    umpire.Gate
	about   string
	looked  map[history.Name]bool     // calls whose commands it has read
	settled map[umpire.RequestID]bool // questions that a trial answered in place of a person
}

func (m *matcher) matches(ctx context.Context, e *umpire.Event) bool {
	if m.about == "" {
		if e.Kind == umpire.EventPermissionApproved && e.Actor == history.GateActor {
			m.settled[e.Request] = true
		}
		return e.Kind == umpire.EventPermissionRejected ||
			e.Kind == umpire.EventPermissionAsked && !m.settled[e.Request]
	}
	if string(e.Call) == m.about || string(e.Request) == m.about {
		return true
	}
	name := history.Name{Session: e.Session, Call: e.Call}
	if m.looked[name] {
		return false
	}
	m.looked[name] = true
	b, err := m.gate.Batch(ctx, e.Session, e.Batch)
	if err != nil {
		return false // its session was deleted
	}
	c := b.Call(e.Call)
	return c != nil && strings.Contains(view.SubjectOf(c.Input), m.about)
}

// tellStory reads the events of a call.
func tellStory(ctx context.Context, stateDir string, gate umpire.Gate, name history.Name) (*story, error) {
	events, err := gate.Events(ctx, umpire.Filter{Session: name.Session})
	if err != nil {
		return nil, err
	}
	s := story{Session: name.Session, ID: name.Call}
	for i := range events {
		if events[i].Call == name.Call {
			s.Call.Add(&events[i])
			s.events = append(s.events, events[i])
		}
	}
	if at, err := gate.Sessions().Get(ctx, name.Session); err == nil { // of a deleted one all paths are absolute
		s.root = at.Root
	}
	undone, err := app.FindUndone(stateDir)
	if s.Undone = undone[name]; len(s.Input) == 0 {
		if b, err := gate.Batch(ctx, name.Session, s.Batch); err == nil { // one that is gone leaves its accesses
			if c := b.Call(name.Call); c != nil {
				s.Input = c.Input
			}
		}
	}
	return &s, err
}

// tell writes the story: the command and its consequence, and then each step with its time.
func (s *story) tell(a *app.App) error {
	t := app.NewTable(a.Stdout)
	fmt.Fprintln(a.Stdout, cmp.Or(app.Clip(view.Visible(view.SubjectOf(s.Input))), view.Visible(s.Tool)))
	if d := s.Decided; d != nil {
		decision := umpire.Decision{
			Verdict: verdictOf(d), Reason: d.Reason, ReasonCode: d.Code, Accesses: d.Accesses,
		}
		if said := view.Headline(&decision, view.Folders{Root: s.root, Home: a.UserHome()}, a.Text); said != "" {
			fmt.Fprintln(a.Stdout, said)
		}
	}
	fmt.Fprintln(a.Stdout)
	called := fmt.Sprintf(a.Text.Of("%s called %s in session %s"),
		view.Visible(cmp.Or(s.Agent, "-")), view.Visible(s.Tool), view.Visible(string(s.Session)))
	row := func(at time.Time, words string) {
		fmt.Fprintf(t, "  %s\t%s\n", at.Local().Format(time.DateTime), words)
	}
	row(s.First, called)
	for i := range s.events {
		if words := s.step(a.Text, &s.events[i]); words != "" {
			row(s.events[i].At, words)
		}
	}
	if s.Undone {
		fmt.Fprintf(t, "  \t%s\n", a.Text.Of("undone since"))
	}
	return t.Flush()
}

// verdictOf returns the verdict of an event with a decision.
func verdictOf(e *umpire.Event) umpire.Verdict {
	if e.Verdict == nil {
		return umpire.Deny
	}
	return *e.Verdict
}

// step tells one event of the call, or "" if it adds nothing.
func (s *story) step(text *catalogue.Language, e *umpire.Event) string {
	switch e.Kind {
	case umpire.EventPermissionAsked:
		asked := "asked you (%s): %s"
		if s.question(e.Request) == nil {
			asked = "would have asked you (%s): %s"
		}
		return fmt.Sprintf(text.Of(asked), view.Visible(string(e.Request)), because(text, e))
	case umpire.EventPermissionBypassedByRule:
		s.explained = true
		if e.Code == umpire.CodeLeftToHost {
			return text.Of("left to the agent")
		}
		return fmt.Sprintf(text.Of("allowed: %s"), because(text, e))
	case umpire.EventPermissionApproved, umpire.EventPermissionRejected:
		s.explained = true
		return s.answered(text, e)
	case umpire.EventTrialRan, umpire.EventEffectsConflicted:
		return fmt.Sprintf(text.Of("tried: %s"), view.Outcome(e, text))
	case umpire.EventEffectsKept:
		return text.Of("its changes were kept")
	case umpire.EventEffectsDiscarded:
		return text.Of("its changes were discarded")
	case umpire.EventCallStarted:
		if !s.explained {
			return fmt.Sprintf(text.Of("allowed: %s"), because(text, e))
		}
		return text.Of("started")
	case umpire.EventCallFinished:
		ended := fmt.Sprintf(text.Of("ended: %s"), text.Word("status", string(s.Status)))
		if took := e.At.Sub(s.Started); !s.Started.IsZero() && took >= time.Second {
			ended = view.Joined(ended, ", ", fmt.Sprintf(text.Of("after %s"), view.Age(took)))
		}
		return ended
	case umpire.EventCallRanUnasked:
		return text.Of("ran without umpire being asked")
	case umpire.EventCallRanRefused:
		return fmt.Sprintf(text.Of("ran anyway (%s)"), text.Of(view.Refusal(e)))
	case umpire.EventCallIndeterminate:
		return text.Of("may have run: the agent ended meanwhile")
	}
	return ""
}

// because gives the reason of a decision with its rule.
func because(text *catalogue.Language, e *umpire.Event) string {
	reason := view.Visible(text.Reason(e.Reason))
	if e.Rule != "" {
		reason = view.Bracketed(reason, view.Visible(string(e.Rule)))
	}
	return app.Clip(reason)
}

// answered tells the answer to a question with its author, and the time that passed before it.
func (s *story) answered(text *catalogue.Language, e *umpire.Event) string {
	q := s.question(e.Request)
	if q == nil || q.By == "" {
		if e.Kind == umpire.EventPermissionApproved {
			return "" // the next event tells which rule or trial allowed it
		}
		return fmt.Sprintf(text.Of("denied: %s"), because(text, e))
	}
	wait, _ := q.Wait()
	said := "%s denied after %s"
	if q.Approved {
		said = "%s approved after %s"
	}
	words := fmt.Sprintf(text.Of(said), view.Visible(q.By), view.Age(wait))
	if q.Approved && q.Scope != nil {
		words = view.Joined(words, ", ", text.Word("scope", q.Scope.String()))
	}
	if q.Client != "" {
		words = view.Joined(words, ", ", view.Visible(q.Client))
	}
	if q.Reason != "" {
		words = view.Joined(words, ": ", app.Clip(view.Visible(text.Reason(q.Reason))))
	}
	return words
}
