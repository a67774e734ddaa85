package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
)

// A pipeline is a driver's connection that runs several statements in one round trip.
type pipeline interface {
	// Send runs statements in order until one fails. It returns one result for each
	// statement that succeeded before. It returns ErrUnchanged if a statement had to
	// change a row and did not.
	Send(context.Context, []Statement) ([]Result, error)
}

// A Statement is run by a pipeline.
type Statement struct {
	Query   string
	Args    []any
	Reads   bool // it returns rows
	Changes bool // it fails unless it changes a row
}

// A Result is the result of a statement.
type Result struct {
	Changed int64
	Rows    driver.Rows // of a reading statement; sql.Conn.QueryContext returns them for Replay
}

// Replay is a query that a driver with a pipeline answers with its only argument: rows
// that were read before.
const Replay = "rows that were read before"

// ErrUnchanged means that a statement had to change a row and did not.
var ErrUnchanged = errors.New("no row was changed")

// maxPipelined limits how many statements are sent together.
const maxPipelined = 512

// A queued statement has not been sent yet.
type queued struct {
	Statement

	key  string              // of a reading statement
	fail func(e error) error // converts its error
}

// pipelined reports whether statements are sent together.
func (tx *transaction) pipelined() bool { return tx.store.dialect.Pipelined }

// Ahead announces reads by performing them in read, where no method finds anything. With
// pipelining, all of them are then sent in one round trip with the next read or write.
// Ahead has no other effect: unannounced reads and reads after a write are performed when
// they are called.
func (tx *transaction) Ahead(read func()) {
	if !tx.pipelined() || tx.lost != nil {
		return
	}
	defer func(was bool) { tx.looking = was }(tx.looking)
	tx.looking = true
	read()
}

// modify runs a statement that changes rows. With pipelining it may not have run yet when
// modify returns, and a later method or the commit returns its error. about is the prefix
// of the error. unchanged is the error if no row was changed; if nil, that is allowed.
func (tx *transaction) modify(about, unchanged error, query string, args ...any) error {
	fail := func(err error) error {
		if errors.Is(err, ErrUnchanged) {
			tx.lost = umpire.Errorf("%w: %w", about, unchanged)
			return tx.lost
		}
		return umpire.Errorf("%w: %w", about, tx.markLost(err))
	}
	if tx.pipelined() && tx.writes {
		if err := tx.ready(); err != nil {
			return err
		}
		tx.forgetAhead()
		tx.enqueue(queued{Statement: Statement{Query: query, Args: args, Changes: unchanged != nil}, fail: fail})
		if len(tx.queue) < maxPipelined {
			return nil
		}
		_, err := tx.flush(tx.work())
		return err
	}
	n, err := tx.exec(query, args...)
	switch {
	case err != nil:
		return umpire.Errorf("%w: %w", about, err)
	case n == 0 && unchanged != nil:
		return fail(ErrUnchanged)
	}
	return nil
}

// forgetAhead drops the rows read ahead, because a write may change them.
func (tx *transaction) forgetAhead() {
	clear(tx.ahead)
	tx.queue = slices.DeleteFunc(tx.queue, func(q queued) bool { return q.key != "" })
}

func (tx *transaction) enqueue(q queued) {
	q.Args = clean(q.Args)
	tx.counts.countStatement(q.Args)
	tx.queue = append(tx.queue, q)
}

// flush sends the queue and returns the last result.
func (tx *transaction) flush(ctx context.Context) (last Result, err error) {
	if len(tx.queue) == 0 {
		return last, nil
	}
	queue := tx.queue
	tx.queue = nil
	results, err := tx.sendQueue(ctx, queue)
	if len(results) > 0 {
		last = results[len(results)-1]
	}
	if err != nil {
		err = tx.blame(queue, len(results), err)
	}
	return last, err
}

// sendQueue sends statements and keeps the rows they read.
func (tx *transaction) sendQueue(ctx context.Context, queue []queued) ([]Result, error) {
	// The transaction may be open even if this fails: a canceled context can cut off the answer alone.
	tx.open = true
	tx.counts.Trips++
	all := make([]Statement, len(queue))
	for i := range queue {
		all[i] = queue[i].Statement
	}
	results, err := tx.conn.sendAll(ctx, all)
	for i := range results {
		if key := queue[i].key; key != "" {
			tx.ahead[key] = results[i].Rows
		}
	}
	if err == nil || errors.Is(err, ErrUnchanged) || tx.store.dialect.Fault(err) != FaultLost {
		tx.begin = ""
	}
	return results, err
}

// blame marks the transaction as lost because of the failed statement.
func (tx *transaction) blame(queue []queued, failed int, err error) error {
	if failed < len(queue) && queue[failed].fail != nil {
		return queue[failed].fail(err)
	}
	return tx.markLost(err)
}

// commit sends the queue together with the commit. A transaction that is still open after
// an error has not been committed.
func (tx *transaction) commit() error {
	if !tx.pipelined() {
		return tx.end("COMMIT")
	}
	if err := context.Cause(tx.ctx); err != nil && len(tx.queue) > 0 {
		tx.lost = err
		return err
	}
	if tx.begin != "" { // a lost connection fails here, where it does no harm
		if _, err := tx.flush(tx.work()); err != nil {
			return err
		}
	}
	if !tx.open {
		return tx.end("")
	}
	queue := append(tx.queue, queued{Statement: Statement{Query: "COMMIT"}})
	tx.queue = nil
	ctx, cancel := lasting(tx.ctx)
	defer cancel()
	results, err := tx.sendQueue(ctx, queue)
	if err != nil && len(results) < len(queue)-1 &&
		(errors.Is(err, ErrUnchanged) || tx.store.dialect.Fault(err) != FaultLost) {
		return tx.blame(queue, len(results), err)
	}
	tx.lost, tx.open = errEnded, false
	return err
}

// pipelineRows is rows with pipelining.
func (tx *transaction) pipelineRows(each func(scanner) error, query string, args []any) error {
	key := fmt.Sprintf("%s %#v", query, args)
	rows, known := tx.ahead[key]
	if !known && !slices.ContainsFunc(tx.queue, func(q queued) bool { return q.key == key }) {
		tx.enqueue(queued{Statement: Statement{Query: query, Args: args, Reads: true}, key: key})
	}
	if tx.looking {
		return nil
	}
	if !known {
		if _, err := tx.flush(tx.work()); err != nil {
			return err
		}
		rows = tx.ahead[key]
	}
	delete(tx.ahead, key)
	found, err := tx.conn.QueryContext(tx.work(), Replay, rows)
	if err != nil {
		return tx.markLost(err)
	}
	return tx.readRows(found, each)
}
