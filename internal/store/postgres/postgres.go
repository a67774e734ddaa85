// Package postgres keeps a store in a PostgreSQL database (version 13 or later),
// which several processes may share.
//
//	s, err := postgres.Open(ctx, "postgres://user@host/database")
//
// The tables are in the first schema of the search path. No feature needs a server
// session for longer than a transaction, so a pooler may be in between. Notifications do
// not work then, and processes notice changes by polling.
package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

//go:embed migrations/*.sql
var files embed.FS

// maxConnections limits the concurrent transactions of one process.
const maxConnections = 16

// maxIdleTime is how long an unused connection is kept.
const maxIdleTime = 5 * time.Minute

// A commit waits for the disk regardless of the server's settings. The setting needs no
// extra round trip at the start.
const (
	beginUpdate = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = on`
	beginView   = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
)

// migrationLock makes other processes wait while one changes the schema.
const migrationLock = `SELECT pg_advisory_xact_lock(hashtextextended('umpire.schema', 0))`

// Open opens the store in a database, given by its address or its key-value form.
func Open(ctx context.Context, dsn string) (*store.Store, error) {
	dial, err := parseConfig(dsn)
	if err != nil {
		return nil, umpire.Errorf("postgres: %w", err)
	}
	db := sql.OpenDB(dial)
	db.SetMaxIdleConns(maxConnections)
	db.SetConnMaxIdleTime(maxIdleTime)
	s, err := store.New(ctx, db, dialect(dial.config))
	if err != nil {
		return nil, explainOpen(dial.config, err)
	}
	return s, nil
}

// explainOpen explains in one line why a database cannot be opened. The driver repeats
// itself for every address and mode that it has tried.
func explainOpen(config *pgconn.Config, err error) error {
	failed, is := errors.AsType[*pgconn.ConnectError](err)
	if !is {
		return umpire.Errorf("%s: %w", config.Host, err)
	}
	cause := innermost(failed)
	return umpire.Errorf("PostgreSQL on %s cannot be reached: %w",
		net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))), cause)
}

// innermost returns the root cause of an error; if there are several, the first.
func innermost(err error) error {
	for {
		var next error
		switch wrapper := err.(type) { //nolint:errorlint // unwrap one layer at a time
		case interface{ Unwrap() error }:
			next = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			if all := wrapper.Unwrap(); len(all) > 0 {
				next = all[0]
			}
		}
		if next == nil {
			return err
		}
		err = next
	}
}

func dialect(config *pgconn.Config) store.Dialect {
	migrations, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return store.Dialect{
		Name: "postgres", Migrations: migrations,
		Pipelined:   true,
		BeginUpdate: beginUpdate, BeginView: beginView, MigrationLock: migrationLock, ForUpdate: " FOR UPDATE",
		Connections: maxConnections, Fault: fault,
		Herald: func(db *sql.DB) store.Herald { return newHerald(db, config) },
	}
}
