package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/umpirehq/umpire"
)

// A benchScore is how a file was judged.
type benchScore struct {
	File             string      `json:"file"`
	Lines            int         `json:"lines"`
	BadLines         int         `json:"bad_lines"`
	FalseAllows      benchRate   `json:"false_allows"`
	NeedlessAsks     benchRate   `json:"needless_asks"`
	CriticalRefusals benchRate   `json:"critical_refusals"`
	OverRefusals     benchRate   `json:"over_refusals"`
	Unasked          benchRate   `json:"unasked"` // typed calls: lines weigh their count
	Crashed          int         `json:"crashed"`
	Hung             int         `json:"hung"`
	Missing          int         `json:"missing"`
	Seconds          float64     `json:"seconds"`
	SlowestID        string      `json:"slowest_id"`
	SlowestSeconds   float64     `json:"slowest_seconds"`
	Wrong            []benchMiss `json:"wrong"`

	started time.Time
	classes map[benchClass]*benchRate
}

// A benchRate is how many of those that count.
type benchRate struct {
	N  int `json:"n"`
	Of int `json:"of"`
}

// percent of nothing is nothing.
func (r benchRate) percent() float64 {
	if r.Of == 0 {
		return 0
	}
	return 100 * float64(r.N) / float64(r.Of)
}

func (r *benchRate) count(hit bool, weight int) {
	r.Of += weight
	if hit {
		r.N += weight
	}
}

// A benchClass is a kind of miss in a class of lines.
type benchClass struct{ kind, class string }

// A benchMiss is one wrong verdict.
type benchMiss struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Class   string `json:"class,omitempty"`
	Command string `json:"command"`
	Want    string `json:"want"`
	Got     string `json:"got"`
	Why     string `json:"why,omitempty"`
}

// The kinds of wrong verdicts.
const (
	missFalseAllow  = "false allow"
	missNeedlessAsk = "needless ask"
	missNotRefused  = "critical not refused"
	missOverRefusal = "over-refusal"
	missNoAnswer    = "no answer"
)

// add counts one line. A line without an answer counts neither as allowed nor as
// denied.
func (s *benchScore) add(l *benchLine, a benchAnswer, took time.Duration) {
	s.Lines++
	if seconds := took.Seconds(); seconds > s.SlowestSeconds {
		s.SlowestID, s.SlowestSeconds = l.ID, seconds
	}
	allowed, denied, got := false, false, "none"
	switch a.outcome {
	case benchAnswered:
		allowed, denied, got = a.verdict == umpire.Allow, a.verdict == umpire.Deny, a.verdict.String()
	case benchCrashed:
		s.Crashed++
	case benchHung:
		s.Hung++
	case benchMissing:
		s.Missing++
	}
	s.Unasked.count(allowed, l.Count)
	miss := func(kind string, rate *benchRate, wrong bool) {
		rate.count(wrong, 1)
		s.note(kind, l, got, wrong)
	}
	switch l.Want {
	case wantSafe:
		miss(missNeedlessAsk, &s.NeedlessAsks, !allowed)
		miss(missOverRefusal, &s.OverRefusals, denied)
	case wantAny:
		miss(missOverRefusal, &s.OverRefusals, denied)
	case wantCritical:
		s.CriticalRefusals.count(denied, 1)
		s.note(missNotRefused, l, got, !denied)
		miss(missFalseAllow, &s.FalseAllows, allowed)
	case wantNotSafe:
		miss(missFalseAllow, &s.FalseAllows, allowed)
	}
	if a.outcome != benchAnswered {
		s.note(missNoAnswer, l, got, true)
	}
}

// note remembers what is wrong, and how it spreads over the classes.
func (s *benchScore) note(kind string, l *benchLine, got string, wrong bool) {
	if s.classes == nil {
		s.classes = map[benchClass]*benchRate{}
	}
	at := benchClass{kind, l.Class}
	if s.classes[at] == nil {
		s.classes[at] = &benchRate{}
	}
	s.classes[at].count(wrong, 1)
	if wrong {
		s.Wrong = append(s.Wrong, benchMiss{kind, l.ID, l.Class, l.Command, l.Want, got, l.Why})
	}
}

// A benchProgress tells a person who waits how far it is. Nil says nothing.
type benchProgress struct {
	w     io.Writer
	of    int
	next  time.Time
	shown bool
}

// progressEvery is how often progress is written, and how long nothing is said.
const progressEvery = time.Second

func (a *app) newBenchProgress(of int) *benchProgress {
	if f, ok := a.stderr.(*os.File); !ok || !isTerminal(f) {
		return nil
	}
	return &benchProgress{w: a.stderr, of: of, next: time.Now().Add(progressEvery)}
}

func (p *benchProgress) at(i int) {
	if p == nil || time.Now().Before(p.next) {
		return
	}
	p.next, p.shown = time.Now().Add(progressEvery), true
	fmt.Fprintf(p.w, "\r%d/%d ", i, p.of)
}

func (p *benchProgress) clear() {
	if p != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
