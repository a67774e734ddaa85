package rules

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// A report counts the calls that umpire asks about and blocks, and the questions that would be left at the medium level
// and with the suggested rules.
type report struct {
	From      time.Time        `json:"from,omitzero"` // of the first call that counts
	Observes  bool             `json:"observes"`      // umpire only observes: nothing was asked or blocked
	Calls     int              `json:"calls"`
	Asked     int              `json:"questions"`
	Blocked   int              `json:"denied"`
	Denied    []string         `json:"denied_calls"` // some of them
	AtMedium  int              `json:"questions_at_medium"`
	WithRules int              `json:"questions_with_suggestions"`
	Rules     []history.Saving `json:"suggestions"`
	LeftOut   int              `json:"left_out"` // calls that cannot be decided again
}

// runReport is `umpire replay` without a change to compare with.
func runReport(ctx context.Context, a *app.App, f *replayFlags) error {
	conf, err := a.LoadConfig(a.Dir)
	if err != nil {
		return err
	}
	r := report{Observes: conf.Observes(), Denied: []string{}, Rules: []history.Saving{}}
	err = f.withCalls(ctx, a, "umpire replay --help", func(past *pastCalls, batches *batchCache) error {
		s := newSuggester(a, f.all)
		if err := s.decideCalls(ctx, past, batches); err != nil {
			return err
		}
		for _, q := range s.denied {
			if r.Blocked += q.past.times; len(r.Denied) < maxChanges {
				r.Denied = append(r.Denied, view.Clip(view.SubjectOf(q.call.Input), maxSubject))
			}
		}
		if err := r.countAtMedium(ctx, a, past, batches); err != nil {
			return err
		}
		found, err := s.suggest(ctx)
		if err != nil {
			return err
		}
		r.From, r.Calls, r.Asked, r.LeftOut = found.From, found.Calls, found.Questions, found.LeftOut
		r.WithRules = found.Questions - found.Saved
		for i := range found.List {
			r.Rules = append(r.Rules, found.List[i].Saving)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.Show(f.json, &r, func() error { return r.tell(a.Stdout, a.Text) })
}

// countAtMedium counts the questions at the medium level.
func (r *report) countAtMedium(ctx context.Context, a *app.App, past *pastCalls, batches *batchCache) error {
	medium := app.NewDecider(a, func(_ string, c *gate.Config) {
		c.Settings.Autonomy = policy.AutonomyMedium.Autonomy()
	})
	defer medium.Close()
	asks := make([]int, len(past.calls))
	err := eachCall(ctx, len(past.calls), func(ctx context.Context, at int) error {
		p := past.calls[at]
		call, err := p.loadCall(ctx, batches)
		if call == nil || err != nil {
			return err
		}
		d, err := medium.Decide(p.root, *call, p.own)
		if err == nil && history.OutcomeOf(&d) == history.Asked {
			asks[at] = p.times
		}
		return err
	})
	for _, n := range asks {
		r.AtMedium += n
	}
	return err
}

func (r *report) tell(out io.Writer, text *catalogue.Language) error {
	say := func(format string, args ...any) { fmt.Fprintf(out, text.Of(format)+"\n", args...) }
	if r.Calls == 0 {
		say("no calls yet")
		if r.Observes {
			say("Without a gate umpire counts calls and does not keep them. To keep them: umpire serve")
		}
		return nil
	}
	calls := text.Count(r.Calls, "%d call", "%d calls")
	if !r.From.IsZero() {
		calls = fmt.Sprintf(text.Of("%s since %s"), calls, r.From.Local().Format(time.DateTime))
	}
	if r.Observes {
		say("%s: umpire would have asked about %d and blocked %d", calls, r.Asked, r.Blocked)
	} else {
		say("%s: umpire asks about %d and blocks %d", calls, r.Asked, r.Blocked)
	}
	if r.AtMedium < r.Asked {
		say("at medium autonomy it asks about %d", r.AtMedium)
	}
	if len(r.Rules) > 0 {
		say("with these changes it asks about %d:", r.WithRules)
		for i := range r.Rules {
			for _, command := range r.Rules[i].Commands {
				fmt.Fprintf(out, "  %s\n", view.Visible(command))
			}
		}
	}
	if len(r.Denied) > 0 {
		say("blocked:")
		for _, call := range r.Denied {
			fmt.Fprintf(out, "  %s\n", view.Clip(view.Visible(call), maxShownSubject))
		}
	}
	if r.LeftOut > 0 {
		say("%s left out: not kept on the timeline, or the session or folder is gone",
			text.Count(r.LeftOut, "%d call", "%d calls"))
	}
	if r.Observes {
		say("To turn it on: umpire setup")
	}
	return nil
}
