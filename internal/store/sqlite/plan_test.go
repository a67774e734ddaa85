package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/store"
)

// A recorder is a driver that records the texts of prepared statements.
type recorder struct {
	driver.Driver

	mu    sync.Mutex
	texts map[string]bool
}

// Open returns a connection that supports only Prepare.
func (r *recorder) Open(name string) (driver.Conn, error) {
	c, err := r.Driver.Open(name)
	return &recording{Conn: c, recorder: r}, err
}

// taken returns the texts since the last call. The store also prepares its own
// statements, to poll for changes by other processes.
func (r *recorder) taken() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := r.texts
	r.texts = map[string]bool{}
	return texts
}

type recording struct {
	driver.Conn

	recorder *recorder
}

func (c *recording) Prepare(query string) (driver.Stmt, error) {
	c.recorder.mu.Lock()
	c.recorder.texts[query] = true
	c.recorder.mu.Unlock()
	return c.Conn.Prepare(query)
}

// TestQueriesOfACallFindByIndex checks that the reads for a call do not become slower
// with the number of earlier calls. Each step of a plan must find its rows by a call, a
// batch or a question, not all of a session's.
func TestQueriesOfACallFindByIndex(t *testing.T) {
	t.Parallel()
	file := dsn(filepath.Join(t.TempDir(), "umpire.db"))
	plain, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	r := &recorder{Driver: plain.Driver(), texts: map[string]bool{}}
	s, err := store.New(t.Context(), sql.OpenDB(connector{r, file}), dialect(fault))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r.taken()
	reads := []func(*store.Tx){
		func(tx *store.Tx) { _, _ = tx.Batches.ListOpen("s") },
		func(tx *store.Tx) { _, _ = tx.Batches.GetOpen("s", "lane") },
		func(tx *store.Tx) { _, _, _ = tx.Batches.OpenWork("s") },
		func(tx *store.Tx) { _, _ = tx.Batches.Get("s", "b") },
		func(tx *store.Tx) { _, _ = tx.Batches.GetAround("s", "b", "c") },
		func(tx *store.Tx) { _, _ = tx.Batches.GetState("s", "b") },
		func(tx *store.Tx) { _, _ = tx.Calls.DeniedInTurn("s", 1, "hash") },
		func(tx *store.Tx) { _, _ = tx.Grants.List(store.GrantQuery{Session: "s", Call: "c", Now: time.Now()}) },
		func(tx *store.Tx) { _, _ = tx.Grants.GetOnce("s", "c", "r") },
		func(tx *store.Tx) { _, _ = tx.Workspaces.GetOf("s") },
		func(tx *store.Tx) { _, _ = tx.Asks.List(store.AskQuery{}) },
		func(tx *store.Tx) { _, _ = tx.Asks.List(store.AskQuery{Session: "s"}) },
		func(tx *store.Tx) { _, _ = tx.Asks.List(store.AskQuery{ExpiredBy: time.Now()}) },
		func(tx *store.Tx) { _, _ = tx.Asks.List(store.AskQuery{After: "r", Limit: 1}) },
		func(tx *store.Tx) { _, _ = tx.Asks.ListSessions("") },
		func(tx *store.Tx) { _, _ = tx.Asks.ListCalls("p", time.Now()) },
		func(tx *store.Tx) { _, _ = tx.Sessions.List(store.SessionQuery{}) },
		func(tx *store.Tx) { _, _ = tx.Sessions.List(store.SessionQuery{Project: "p", After: "s", Limit: 1}) },
		func(tx *store.Tx) { _, _ = tx.Sessions.List(store.SessionQuery{Held: true}) },
		func(tx *store.Tx) { _, _ = tx.Sessions.List(store.SessionQuery{Runners: []string{"a", "b"}, Limit: 1}) },
		func(tx *store.Tx) { _, _ = tx.Asks.Get("r") },
		func(tx *store.Tx) { _, _ = tx.Answers.Get("r") },
		func(tx *store.Tx) { _, _ = tx.Calls.Get("s", "c") },
		func(tx *store.Tx) { _, _ = tx.Executions.GetLast("s", "c") },
		func(tx *store.Tx) { _, _ = tx.Results.Get("s", "c") },
		func(tx *store.Tx) { _, _ = tx.Resumes.Get("s", "b") },
		func(tx *store.Tx) { _, _ = tx.Trials.Get("t") },
		func(tx *store.Tx) { _, _ = tx.Trials.ListRunning("p") },
	}
	for _, read := range reads {
		// The rows do not exist; only the plan matters.
		if err := s.View(t.Context(), func(tx *store.Tx) error { read(tx); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	explained := 0
	for text := range r.taken() {
		if strings.Contains(text, "SELECT") {
			explained++
			if strings.Contains(text, "LIMIT ?") && !listText.MatchString(text) {
				t.Errorf("a parameter of LIMIT has the statement planned each time:\n%s", text)
			}
			checkPlan(t, plain, text)
		}
	}
	if explained != len(reads) {
		t.Errorf("%d statements, want %d", explained, len(reads))
	}
}

// Steps that may visit more rows: open and pending ones, and those found by an earlier
// step.
var shortSteps = regexp.MustCompile(`^(SEARCH b USING INDEX batches_open |(SCAN|SEARCH) k USING (COVERING )?INDEX asks_(pending|waiting)|SEARCH s USING |SCAN sessions USING INDEX sessions_active$|SCAN (same|c|e|one|unfinished|waiting|small)$|SEARCH calls USING INDEX calls_waiting |SCAN CONSTANT ROW|SEARCH grants USING INDEX grants_(lasting|global) )`)

// listText matches the text of a list, which is not read for a call.
var listText = regexp.MustCompile(`ORDER BY (k\.asked_at|active_at)`)

// longStep matches steps that find rows by the session alone, or without an index.
var longStep = regexp.MustCompile(`^SCAN|\(session_id=\?\)`)

func checkPlan(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	args := slices.Repeat([]any{"x"}, strings.Count(query, "?"))
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		if longStep.MatchString(step) && !shortSteps.MatchString(step) {
			t.Errorf("%s in\n%s", step, query)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
