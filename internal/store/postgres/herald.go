package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// channel is used by processes to notify each other of waiting work.
	channel = "umpire"
	// pollTime is the interval for noticing commits of other processes without a notification.
	pollTime = 250 * time.Millisecond
	// recheckTime is the interval for checking a barrier while a writer is behind it.
	recheckTime = 5 * time.Millisecond
	// redialTime is the pause after a listening connection broke.
	redialTime = time.Second
	// queryTime limits one query to the server.
	queryTime = 10 * time.Second
)

// A herald rings when events become complete, after a notification by this or another
// process, or by polling.
type herald struct {
	db       *sql.DB
	config   *pgconn.Config
	barriers barriers
	look     chan struct{} // something was committed
	tell     chan struct{} // other processes should be notified
}

func newHerald(db *sql.DB, config *pgconn.Config) *herald {
	h := &herald{db: db, config: config, look: make(chan struct{}, 1), tell: make(chan struct{}, 1)}
	nudge(h.look) // existing events become visible at once
	return h
}

// Committed never blocks: several pending notifications become one.
func (h *herald) Committed(pending bool) {
	nudge(h.look)
	if pending {
		nudge(h.tell)
	}
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run polls for new events, and starts two more goroutines to listen and notify.
func (h *herald) Run(ctx context.Context, ring func()) {
	listened, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(listened)
		h.listen(ctx, ring)
	}()
	go func() {
		defer close(told)
		h.notify(ctx)
	}()
	h.watch(ctx, ring)
	<-listened
	<-told
}

// watch rings when there are new events, and again when they are complete.
func (h *herald) watch(ctx context.Context, ring func()) {
	timer := time.NewTimer(pollTime)
	defer timer.Stop()
	wait := pollTime
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.look:
			wait = recheckTime
		case <-timer.C:
		}
		news, behind := h.refresh(ctx)
		if news {
			ring()
		}
		wait = pause(wait, behind)
		timer.Reset(wait)
	}
}

// pause returns a short interval after a new barrier, then increasing ones.
func pause(last time.Duration, behind bool) time.Duration {
	if !behind {
		return pollTime
	}
	if last == pollTime {
		return recheckTime
	}
	return min(2*last, pollTime)
}

// refresh takes a new barrier if events were added. It reports whether there are new
// events or newly complete ones, and whether some are still incomplete.
func (h *herald) refresh(ctx context.Context) (news, behind bool) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	c, err := h.db.Conn(ctx)
	if err != nil {
		return false, false
	}
	defer c.Close()
	raised, err := h.barriers.raise(ctx, c)
	if err != nil || !raised && !h.barriers.behind() {
		return false, false
	}
	passed, err := h.barriers.look(ctx, c)
	if err != nil {
		return raised, false
	}
	return raised || passed, h.barriers.behind()
}

// listen rings whenever another process notifies. It reconnects after a broken
// connection; until then, polling must do.
func (h *herald) listen(ctx context.Context, ring func()) {
	for ctx.Err() == nil {
		_ = h.listenOnce(ctx, ring) // the next one may succeed
		select {
		case <-ctx.Done():
		case <-time.After(redialTime):
		}
	}
}

func (h *herald) listenOnce(ctx context.Context, ring func()) error {
	c, err := pgconn.ConnectConfig(ctx, h.config)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.Close(closing) // it was only read
	}()
	if err := c.Exec(ctx, "LISTEN "+channel).Close(); err != nil {
		return err
	}
	for {
		if err := c.WaitForNotification(ctx); err != nil {
			return err
		}
		nudge(h.look)
		ring()
	}
}

// notify notifies other processes, outside of the transactions that caused it: a
// notification inside a transaction would serialize the commits.
func (h *herald) notify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.tell:
		}
		bounded, cancel := context.WithTimeout(ctx, queryTime)
		_, _ = h.db.ExecContext(bounded, "SELECT pg_notify($1, '')", channel) // other processes poll anyway
		cancel()
	}
}

// Prepare takes a barrier before a view's snapshot, so it covers earlier commits.
func (h *herald) Prepare(ctx context.Context, c *sql.Conn) error {
	_, err := h.barriers.raise(ctx, c)
	return err
}

// Horizon returns the greatest barrier that the transaction's snapshot has passed.
func (h *herald) Horizon(ctx context.Context, c *sql.Conn) (int64, error) {
	return h.barriers.horizon(ctx, c)
}
