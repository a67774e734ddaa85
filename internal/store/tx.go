package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// A Tx is one transaction. It belongs to the function that received it and ends with it.
// Its errors match umpire.ErrNotFound, ErrConflict and umpire.ErrNotRecorded.
//
// After an error other than umpire.ErrNotFound, the transaction is lost: every later
// method returns the same error, and no change is kept. Use another transaction to find
// the cause of a conflict. With pipelining, a later method or the commit may return the
// error of a write.
//
// Invalid text (bytes that are not UTF-8, and NUL) is replaced by U+FFFD; inputs,
// outputs, messages and prompts are kept byte for byte.
//
// Each field accesses one table.
type Tx struct {
	transaction

	Sessions   Sessions
	Workspaces Workspaces
	Batches    Batches
	Calls      Calls
	Asks       Asks
	Answers    Answers
	Executions Executions
	Results    Results
	Resumes    Resumes
	Trials     Trials
	Grants     Grants
	Messages   Messages
	Prompts    Prompts
	Events     Events
	Tickets    Tickets
	Prunings   Prunings
}

func newTx(t transaction) *Tx {
	tx := &Tx{transaction: t}
	tx.counts, tx.ahead = countsOf(t.ctx), map[string]driver.Rows{}
	tx.ends, tx.locked = map[umpire.SessionID]link{}, map[umpire.SessionID]umpire.ProjectID{}
	of := &tx.transaction
	tx.Sessions, tx.Workspaces, tx.Batches, tx.Calls = Sessions{of}, Workspaces{of}, Batches{of}, Calls{of}
	tx.Asks, tx.Answers, tx.Grants, tx.Events = Asks{of}, Answers{of}, Grants{of}, Events{of}
	tx.Executions, tx.Results, tx.Resumes = Executions{of}, Results{of}, Resumes{of}
	tx.Messages, tx.Prompts = Messages{of}, Prompts{of}
	tx.Trials, tx.Tickets, tx.Prunings = Trials{of}, Tickets{of}, Prunings{of}
	return tx
}

// A transaction runs statements for all tables.
type transaction struct {
	//nolint:containedctx // a Tx lives as long as one call of Update or View, whose context it is
	ctx     context.Context
	store   *Store
	conn    *conn
	begin   string // the statement that opens it, "" once it is open
	open    bool
	writes  bool
	grouped bool                                  // it shares a database transaction with others
	pending bool                                  // a question, an answer or a batch changed
	lost    error                                 // the error after which nothing more can be done
	ends    map[umpire.SessionID]link             // of the locked streams
	locked  map[umpire.SessionID]umpire.ProjectID // the project of each locked session
	counts  *Counts

	// With pipelining:
	queue   []queued               // not sent yet
	ahead   map[string]driver.Rows // read but not requested yet
	looking bool                   // inside Ahead
}

var errEnded = errors.New("the transaction has ended")

// ready opens the transaction before its first statement.
func (tx *transaction) ready() error {
	if tx.lost != nil {
		return tx.lost
	}
	if err := context.Cause(tx.ctx); err != nil {
		tx.lost = err
		return err
	}
	if tx.begin == "" {
		return nil
	}
	if tx.pipelined() {
		if len(tx.queue) == 0 {
			tx.queue = append(tx.queue, queued{Statement: Statement{Query: tx.begin}})
		}
		return nil
	}
	// The transaction may be open even if this fails: a canceled context can cut off the
	// answer alone.
	tx.open = true
	tx.counts.Trips++
	if err := tx.conn.run(tx.ctx, tx.begin); err != nil {
		return tx.markLost(err)
	}
	tx.begin = ""
	return nil
}

// work returns the context of a statement. In a shared transaction no statement is
// canceled, because that would roll back the others' changes too.
func (tx *transaction) work() context.Context {
	if tx.grouped {
		return context.WithoutCancel(tx.ctx)
	}
	return tx.ctx
}

// end ends the transaction with a statement, if it was opened.
func (tx *transaction) end(statement string) error {
	tx.lost, tx.queue = errEnded, nil
	if !tx.open {
		return nil
	}
	tx.open = false
	ctx, cancel := lasting(tx.ctx)
	defer cancel()
	return tx.conn.run(ctx, statement)
}

// repeatable reports whether the transaction can run again: the database requests it, or
// the connection was lost before the transaction did anything.
func (tx *transaction) repeatable() bool {
	if tx.lost == nil || tx.ctx.Err() != nil {
		return false
	}
	fault := tx.store.dialect.Fault(tx.lost)
	return fault == FaultRetry || fault == FaultLost && tx.begin != ""
}

// markLost wraps a database error by its meaning, and marks the transaction as lost.
func (tx *transaction) markLost(err error) error {
	switch {
	case tx.store.dialect.Fault(err) == FaultConflict:
		err = umpire.Errorf("%s: %w: %w", tx.store.dialect.Name, ErrConflict, err)
	case context.Cause(tx.ctx) != nil:
		err = umpire.Errorf("%s: %w: %w", tx.store.dialect.Name, context.Cause(tx.ctx), err)
	case tx.writes:
		err = umpire.Errorf("%s: %w: %w", tx.store.dialect.Name, umpire.ErrNotRecorded, err)
	default:
		err = umpire.Errorf("%s: %w", tx.store.dialect.Name, err)
	}
	tx.lost = err
	return err
}

// conflict returns the error of a write that found unexpected data.
func conflict(format string, args ...any) error {
	return umpire.Errorf("%w: %w", umpire.Errorf(format, args...), ErrConflict)
}

// conflict marks the transaction as lost because of a conflict.
func (tx *transaction) conflict(format string, args ...any) error {
	tx.lost = conflict(format, args...)
	return tx.lost
}

// exec runs a statement and returns the number of changed rows.
func (tx *transaction) exec(query string, args ...any) (int64, error) {
	if err := tx.ready(); err != nil {
		return 0, err
	}
	if tx.pipelined() {
		tx.forgetAhead()
		tx.enqueue(queued{Statement: Statement{Query: query, Args: args}})
		last, err := tx.flush(tx.work())
		return last.Changed, err
	}
	tx.counts.countStatement(args)
	tx.counts.Trips++
	result, err := tx.conn.exec(tx.work(), query, clean(args))
	if err != nil {
		return 0, tx.markLost(err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, tx.markLost(err)
	}
	return n, nil
}

// insert runs a statement that adds one row, or fails because of a conflicting one.
func (tx *transaction) insert(what error, query string, args ...any) error {
	return tx.modify(what, conflict("it already exists, or conflicts with another"), query, args...)
}

// row reads one row into dest. It fails with umpire.ErrNotFound if there is no row.
func (tx *transaction) row(dest []any, query string, args ...any) error {
	found := false
	err := tx.rows(func(scan scanner) error {
		found = true
		return scan(dest...)
	}, query, args...)
	if err != nil {
		return err
	}
	if !found {
		return umpire.ErrNotFound
	}
	return nil
}

// modifyRow runs a statement that changes rows, and reads one of them.
func (tx *transaction) modifyRow(dest []any, query string, args ...any) error {
	tx.forgetAhead()
	return tx.row(dest, query, args...)
}

// A scanner reads the current row.
type scanner func(dest ...any) error

// rows calls each for every row.
func (tx *transaction) rows(each func(scanner) error, query string, args ...any) error {
	if err := tx.ready(); err != nil {
		return err
	}
	if tx.pipelined() {
		return tx.pipelineRows(each, query, args)
	}
	tx.counts.countStatement(args)
	tx.counts.Trips++
	rows, err := tx.conn.query(tx.work(), query, clean(args))
	if err != nil {
		return tx.markLost(err)
	}
	return tx.readRows(rows, each)
}

func (tx *transaction) readRows(rows *sql.Rows, each func(scanner) error) error {
	defer rows.Close()
	for rows.Next() {
		tx.counts.Rows++
		if err := each(rows.Scan); err != nil {
			return tx.markLost(err)
		}
	}
	if err := rows.Err(); err != nil {
		return tx.markLost(err)
	}
	return nil
}

// clean converts text to a form that every database returns unchanged.
func clean(args []any) []any {
	for i, arg := range args {
		if text, ok := arg.(string); ok && !isClean(text) {
			args[i] = cleanText(text)
		}
	}
	return args
}

func isClean(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }

func cleanText[T ~string | ~[]byte](text T) T {
	if isClean(string(text)) {
		return text
	}
	const replacement = string(utf8.RuneError)
	return T(strings.ReplaceAll(strings.ToValidUTF8(string(text), replacement), "\x00", replacement))
}
