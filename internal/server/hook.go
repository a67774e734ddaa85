package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
)

// hook answers the question of an agent's hook. The answer is what the hook leaves
// behind: its body is standard output and standard error, one after the other.
func (s *Server) hook(w http.ResponseWriter, r *http.Request) {
	out, err := s.questioned(r)
	if err != nil {
		s.tell(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.Itoa(len(out.Stdout)+len(out.Stderr)))
	h.Set(host.HeaderExit, strconv.Itoa(out.Exit))
	h.Set(host.HeaderStdout, strconv.Itoa(len(out.Stdout)))
	// A hook that has gone has denied.
	_, _ = w.Write(slices.Concat(out.Stdout, out.Stderr))
}

func (s *Server) questioned(r *http.Request) (host.Output, error) {
	if r.Method != http.MethodPost {
		return host.Output{}, &failure{code: connect.CodeInvalidArgument, status: http.StatusMethodNotAllowed, word: wordInvalid, text: "want POST"}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, host.MaxQuestion+1))
	if err != nil {
		return host.Output{}, invalid("the question cannot be read: %v", err)
	}
	q, err := host.ReadQuestion(body)
	if err != nil {
		return host.Output{}, fmt.Errorf("%w: %w", err, umpire.ErrInvalid)
	}
	if err := s.mayAsk(r.Context(), &q); err != nil {
		return host.Output{}, err
	}
	responder := *s.config.Hooks
	responder.Gate, responder.Attended = hookGate{s.gate, s}, s.inbox.attended
	return responder.Answer(r.Context(), q)
}

// mayAsk refuses a question about a session that another process runs, and one in the name
// of another process.
func (s *Server) mayAsk(ctx context.Context, q *host.Question) error {
	if err := asItself(ctx, q.Runner); err != nil {
		return err
	}
	return s.takeable(ctx, q.Session())
}

// A hookGate is the gate as a responder within the server needs it.
type hookGate struct {
	umpire.Gate
	server *Server
}

// Await holds until the batch waits no more.
func (g hookGate) Await(ctx context.Context, session umpire.SessionID, id umpire.BatchID, wait time.Duration) (umpire.Batch, error) {
	b, err := g.server.await(ctx, session, id, wait)
	if err != nil || b.State == umpire.BatchWaiting {
		err = g.away(err)
	}
	return b, err
}

// away is the error of a gate that ends, else what it is given.
func (g hookGate) away(err error) error {
	if g.server.broker.isDraining() {
		return host.ErrAway
	}
	return err
}
