package host

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// A Front is the process that an agent starts to ask about one call. All fields are required,
// except for Line and Profile.
type Front struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Dir            string // the working directory
	Now            func() time.Time
	// Responder decides if no gate is running.
	Responder *Responder
	// Line connects to the running gate; it returns nil and no error if no gate is running.
	Line func(ctx context.Context, q *Question) (*relay.Line, error)
	// Runner returns the id of the process that started this one.
	Runner func() string
	// Observes reports whether umpire only observes, in which case no failure stops a call. It is called if the answer
	// could stop one, and the configuration has not been read for it. It may be nil.
	Observes func() bool
	// Nonce returns a text that is unique to this question.
	Nonce func() string
	// Profile records the phases; it may be nil.
	Profile *process.Profile
}

// Answer answers the question on standard input. args are the agent's name and the options of
// [relay.ParseOptions]. If they name umpire's folder, Getenv must know it: see [relay.Registered].
// Answer returns the exit code; it does not answer an unknown agent.
func (f *Front) Answer(ctx context.Context, args []string) (code int, known bool) {
	h := Find(args[0])
	if h == nil {
		return 0, false
	}
	o, err := relay.ParseOptions(args[1:], relay.Deadline(h.DefaultTimeout))
	r := newRun(f.Now, o.Deadline)
	out := h.Fail("", err)
	if err == nil {
		out = r.watch(ctx, h, func(ctx context.Context) Output { return f.answerQuestion(ctx, h, r, o) })
	}
	if f.withholds(h, r, &out) {
		out = r.withhold(h, out)
	}
	code = out.Print(f.Stdout, f.Stderr)
	f.Profile.End(process.AnswerWritten)
	return code, true
}

// withholds reports whether an answer could stop a call although umpire only observes.
func (f *Front) withholds(h *Host, r *run, out *Output) bool {
	if f.Observes == nil || out.Exit == 0 && len(out.Stdout) == 0 || h.DecisionOf(out.Stdout, out.Exit) == "allow" {
		return false
	}
	if observes := r.observes.Load(); observes != nil {
		return *observes
	}
	return f.Observes()
}

func (f *Front) answerQuestion(ctx context.Context, h *Host, r *run, o relay.Options) Output {
	payload, err := f.payload()
	if err != nil {
		return r.fail(h, err)
	}
	f.Profile.End(process.QuestionRead)
	r.reads(payload)
	q := h.NewQuestion(payload, o, f.Dir, f.Getenv)
	if o.Home == "" {
		if err := checkHome(f.Getenv, f.Dir, cmp.Or(q.Project, f.Dir), f.Dir); err != nil {
			return r.fail(h, err)
		}
	}
	line, err := f.line(ctx, h, q)
	switch {
	case err != nil:
		return r.fail(h, err)
	case line == nil:
		out := h.answerQuestion(f.Responder, ctx, r, q)
		f.Profile.End(process.Decided)
		return out
	}
	f.Profile.End(process.GateConnected)
	q.Runner, q.Nonce = f.Runner(), f.Nonce()
	out, err := askGate(ctx, line, r, q)
	if err != nil {
		return r.fail(h, err)
	}
	f.Profile.End(process.GateAnswered)
	return out
}

// payload reads the question.
func (f *Front) payload() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f.Stdin, relay.MaxPayload+1))
	if err != nil {
		return nil, umpire.Errorf("read the payload: %w", err)
	}
	if len(data) > relay.MaxPayload {
		return nil, umpire.Errorf("the payload is larger than %d bytes", relay.MaxPayload)
	}
	return data, nil
}

func (f *Front) line(ctx context.Context, h *Host, q *Question) (*relay.Line, error) {
	if f.Line == nil || !h.Relayed() {
		return nil, nil
	}
	return f.Line(ctx, q)
}

const (
	// backTime is how long a gate may be away: a gate that is replaced by another is back at once,
	// and knows the question.
	backTime = 5 * time.Second
	// retryTime is the pause between two attempts to reach it.
	retryTime = 100 * time.Millisecond
)

// askGate forwards the question until it gets an answer. If a gate breaks off it asks again,
// because another gate on the same store has the same state.
func askGate(ctx context.Context, line *relay.Line, r *run, q *Question) (Output, error) {
	heard := r.now()
	for {
		began := r.now()
		q.Deadline = r.left()
		out, err := line.Ask(ctx, q)
		lost := errors.Is(err, relay.ErrLost)
		if lost && r.now().Sub(began) > retryTime {
			heard = r.now()
		}
		away := lost || errors.Is(err, relay.ErrAbsent)
		if !away || ctx.Err() != nil || r.now().Sub(heard) > backTime {
			return out, err
		}
		q.Again = true
		select {
		case <-ctx.Done():
			return Output{}, ctx.Err()
		case <-time.After(retryTime):
		}
	}
}
