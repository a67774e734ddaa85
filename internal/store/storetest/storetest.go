// Package storetest defines the behavior of a store: a suite that every database must
// pass, and a private PostgreSQL server to run it on.
//
//	storetest.Run(t, func(t testing.TB) storetest.Database { ... })
//	dsn := storetest.Postgres(t)
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// A Database is initially empty.
type Database struct {
	// Open opens the store in it; several may be open at once.
	Open func(context.Context) (*store.Store, error)
	// Raw accesses it directly, with the same connection settings.
	Raw *sql.DB
}

// Run checks the promises of package store. fresh makes a new database.
func Run(t *testing.T, fresh func(testing.TB) Database) {
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			b := &bench{T: t, fresh: fresh, db: fresh(t), now: time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)}
			b.store = b.open()
			part.run(b)
		})
	}
}

// parts are the tests of the suite.
var parts = []struct {
	name string
	run  func(*bench)
}{
	{"sessions come back as they were saved", sessionsComeBack},
	{"sessions are found by project, activity and number", sessionsAreFound},
	{"N-19 the two indexes of a project follow its sessions", indexesFollow},
	{"N-20 deleting sessions leaves no index behind", deletesRepoint},
	{"indexes follow when sessions of a project are active at once", indexesAtOnce},
	{"deleting a session keeps its events only", deleteKeepsEvents},
	{"workspaces are remembered", workspaces},
	{"batches come back as they were saved", batchesComeBack},
	{"a lane has one open batch", oneOpenBatch},
	{"a batch is saved only as it was read", saveCompares},
	{"what the fold makes of random events is what is stored", foldAgrees},
	{"calls go the ways of the fold and no others", callWays},
	{"batches go the ways of the fold and no others", batchWays},
	{"trials go the ways of their table and no others", trialWays},
	{"raw statements are refused", rawRefused},
	{"raw statements about trials are refused", trialsRefused},
	{"texts of any bytes", anyBytes},
	{"a large input is stored once, and given back whole", largeInputs},
	{"questions are found", questions},
	{"calls that asked are found", askedCalls},
	{"the first answer wins", firstAnswer},
	{"an answer is bound to its question", answerBound},
	{"a person's denial in a turn is found", deniedInTurn},
	{"grants in force", grantsInForce},
	{"grants are used up and revoked", grantsUsed},
	{"the once grant of an answered call", grantOnce},
	{"remembered answers are forgotten", grantsForgotten},
	{"executions and results", executions},
	{"results are claimed once", resumes},
	{"trials come back as they were stored", trials},
	{"a ticket is used once", ticketsUsed},
	{"conversations", conversations},
	{"prompts wait in their order", prompts},
	{"events come back as they were appended", eventsComeBack},
	{"D-17 the chain of events is whole, and every break is found", chainBreaks},
	{"where streams ended stays where it was", headsStay},
	{"a pruned session is removed whole, and what was known stays true", prunedWhole},
	{"sessions that somebody may need are not pruned", neededStay},
	{"prunings that there were not are found", forgedPrunings},
	{"the horizon bounds what is complete", horizon},
	{"an error undoes the whole function", undone},
	{"a lost transaction stays lost", staysLost},
	{"what is sent together ends as if it was not", sentTogether},
	{"a member of a group that fails does so alone", groupMember},
	{"functions that do not return give their turn back", doNotReturn},
	{"callers who give up", giveUp},
	{"writers at once, through two handles", writersAtOnce},
	{"answers at once: one wins", answersAtOnce},
	{"views are snapshots", snapshots},
	{"changes wake those who wait", changesWake},
	{"opened again, everything is there", reopened},
	{"opened at once by many", openedAtOnce},
	{"a newer database is refused", newerRefused},
	{"a closed store says so", closed},
}

// A bench is a database under test with one open store.
type bench struct {
	*testing.T

	fresh func(testing.TB) Database
	db    Database
	store *store.Store
	now   time.Time
	made  int
}

// open opens another store, which is closed with the test.
func (b *bench) open() *store.Store {
	b.Helper()
	s, err := b.db.Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Errorf("Close: %v", err)
		}
	})
	return s
}

// later advances the time and returns it.
func (b *bench) later() time.Time {
	b.now = b.now.Add(time.Second)
	return b.now
}

// name returns an unused name.
func (b *bench) name(prefix string) string {
	b.made++
	return fmt.Sprintf("%s%d", prefix, b.made)
}

// update runs f, which must succeed.
func (b *bench) update(f func(*store.Tx) error) {
	b.Helper()
	if err := b.store.Update(b.Context(), f); err != nil {
		b.Fatal(err)
	}
}

// refuse runs f, which must fail with a matching error.
func (b *bench) refuse(want error, f func(*store.Tx) error) {
	b.Helper()
	if err := b.store.Update(b.Context(), f); !is(err, want) {
		b.Errorf("Update: %v, want %v", err, want)
	}
}

// view runs f, which must succeed.
func (b *bench) view(f func(*store.Tx) error) {
	b.Helper()
	if err := b.store.View(b.Context(), f); err != nil {
		b.Fatal(err)
	}
}

// session adds a root session of project "p" and returns it.
func (b *bench) session(id umpire.SessionID) umpire.Session {
	b.Helper()
	s := umpire.Session{
		ID: id, Project: "p", Root: "/r", Dir: "/r", IsRoot: true, State: umpire.SessionIdle,
		Permission: umpire.StateIdle, CreatedAt: b.later(), ActiveAt: b.now,
	}
	b.update(func(tx *store.Tx) error { return tx.Sessions.Insert(s) })
	return s
}

// raw runs statements directly, rolls them back, and returns the database's error.
func (b *bench) raw(statements ...string) error {
	b.Helper()
	tx, err := b.db.Raw.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = tx.Rollback() // the database may have done it itself
	}()
	for _, statement := range statements {
		if _, err := tx.ExecContext(b.Context(), statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// drop returns the statement that removes a trigger, to test the next line of defense or
// to simulate an attacker with access to the file.
func (b *bench) drop(trigger, table string) string {
	var version string
	if b.db.Raw.QueryRowContext(b.Context(), `SELECT sqlite_version()`).Scan(&version) == nil {
		return "DROP TRIGGER " + trigger
	}
	return "DROP TRIGGER " + trigger + " ON " + table
}

// indexColumns are SQLite's names for indexes.
var indexColumns = map[string]string{
	"batches_open": "batches.session_id, batches.lane", "batches_seq": "batches.session_id, batches.seq",
	"calls_executing": "calls.session_id, calls.batch_id",
	"calls_ordinal":   "calls.session_id, calls.batch_id, calls.ordinal",
	"trials_open":     "trials.session_id, trials.call_id",
	"asks_pending":    "asks.session_id, asks.call_id", "asks_round": "asks.session_id, asks.call_id, asks.round",
}

// names reports whether a database error names one of the constraints. SQLite does not
// name foreign keys.
func names(err error, constraints string) bool {
	for name := range strings.FieldsSeq(constraints) {
		text := err.Error() + " "
		if strings.Contains(text, name) || indexColumns[name] != "" &&
			strings.Contains(text, "UNIQUE constraint failed: "+indexColumns[name]+" ") {
			return true
		}
		if name == "foreign_key" && strings.Contains(strings.ToLower(text), "foreign key constraint") {
			return true
		}
	}
	return false
}
