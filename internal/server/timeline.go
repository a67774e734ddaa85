package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/api/umpire/v1/umpirev1connect"
)

type eventQuery struct {
	Project umpire.ProjectID `json:"project_id"`
	Session umpire.SessionID `json:"session_id"`
	After   int64            `json:"after"`
	Limit   int              `json:"limit"`
	Last    int              `json:"last"`
}

func (q eventQuery) filter() (umpire.Filter, error) {
	if q.After < 0 {
		return umpire.Filter{}, invalid("after: want a sequence number, got %d", q.After)
	}
	if err := checkIDs(q); err != nil {
		return umpire.Filter{}, err
	}
	if q.Limit < 0 {
		return umpire.Filter{}, invalid("limit: want 0 or more, got %d", q.Limit)
	}
	if q.Last < 0 || q.Last > 0 && q.Limit > 0 {
		return umpire.Filter{}, invalid("last: want 0 or more, and no limit beside it, got %d", q.Last)
	}
	return umpire.Filter{Project: q.Project, Session: q.Session, After: q.After, Limit: q.Limit, Last: q.Last}, nil
}

type eventList struct {
	Events []umpire.Event `json:"events"`
}

// A timelineService lists events, and sends them to subscribers as they come.
type timelineService struct {
	gate    umpire.Gate
	owner   ownership
	broker  *broker
	inbox   *inbox
	refuser refuser
	pace    pace
	log     *slog.Logger
}

func (c *timelineService) addRoutes(r routes) {
	r.addProcedure(umpirev1connect.TimelineServiceListProcedure, roleAgent,
		unary(maxBody, c.List, &umpirev1.EventQuery{}, &umpirev1.EventList{}))
	watch := umpirev1connect.TimelineServiceWatchProcedure
	query := bodiesOf(&umpirev1.EventQuery{}, func() any { return new(eventQuery) })
	handler := connect.NewServerStreamHandler(watch, c.Watch, append(handlerOptions(maxBody), query)...)
	r[watch] = route{handler: handler, role: roleAgent, stream: true}
	r["/v1/events"] = route{handler: http.HandlerFunc(c.streamEvents), role: roleAgent, stream: true}
}

// maxEvents bounds one answer of List, which lies in the gate's memory as a whole. Who wants more asks
// again after the last one.
const maxEvents = 5000

func (c *timelineService) List(ctx context.Context, q eventQuery) (eventList, error) {
	filter, err := q.filter()
	if err == nil {
		err = c.checkWatch(ctx, filter)
	}
	if err != nil {
		return eventList{}, err
	}
	if filter.Last > 0 {
		filter.Last = min(filter.Last, maxEvents)
	} else {
		filter.Limit = min(cmp.Or(filter.Limit, maxEvents), maxEvents)
	}
	events, err := c.gate.Events(ctx, filter)
	return eventList{Events: orEmpty(events)}, err
}

// Watch streams events. What ends it names the number to go on from, unless the
// client ended it.
func (c *timelineService) Watch(
	ctx context.Context, r *connect.Request[body], stream *connect.ServerStream[frame],
) error {
	exchangeOf(ctx).body.done()
	filter, err := umpire.Filter{}, r.Msg.err
	if err == nil {
		filter, err = r.Msg.value.(*eventQuery).filter() //nolint:forcetypeassert // as addRoutes says
	}
	if err == nil {
		err = c.checkWatch(ctx, filter)
	}
	var leave func()
	if err == nil {
		leave, err = c.subscribe(ctx, exchangeOf(ctx), filter)
	}
	if err != nil {
		return noteFailure(ctx, err)
	}
	defer leave()
	if err := stream.Send(nil); err != nil { // the head, so that the client knows that it watches
		return err
	}
	at := newSubscriber(filter)
	err = c.broker.serve(ctx, at, rpcStream{stream})
	c.log.Debug("a watcher has gone", "after", at.seq, "why", err)
	return noteFailure(ctx, err)
}

// An rpcStream is a stream of events of Connect or gRPC. HTTP/2 looks after idle
// connections itself.
type rpcStream struct{ stream *connect.ServerStream[frame] }

func (o rpcStream) send(frames []*frame) error {
	for _, f := range frames {
		if err := o.stream.Send(f); err != nil {
			return err
		}
	}
	return nil
}

func (o rpcStream) beat() error { return nil }
