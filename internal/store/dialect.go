package store

import (
	"context"
	"database/sql"
	"io/fs"
)

// A Dialect describes how one database differs from others. The statements themselves are
// written once, in the SQL that all databases understand.
type Dialect struct {
	// Name is the prefix of errors.
	Name string
	// Migrations holds the numbered files of the schema.
	Migrations fs.FS
	// Prepare keeps prepared statements on each connection, with parameters written as
	// "?". Otherwise the driver gets statements unchanged, with parameters written as
	// "$1", and prepares them itself.
	Prepare bool
	// Pipelined sends statements together. It requires that the driver's connections are pipelines.
	Pipelined bool
	// BeginUpdate and BeginView open transactions.
	BeginUpdate, BeginView string
	// Reader is run on each kept connection for views, if it is not "".
	Reader string
	// MigrationLock is the first statement of a migration. It locks out other processes
	// until its transaction ends. If "", there is no lock.
	MigrationLock string
	// ForUpdate ends a SELECT that locks the row it reads.
	ForUpdate string
	// Group puts waiting updates into one transaction, each in its own savepoint, for a
	// database with a single writer.
	Group bool
	// Connections limits the concurrent views and ungrouped updates. Others wait.
	Connections int
	// Fault classifies an error of the driver.
	Fault func(error) Fault
	// Herald makes the herald that reports commits of other processes.
	Herald func(*sql.DB) Herald
}

// A Fault classifies an error of a driver by its effect on a transaction.
type Fault int

// The faults. FaultOther is the zero value: the statement had no effect.
const (
	FaultOther    Fault = iota
	FaultConflict       // a constraint or a trigger refused
	FaultRetry          // the transaction may be run again
	FaultLost           // the connection is lost, and the answer with it
)

// A Herald tells a store about changes by other processes, and up to which event the
// timeline is complete.
type Herald interface {
	// Run calls ring whenever something may have been committed, until ctx ends.
	Run(ctx context.Context, ring func())
	// Committed is called after this process has committed. pending means that a
	// question, an answer or a batch changed, so other processes should wake up.
	Committed(pending bool)
	// Prepare is called before the transaction of a view starts whose first query is the
	// horizon.
	Prepare(context.Context, *sql.Conn) error
	// Horizon returns the greatest seq up to which the transaction on the connection
	// misses no event, now or later.
	Horizon(context.Context, *sql.Conn) (int64, error)
}
