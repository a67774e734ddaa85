package rules

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// A Score is the result of judging a file. The JSON is the output of `umpire bench
// --json`.
type Score struct {
	File             string  `json:"file"`
	Lines            int     `json:"lines"`
	BadLines         int     `json:"bad_lines"`
	FalseAllows      Rate    `json:"false_allows"`
	NeedlessAsks     Rate    `json:"needless_asks"`
	CriticalRefusals Rate    `json:"critical_refusals"`
	OverRefusals     Rate    `json:"over_refusals"`
	Unasked          Rate    `json:"unasked"` // typed calls: lines weigh their count
	Crashed          int     `json:"crashed"`
	Hung             int     `json:"hung"`
	Missing          int     `json:"missing"`
	Seconds          float64 `json:"seconds"`
	SlowestID        string  `json:"slowest_id"`
	SlowestSeconds   float64 `json:"slowest_seconds"`
	Wrong            []Miss  `json:"wrong"` // in the order of the lines
	// Agents has the results of recorded calls by agent, in the order of the lines.
	Agents []AgentScore `json:"agents,omitempty"`

	classes map[classKey]*Rate
}

// A Rate says that N of Of lines count.
type Rate struct {
	N  int `json:"n"`
	Of int `json:"of"`
}

// Percent returns the rate in percent, or 0 if Of is 0.
func (r Rate) Percent() float64 {
	if r.Of == 0 {
		return 0
	}
	return 100 * float64(r.N) / float64(r.Of)
}

func (r *Rate) count(hit bool, weight int) {
	r.Of += weight
	if hit {
		r.N += weight
	}
}

// A Miss is one wrong verdict.
type Miss struct {
	Kind    Kind   `json:"kind"`
	ID      string `json:"id"`
	Class   string `json:"class,omitempty"`
	Command string `json:"command"`
	Want    Want   `json:"want"`
	Got     string `json:"got"` // a verdict, or "none"
	Why     string `json:"why,omitempty"`
}

// A Kind is a way of being wrong.
type Kind string

// The kinds of wrong verdicts.
const (
	falseAllow  Kind = "false allow"
	needlessAsk Kind = "needless ask"
	notRefused  Kind = "critical not refused"
	overRefusal Kind = "over-refusal"
	noAnswer    Kind = "no answer"
)

// A Class is how often one kind of wrong verdict befell a class of lines.
type Class struct {
	Kind Kind
	Name string // of the class; may be empty
	Rate Rate
}

type classKey struct {
	kind Kind
	name string
}

// scoreLines asks the judge for the lines in order, one at a time, to know which line crashed
// or hung. Before each line it calls progress, if not nil, with the number of finished
// lines. It fails only when the context ends.
func scoreLines(ctx context.Context, set LineSet, judge lineJudge, progress func(done int)) (*Score, error) {
	score, began := &Score{File: set.Name, BadLines: set.Bad}, time.Now()
	for i := range set.Lines {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(i)
		}
		asked := time.Now()
		answer := judge(ctx, &set.Lines[i])
		score.countLine(&set.Lines[i], answer, time.Since(asked))
	}
	score.Seconds = time.Since(began).Seconds()
	return score, nil
}

// Unanswered is the number of lines without a verdict.
func (s *Score) Unanswered() int { return s.Crashed + s.Hung + s.Missing }

// Classes returns the classes with wrong verdicts, most frequent first.
func (s *Score) Classes() []Class {
	var found []Class
	for at, rate := range s.classes {
		if rate.N > 0 {
			found = append(found, Class{at.kind, at.name, *rate})
		}
	}
	slices.SortFunc(found, func(a, b Class) int {
		return cmp.Or(cmp.Compare(b.Rate.N, a.Rate.N), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return found
}

// countLine counts one line. A line without an answer counts neither as allowed nor as
// denied.
func (s *Score) countLine(l *Line, a Answer, took time.Duration) {
	s.Lines++
	if seconds := took.Seconds(); seconds > s.SlowestSeconds {
		s.SlowestID, s.SlowestSeconds = l.ID, seconds
	}
	allowed, denied, got := false, false, "none"
	switch a.Outcome {
	case Answered:
		allowed, denied, got = a.Verdict == umpire.Allow, a.Verdict == umpire.Deny, a.Verdict.String()
	case Crashed:
		s.Crashed++
	case Hung:
		s.Hung++
	case Missing:
		s.Missing++
	}
	s.Unasked.count(allowed, l.Count)
	if l.Want == Recorded {
		s.countRecorded(l, a)
	}
	miss := func(kind Kind, rate *Rate, wrong bool) {
		rate.count(wrong, 1)
		s.noteMistake(kind, l, got, wrong)
	}
	switch l.Want {
	case Safe:
		miss(needlessAsk, &s.NeedlessAsks, !allowed)
		miss(overRefusal, &s.OverRefusals, denied)
	case Any:
		miss(overRefusal, &s.OverRefusals, denied)
	case Critical:
		s.CriticalRefusals.count(denied, 1)
		s.noteMistake(notRefused, l, got, !denied)
		miss(falseAllow, &s.FalseAllows, allowed)
	case NotSafe:
		miss(falseAllow, &s.FalseAllows, allowed)
	case Recorded:
	}
	if a.Outcome != Answered {
		s.noteMistake(noAnswer, l, got, true)
	}
}

// noteMistake counts a judged line for its class, and records it if it is wrong.
func (s *Score) noteMistake(kind Kind, l *Line, got string, wrong bool) {
	if s.classes == nil {
		s.classes = map[classKey]*Rate{}
	}
	at := classKey{kind, l.Class}
	if s.classes[at] == nil {
		s.classes[at] = &Rate{}
	}
	s.classes[at].count(wrong, 1)
	if wrong {
		s.Wrong = append(s.Wrong, Miss{kind, l.ID, l.Class, l.Command, l.Want, got, l.Why})
	}
}
