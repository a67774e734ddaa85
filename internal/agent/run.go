package agent

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/umpirehq/umpire"
)

// A run is one runner's work on a session.
type run struct {
	*Agent

	session umpire.Session
	handler Handler
	tools   Tools
	tasks   *tasks        // nil without sub-agents
	bell    chan struct{} // rings after changes; holds one
	// callEnded is set if a call got its result since the last check.
	callEnded atomic.Bool
	outcome   Outcome
	open      umpire.BatchID         // the batch whose results the model lacks
	elided    int                    // how many outputs are left out of requests, oldest first
	reported  map[umpire.CallID]bool // calls whose end was reported to the handler
	trials    *trials
	stopped   bool // a person stopped the turn before this run began
	// cancelled is set if a person stopped the turn in a sub-agent.
	cancelled bool

	handlerMu sync.Mutex // serializes the handler's calls, and guards cursor
	cursor    int64      // the last event passed on

	stopTool atomic.Pointer[context.CancelCauseFunc] // ends the running call
}

// Run continues a session that was opened or taken for this runner: first its open calls, then the
// task, if given, and the messages people queued, until the model has answered everything. It
// returns early, without an error, if a question is waiting and cannot be answered from here.
//
// When ctx ends, Run ends the running call and keeps its result; the next run continues from there.
func (a *Agent) Run(ctx context.Context, s umpire.Session, task string) (Outcome, error) {
	r := &run{
		Agent: a, session: s, handler: a.Handler, tools: a.Tools, bell: make(chan struct{}, 1),
		reported: map[umpire.CallID]bool{}, cursor: a.From,
	}
	r.trials = newTrials(r)
	if r.handler == nil {
		r.handler = deaf{}
	}
	if a.Sub != nil {
		r.tasks = &tasks{run: r}
		r.tools = Toolbox{a.Tools, r.tasks}
	}
	a.now.Store(r)
	defer a.now.Store(nil)
	ctx, cancel := context.WithCancelCause(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { r.watch(ctx, cancel) })
	helpers.Go(func() { r.holdLease(ctx, cancel) })
	err := r.runSteps(ctx, task)
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause // the cause that ended the run, not its consequences
	}
	cancel(nil)
	helpers.Wait()
	r.passRemaining(ctx)
	return r.outcome, err
}

// runSteps does the whole run.
func (r *run) runSteps(ctx context.Context, task string) error {
	if err := r.findOpen(ctx); err != nil {
		return err
	}
	if task != "" {
		if err := r.prompt(ctx, task); err != nil {
			return err
		}
	}
	for n := 0; ; n++ {
		first := n == 0
		goOn, err := r.finishOpen(ctx, task != "" && first)
		if err != nil || !goOn {
			return err
		}
		if r.maxTurns > 0 && n == r.maxTurns {
			return errTurns
		}
		goOn, err = r.takeTurn(ctx)
		if err != nil {
			return err
		}
		if !goOn {
			r.outcome.Idle = first
			return nil
		}
	}
}

// findOpen finds the batch whose results the model lacks, from the timeline. Its finished calls
// were reported by another run.
func (r *run) findOpen(ctx context.Context) error {
	events, err := r.events(ctx, 0)
	if err != nil {
		return err
	}
	if r.open = openBatch(events); r.open == "" {
		return nil
	}
	b, err := r.batch(ctx, r.open)
	if err != nil {
		return err
	}
	for i := range b.Calls {
		r.reported[b.Calls[i].ID] = b.Calls[i].State == umpire.CallDone
	}
	r.stopped = b.Cancelled && b.State == umpire.BatchFinished
	return nil
}

// openBatch returns the last submitted batch, unless it was delivered.
func openBatch(events []umpire.Event) umpire.BatchID {
	open := umpire.BatchID("")
	for i := range events {
		switch e := &events[i]; {
		case e.Kind == umpire.EventBatchSubmitted:
			open = e.Batch
		case e.Kind == umpire.EventBatchDelivered && e.Batch == open:
			open = ""
		}
	}
	return open
}

// countQueued counts the user messages not yet sent to the model.
func countQueued(events []umpire.Event) int {
	n := 0
	for i := range events {
		switch {
		case events[i].Kind == umpire.EventPromptQueued:
			n++
		case events[i].Kind == umpire.EventModelRequested:
			n = 0
		}
	}
	return n
}

// events returns the session's events after a number.
func (r *run) events(ctx context.Context, after int64) ([]umpire.Event, error) {
	return retryPatiently(ctx, func() ([]umpire.Event, error) {
		return r.Gate.Events(ctx, umpire.Filter{Session: r.session.ID, After: after})
	})
}

// prompt submits the task.
func (r *run) prompt(ctx context.Context, task string) error {
	prompt := umpire.Prompt{Session: r.session.ID, Text: task, Epoch: r.session.Epoch}
	prompted, err := r.Gate.Conversations().Prompt(ctx, prompt)
	if err != nil {
		return umpire.Errorf("submit the task: %w", err)
	}
	if prompted.Queued {
		r.notify(func(h Handler) { h.Queued(prompted) })
	}
	return nil
}

// finishOpen finishes the open batch. It reports whether to ask the model next: not after a person
// has stopped the turn, unless there is something new to say.
func (r *run) finishOpen(ctx context.Context, news bool) (bool, error) {
	if r.open == "" {
		return true, nil
	}
	b, err := r.settle(ctx, r.open)
	if err != nil || r.outcome.Waiting > 0 {
		return false, err
	}
	r.open = ""
	stopped := b.Cancelled || r.cancelled
	r.cancelled = false
	if !stopped || news {
		return true, nil
	}
	events, err := r.events(ctx, 0)
	if err != nil || countQueued(events) > 0 {
		return true, err
	}
	r.outcome.Cancelled, r.outcome.Idle = !r.stopped, r.stopped
	return false, nil
}

// takeTurn asks the model once and stores its reply. It reports whether there was anything to ask.
func (r *run) takeTurn(ctx context.Context) (bool, error) {
	conversation, err := retryPatiently(ctx, func() (umpire.Conversation, error) {
		return r.Gate.Conversations().Compose(ctx, r.session.ID, r.session.Epoch)
	})
	if errors.Is(err, umpire.ErrState) {
		return false, r.refusalUnlessIdle(ctx, err)
	}
	if err != nil {
		return false, err
	}
	request, err := r.request(&conversation)
	if err != nil {
		return false, err
	}
	message, err := r.askModel(ctx, request)
	if err != nil {
		return false, &ModelError{Err: err}
	}
	r.outcome.Stop = message.Stop
	return true, r.storeReply(ctx, cleanReply(message), request)
}

// refusalUnlessIdle returns nil for an idle session, which has nothing to send, and the refusal for
// one that a person has ended.
func (r *run) refusalUnlessIdle(ctx context.Context, refusal error) error {
	s, err := r.Gate.Sessions().Get(ctx, r.session.ID)
	if err != nil {
		return err
	}
	if s.State != umpire.SessionIdle {
		return refusal
	}
	return nil
}
