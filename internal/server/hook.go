package server

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// A hookService answers the hooks of agents.
type hookService struct {
	responder host.Responder
	calls     *callService
	refuser   refuser
}

func newHookService(r host.Responder, calls *callService, refuser refuser, in *inbox) *hookService {
	r.UseGate(hookGate{calls.gate, calls}, func(ctx context.Context, session umpire.SessionID) bool {
		return in.shows(ctx, calls.gate, session)
	})
	return &hookService{r, calls, refuser}
}

// ServeHTTP answers an agent's hook. The body is the hook's standard output followed by
// its standard error.
func (c *hookService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := c.answerQuestion(r)
	if err != nil {
		c.refuser.refuse(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.Itoa(len(out.Stdout)+len(out.Stderr)))
	h.Set(relay.HeaderExit, strconv.Itoa(out.Exit))
	h.Set(relay.HeaderStdout, strconv.Itoa(len(out.Stdout)))
	// If the hook is gone, the call counts as denied.
	_, _ = w.Write(slices.Concat(out.Stdout, out.Stderr))
}

func (c *hookService) answerQuestion(r *http.Request) (host.Output, error) {
	if r.Method != http.MethodPost {
		return host.Output{}, wrongMethod(http.MethodPost)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, relay.MaxQuestion+1))
	if err != nil {
		return host.Output{}, invalid("the question cannot be read: %v", err)
	}
	q, err := relay.ReadQuestion(body)
	if err != nil {
		return host.Output{}, umpire.Errorf("%w: %w", err, umpire.ErrInvalid)
	}
	if err := c.checkQuestion(r.Context(), &q); err != nil {
		return host.Output{}, err
	}
	return c.responder.Answer(r.Context(), q)
}

// checkQuestion refuses a question about a session that another process runs, and one in
// the name of another process. It notes which process the hook works for.
func (c *hookService) checkQuestion(ctx context.Context, q *host.Question) error {
	if err := asItself(ctx, q.Runner); err != nil {
		return err
	}
	return c.calls.owner.checkHook(ctx, c.calls.gate, host.SessionOf(q), &q.Runner)
}

// A hookGate is the gate in the form that a responder within the server needs.
type hookGate struct {
	umpire.Gate
	calls *callService
}

// Await holds until the batch no longer waits.
func (g hookGate) Await(
	ctx context.Context, session umpire.SessionID, id umpire.BatchID, wait time.Duration,
) (umpire.Batch, error) {
	b, err := g.calls.awaitBatch(ctx, session, id, wait)
	if err != nil || b.State == umpire.BatchWaiting {
		err = g.away(err)
	}
	return b, err
}

// away returns host.ErrAway if the gate is stopping, or else err.
func (g hookGate) away(err error) error {
	if g.calls.broker.isDraining() {
		return host.ErrAway
	}
	return err
}
