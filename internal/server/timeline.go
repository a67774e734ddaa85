package server

import (
	"context"
	"log/slog"
	"net/http"
	"slices"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
)

type eventQuery struct {
	umpire.Filter

	Paged bool `json:"paged"`
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
	if q.Before < 0 || q.Before > 0 && q.Last == 0 {
		return umpire.Filter{}, invalid("before: want a sequence number, and last beside it, got %d", q.Before)
	}
	return q.Filter, nil
}

type eventList struct {
	Events []umpire.Event `json:"events"`
	More   bool           `json:"more"`
}

// A timelineService lists events, and sends new ones to subscribers.
type timelineService struct {
	gate    umpire.Gate
	owner   ownership
	broker  *broker
	inbox   *inbox
	refuser refuser
	pace    pace
	log     *slog.Logger
	turns   turns
}

func (c *timelineService) addRoutes(r routes) {
	r.addProcedure(umpirev1.TimelineServiceListProcedure, roleAgent,
		unary(maxBody, c.List, &umpirev1.EventQuery{}, &umpirev1.EventList{}))
	watch := umpirev1.TimelineServiceWatchProcedure
	query := bodiesOf(&umpirev1.EventQuery{}, func() any { return new(eventQuery) })
	handler := connect.NewServerStreamHandler(watch, c.Watch, append(handlerOptions(maxBody), query)...)
	r[watch] = route{handler: handler, role: roleAgent, stream: true}
	r["/v1/events"] = route{handler: http.HandlerFunc(c.streamEvents), role: roleAgent, stream: true}
}

func (c *timelineService) List(ctx context.Context, q eventQuery) (eventList, error) {
	filter, err := q.filter()
	if err == nil {
		err = c.checkWatch(ctx, filter)
	}
	if err != nil {
		return eventList{}, err
	}
	if filter.Last > 0 {
		return c.listLast(ctx, filter, q.Paged)
	}
	limit, err := pageLimit(filter.Limit, maxEvents)
	if err != nil {
		return eventList{}, err
	}
	read := func(last *umpire.Event, n int) ([]umpire.Event, error) {
		if filter.Limit = n; last != nil {
			filter.After = last.Seq
		}
		return c.gate.Events(ctx, filter)
	}
	events, more, err := readPage(ctx, c.turns, limit, q.Paged, read)
	return eventList{events, more}, err
}

// listLast reads backwards, so a shortened page has the last events.
func (c *timelineService) listLast(ctx context.Context, filter umpire.Filter, paged bool) (eventList, error) {
	limit := min(filter.Last, maxEvents)
	events, more, err := readPage(ctx, c.turns, limit, paged, func(first *umpire.Event, n int) ([]umpire.Event, error) {
		if filter.Last = n; first != nil {
			filter.Before = first.Seq
		}
		events, err := c.gate.Events(ctx, filter)
		slices.Reverse(events)
		return events, err
	})
	slices.Reverse(events)
	return eventList{events, more}, err
}

// Watch streams events. Its error has the number to continue from, unless the client
// ended the stream.
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
	if err := stream.Send(nil); err != nil { // the header tells the client that it is watching
		return err
	}
	at := newSubscriber(filter)
	err = c.broker.serve(ctx, at, rpcStream{stream})
	c.log.Debug("a watcher has gone", "after", at.seq, "why", err)
	return noteFailure(ctx, err)
}

// An rpcStream is an event stream of Connect or gRPC. HTTP/2 handles idle connections
// itself.
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
