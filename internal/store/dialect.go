package store

import (
	"context"
	"database/sql"
	"io/fs"
)

// A Dialect is what one database does otherwise than another. The statements
// themselves are written once, in the SQL that both understand.
type Dialect struct {
	// Name stands before errors.
	Name string
	// Migrations holds the numbered files of the schema.
	Migrations fs.FS
	// Prepare keeps prepared statements on each connection, with parameters written
	// as "?". Without it the driver gets statements as they are, with parameters
	// written as "$1", and looks after them itself.
	Prepare bool
	// Pipelined sends statements together: the driver's connections are Pipelines.
	Pipelined bool
	// BeginUpdate and BeginView open transactions.
	BeginUpdate, BeginView string
	// Reader is run on each connection for views that is kept; "" is nothing.
	Reader string
	// MigrationLock is the first statement of a migration; it keeps others out
	// until its transaction ends. "" is none.
	MigrationLock string
	// ForUpdate ends a SELECT that locks the row it reads.
	ForUpdate string
	// Group puts waiting updates into one transaction, each in a savepoint of its
	// own: for a database that has one writer at a time.
	Group bool
	// Connections is how many views, and updates that are not grouped, may be in
	// progress. Others wait.
	Connections int
	// Fault says what an error of the driver means.
	Fault func(error) Fault
	// Herald makes what tells the store of the commits of other processes.
	Herald func(*sql.DB) Herald
}

// A Fault is what an error of a driver means for a transaction.
type Fault int

// The faults. FaultOther is the zero value: the statement did not happen.
const (
	FaultOther    Fault = iota
	FaultConflict       // a constraint or a trigger refused
	FaultRetry          // the transaction may be run again
	FaultLost           // the connection is gone, and with it the answer
)

// A Herald tells a store what other processes do to its database, and how far the
// timeline is complete.
type Herald interface {
	// Run rings whenever something may have been committed, until ctx ends.
	Run(ctx context.Context, ring func())
	// Committed says that this process has committed. Pending says that a question,
	// an answer or a batch changed: others are to be woken.
	Committed(pending bool)
	// Prepare is called before the transaction of a view begins whose first question
	// is the horizon.
	Prepare(context.Context, *sql.Conn) error
	// Horizon returns the greatest seq below which the transaction on the connection
	// misses no event, now or later.
	Horizon(context.Context, *sql.Conn) (int64, error)
}
