package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// pastFlags choose the calls of the past.
type pastFlags struct {
	since, calls string
	all          bool
	session      umpire.SessionID // only its calls, if not ""
}

func (f *pastFlags) defineFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.since, "since", "", "only since `TIME`: 10m, 7d, 14:30 or RFC 3339")
	app.AddAllProjects(flags, &f.all)
}

// withCalls reads the calls, and works on them while the gate that has their inputs is open.
func (f *pastFlags) withCalls(
	ctx context.Context, a *app.App, help string, work func(*pastCalls, *batchCache) error,
) error {
	if f.calls != "" {
		past, err := readCallFile(a, f.calls)
		if err != nil {
			return err
		}
		return work(past, nil)
	}
	since, err := readSince(a.Now(), f.since, help)
	if err != nil {
		return err
	}
	return a.WithGate(ctx, app.PersonCredential, func(gate umpire.Gate) error {
		return f.withGateCalls(ctx, a, gate, since, work)
	})
}

// withGateCalls is withCalls for an open gate.
func (f *pastFlags) withGateCalls(
	ctx context.Context, a *app.App, gate umpire.Gate, since time.Time, work func(*pastCalls, *batchCache) error,
) error {
	here, err := app.ViewProject(ctx, a, gate, app.PersonCredential, f.all)
	if err != nil {
		return err
	}
	past, err := readTimeline(ctx, here, since, f.session)
	if err != nil {
		return err
	}
	past.since = since
	return work(past, &batchCache{gate: gate})
}

// readSince reads the time of --since, or returns the zero time without one.
func readSince(now time.Time, text, help string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return app.ParseSince(text, now, help)
}

// tellNoCalls says that there are no calls: none at all, or none since a time.
func tellNoCalls(out io.Writer, text *catalogue.Language, since time.Time) error {
	said := text.Of("no calls yet")
	if !since.IsZero() {
		said = fmt.Sprintf(text.Of("no calls since %s"), since.Local().Format(time.DateTime))
	}
	_, err := fmt.Fprintln(out, said)
	return err
}

// A pastCall is one or more equal calls of the past. Only their last one is kept.
type pastCall struct {
	root    string // of the project
	dir     string
	own     bool // umpire's agent made it
	tool    string
	session umpire.SessionID
	batch   umpire.BatchID
	id      umpire.CallID
	times   int

	call *umpire.Call // nil if it has to be read from the batch
}

// pastCalls are the calls that can be decided again.
type pastCalls struct {
	calls []*pastCall
	since time.Time // of the flag, or zero
	first time.Time // the time of the first one, or zero
	// lost counts the other calls: the gate did not store them, or their session or folder is gone.
	lost int
}

// A callKey is the same for calls that get the same decision.
type callKey struct {
	root, dir string
	own       bool
	tool      string
	input     string // its hash, or for a call of a file the input
}

// A callIndex finds equal calls.
type callIndex struct {
	pastCalls

	byKey map[callKey]*pastCall
}

// addCall adds a call, or counts it with an equal one.
func (x *callIndex) addCall(key callKey, p pastCall) {
	if known := x.byKey[key]; known != nil {
		p.times += known.times
		*known = p
		return
	}
	x.byKey[key] = &p
	x.calls = append(x.calls, &p)
}

// readTimeline reads the calls since a time, of one session or, given "", of all.
func readTimeline(
	ctx context.Context, here *app.ProjectView, since time.Time, of umpire.SessionID,
) (*pastCalls, error) {
	sessions, err := here.Sessions(ctx, 0)
	if err != nil {
		return nil, err
	}
	byID := make(map[umpire.SessionID]*umpire.Session, len(sessions))
	for i := range sessions {
		byID[sessions[i].ID] = &sessions[i]
	}
	x := callIndex{byKey: map[callKey]*pastCall{}}
	for e, err := range here.Since(ctx, since) {
		if err != nil {
			return nil, err
		}
		if of != "" && e.Session != of {
			continue
		}
		switch e.Kind {
		case umpire.EventBatchSubmitted:
			x.addBatch(&e, byID[e.Session])
		case umpire.EventPermissionBypassedByRule:
			if e.Code != umpire.CodeLeftToHost {
				continue // its batch has it
			}
			x.addLeft(&e, byID[e.Session])
		case umpire.EventCallRanUnasked:
			x.lost++
		default:
			continue
		}
		if x.first.IsZero() || e.At.Before(x.first) {
			x.first = e.At
		}
	}
	return &x.pastCalls, nil
}

// addBatch adds the calls of a batch. session is nil if it was deleted, and the inputs of its calls with it.
func (x *callIndex) addBatch(e *umpire.Event, session *umpire.Session) {
	decoded, err := batch.Decode(*e)
	submitted, ok := decoded.Detail.(batch.Submitted)
	if err != nil || !ok {
		return
	}
	dir := folderOf(session)
	if dir == "" {
		x.lost += len(submitted.Calls)
		return
	}
	for i := range submitted.Calls {
		c := &submitted.Calls[i]
		key := callKey{session.Root, dir, !session.External, c.Tool, c.ArgsHash}
		x.addCall(key, pastCall{
			root: key.root, dir: dir, own: key.own, tool: c.Tool, session: session.ID,
			batch: e.Batch, id: c.ID, times: 1,
		})
	}
}

// addLeft adds a call about which its host asked in its own prompt.
func (x *callIndex) addLeft(e *umpire.Event, session *umpire.Session) {
	var left struct {
		Input json.RawMessage `json:"input"`
	}
	dir := folderOf(session)
	if dir == "" || json.Unmarshal(e.Data, &left) != nil || len(left.Input) == 0 {
		x.lost++
		return
	}
	key := callKey{session.Root, dir, !session.External, e.Tool, string(left.Input)}
	x.addCall(key, pastCall{
		root: key.root, dir: dir, own: key.own, tool: e.Tool, session: session.ID,
		batch: e.Batch, id: e.Call, times: 1,
		call: &umpire.Call{Tool: e.Tool, Input: left.Input, Dir: dir},
	})
}

// folderOf returns the folder of a session's calls, or "" if the session or its project is gone.
func folderOf(session *umpire.Session) string {
	switch {
	case session == nil || !files.IsFolder(session.Root):
		return ""
	case files.IsFolder(session.Dir):
		return session.Dir
	}
	return session.Root
}

// readCallFile reads the calls of a file, or of standard input if its name is "-".
func readCallFile(a *app.App, name string) (*pastCalls, error) {
	in := a.Stdin
	if name != "-" {
		f, err := os.Open(a.Absolute(name))
		if err != nil {
			return nil, app.Usage("umpire replay --help", "--calls: %w", err)
		}
		defer f.Close()
		in = f
	}
	recorded, err := app.ReadRecorded(name, in, a.Dir)
	if err != nil {
		return nil, app.Usage("umpire check --help", "--calls: %w", err)
	}
	x := callIndex{byKey: map[callKey]*pastCall{}}
	for i := range recorded {
		r := &recorded[i]
		key := callKey{root: r.Dir, dir: r.Dir, tool: r.Tool, input: string(r.Input)}
		if !files.IsFolder(r.Dir) {
			x.lost += r.Times
			continue
		}
		x.addCall(key, pastCall{
			root: r.Dir, dir: r.Dir, session: r.Session, id: r.ID, times: r.Times,
			call: &umpire.Call{Tool: r.Tool, Input: r.Input, Dir: r.Dir},
		})
	}
	return &x.pastCalls, nil
}

// loadCall returns the call with its input, or nil if that is gone.
func (p *pastCall) loadCall(ctx context.Context, batches *batchCache) (*umpire.Call, error) {
	if p.call != nil {
		return p.call, nil
	}
	b, err := batches.load(ctx, p.session, p.batch)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := b.Call(p.id)
	if c == nil || len(c.Input) == 0 {
		return nil, nil
	}
	return &umpire.Call{Tool: c.Tool, Input: c.Input, Dir: p.dir, Background: c.Background}, nil
}

// A batchCache keeps the last batches, because the calls of a batch are read one after the other.
type batchCache struct {
	gate umpire.Submitter

	mu      sync.Mutex
	batches map[batchKey]*umpire.Batch
}

type batchKey struct {
	session umpire.SessionID
	batch   umpire.BatchID
}

// maxBatches is the greatest number of batches in a cache.
const maxBatches = 16

func (c *batchCache) load(ctx context.Context, session umpire.SessionID, id umpire.BatchID) (*umpire.Batch, error) {
	key := batchKey{session, id}
	c.mu.Lock()
	known := c.batches[key]
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	b, err := c.gate.Batch(ctx, session, id)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.batches == nil || len(c.batches) >= maxBatches {
		c.batches = map[batchKey]*umpire.Batch{}
	}
	c.batches[key] = &b
	return &b, nil
}

// eachCall runs work for the call at each index on all processors, until one fails.
func eachCall(ctx context.Context, calls int, work func(ctx context.Context, at int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(calls, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for at := range next {
				if err := work(ctx, at); err != nil {
					cancel(err)
				}
			}
		})
	}
	for at := range calls {
		select {
		case next <- at:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}
