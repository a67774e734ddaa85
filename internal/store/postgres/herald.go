package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// channel is where processes tell each other that something waits.
	channel = "umpire"
	// pollTime is how soon the commits of other processes are noticed without that.
	pollTime = 250 * time.Millisecond
	// recheckTime is how soon a barrier is looked at again while a writer is behind
	// it.
	recheckTime = 5 * time.Millisecond
	// redialTime is the pause after a listening connection broke.
	redialTime = time.Second
	// queryTime bounds one question to the server.
	queryTime = 10 * time.Second
)

// A herald rings when events become complete, on this or another process's word or
// because it looks.
type herald struct {
	db       *sql.DB
	config   *pgconn.Config
	barriers barriers
	look     chan struct{} // something was committed
	tell     chan struct{} // others are to be told
}

func newHerald(db *sql.DB, config *pgconn.Config) *herald {
	h := &herald{db: db, config: config, look: make(chan struct{}, 1), tell: make(chan struct{}, 1)}
	nudge(h.look) // what is there already becomes visible at once
	return h
}

// Committed never waits: what is told already is told once.
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

// Run looks for new events, and has two more goroutines listen and tell.
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

// watch rings when there are new events, and once more when they are complete.
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

// pause looks again soon while a barrier is waited for, then less and less often.
func pause(last time.Duration, behind bool) time.Duration {
	if !behind {
		return pollTime
	}
	if last == pollTime {
		return recheckTime
	}
	return min(2*last, pollTime)
}

// refresh takes a new barrier if events were added. It reports whether there are
// new events, or old ones are now complete, and whether some are not complete yet.
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

// listen rings whenever another process says that something waits. A connection
// that breaks is made anew; until then, looking has to do.
func (h *herald) listen(ctx context.Context, ring func()) {
	for ctx.Err() == nil {
		_ = h.listenOnce(ctx, ring) // the next one may do better
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
		_ = c.Close(closing) // it has only read
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

// notify tells other processes, outside of the transactions that give reason to: a
// notification makes the commits that bear one wait for each other.
func (h *herald) notify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.tell:
		}
		bounded, cancel := context.WithTimeout(ctx, queryTime)
		_, _ = h.db.ExecContext(bounded, "SELECT pg_notify($1, '')", channel) // others will look themselves
		cancel()
	}
}

// Prepare takes a barrier before a view's snapshot, so that it covers what was
// committed before.
func (h *herald) Prepare(ctx context.Context, c *sql.Conn) error {
	_, err := h.barriers.raise(ctx, c)
	return err
}

// Horizon returns the greatest barrier that the transaction's snapshot has passed.
func (h *herald) Horizon(ctx context.Context, c *sql.Conn) (int64, error) {
	return h.barriers.horizon(ctx, c)
}
