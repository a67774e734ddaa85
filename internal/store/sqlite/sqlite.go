// Package sqlite keeps a store in one SQLite file. It needs no setup, and several
// processes may have the file open.
//
//	s, err := sqlite.Open(ctx, path)
//
// A commit is on disk when it returns: the write-ahead log is synced each time. Updates
// that wait for each other share one sync.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

//go:embed migrations/*.sql
var files embed.FS

// maxConnections limits the concurrent views.
const maxConnections = 8

// pragmas apply to every connection. Full syncs of the log make a commit durable; the two
// about fullfsync are for macOS, where a sync alone is not enough. The log is copied into
// the database every 2000 pages, about 150 answers.
var pragmas = []string{
	"busy_timeout(10000)", "journal_mode(wal)", "synchronous(full)", "fullfsync(1)", "checkpoint_fullfsync(1)",
	"wal_autocheckpoint(2000)", "foreign_keys(1)", "recursive_triggers(1)", "temp_store(memory)",
}

// creating prevents two stores of this process from making one file at once, because
// closing a file that SQLite has open releases its locks.
var creating sync.Mutex

// Open opens the store in a file. If the file or its folder is missing, Open creates it,
// readable only by its owner.
func Open(ctx context.Context, path string) (*store.Store, error) {
	return OpenWith(ctx, path, func(d driver.Driver) driver.Driver { return d })
}

// OpenWith is like Open with a driver that wraps SQLite's.
func OpenWith(ctx context.Context, path string, wrap func(driver.Driver) driver.Driver) (*store.Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, umpire.Errorf("sqlite: %w", err)
	}
	creating.Lock()
	defer creating.Unlock()
	if err := create(path); err != nil {
		return nil, umpire.Errorf("sqlite: %w", err)
	}
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, umpire.Errorf("sqlite: %s: %w", path, err)
	}
	wrapped := connector{wrap(db.Driver()), dsn(path)}
	if err := db.Close(); err != nil { // it was only needed for its driver
		return nil, umpire.Errorf("sqlite: %w", err)
	}
	s, err := store.New(ctx, sql.OpenDB(wrapped), dialect(fault))
	if err != nil {
		return nil, umpire.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// A connector opens one file with a driver.
type connector struct {
	driver driver.Driver
	file   string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.file) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// create makes the file if it does not exist. SQLite gives its other files the same
// permissions.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn returns the address of a file with the settings of its connections.
func dsn(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return u.String()
}

// dialect returns SQLite's dialect for any SQLite driver.
func dialect(fault func(error) store.Fault) store.Dialect {
	migrations, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return store.Dialect{
		Name: "sqlite", Migrations: migrations, Prepare: true,
		BeginUpdate: "BEGIN IMMEDIATE", BeginView: "BEGIN", Reader: "PRAGMA query_only = 1",
		Group: true, Connections: maxConnections, Fault: fault,
		Herald: func(db *sql.DB) store.Herald { return newHerald(db) },
	}
}
