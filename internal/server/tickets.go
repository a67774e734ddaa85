package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// A ticketService handles the tickets of command lines. Only our own `umpire exec` uses
// it, so its procedures are not part of the published API. A used ticket shows which
// agent's process reports, because the agent itself may have ended.
type ticketService struct {
	gate    umpire.Gate
	inbox   *inbox
	refuser refuser
}

// The paths of a ticketService.
const (
	useTicketPath = "/umpire.v1.Tickets/Use"
	endTicketPath = "/umpire.v1.Tickets/End"
)

func (c *ticketService) addRoutes(r routes) {
	r[useTicketPath] = route{handler: answerJSON(c, maxBody, c.use), role: roleAgent}
	r[endTicketPath] = route{handler: answerJSON(c, maxCallBody, c.gate.Tickets().End), role: roleAgent}
}

// use takes a ticket for a process, after verifying its claimed ancestors.
func (c *ticketService) use(ctx context.Context, u umpire.TicketUse) (umpire.Ticket, error) {
	for _, name := range append([]string{u.Runner}, u.Above...) {
		if err := asItself(ctx, name); err != nil {
			return umpire.Ticket{}, err
		}
	}
	t, err := c.gate.Tickets().Use(ctx, u)
	t.Attended = err == nil && c.inbox.shows(ctx, c.gate, t.Session)
	return t, err
}

// answerJSON makes a handler from a function between JSON values.
func answerJSON[In, Out any](
	c *ticketService, limit int64, f func(context.Context, In) (Out, error),
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in In
		err := readRequest(r, limit, &in)
		var out Out
		if err == nil {
			out, err = f(r.Context(), in)
		}
		if err != nil {
			c.refuser.refuse(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(strictjson.EncodeLine(out)) // the ticket is used even if the client is gone
	})
}

func readRequest(r *http.Request, limit int64, to any) error {
	if r.Method != http.MethodPost {
		return wrongMethod(http.MethodPost)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err == nil {
		err = json.Unmarshal(body, to)
	}
	if err != nil {
		return invalid("the request cannot be read: %v", err)
	}
	return nil
}
