package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// A tracer keeps the last statement that reads questions or sessions.
type tracer struct {
	mu   sync.Mutex
	last pgx.TraceQueryStartData
}

func (tr *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(q.SQL, "SELECT") && (strings.Contains(q.SQL, " FROM asks AS k") || strings.Contains(q.SQL, " FROM sessions ")) {
		tr.mu.Lock()
		tr.last = q
		tr.mu.Unlock()
	}
	return ctx
}

func (*tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// fillLists adds ten thousand pending questions in a thousand sessions without rows in
// other tables, so constraints are disabled meanwhile.
var fillLists = []string{
	`SET LOCAL session_replication_role = replica`,
	`INSERT INTO sessions SELECT (jsonb_populate_record(s, jsonb_build_object('session_id', 's' || n, 'active_at', n))).*
		FROM sessions AS s, generate_series(1, 10000) AS n WHERE s.session_id = 's'`,
	`INSERT INTO calls SELECT (jsonb_populate_record(c, jsonb_build_object('session_id', 's' || n / 10, 'call_id', 'c' || n,
		'ordinal', n))).*
		FROM calls AS c, generate_series(1, 10000) AS n WHERE c.session_id = 's'`,
	`INSERT INTO asks SELECT (jsonb_populate_record(a, jsonb_build_object('request_id', 'r' || n, 'session_id', 's' || n / 10,
		'call_id', 'c' || n, 'state', 'pending', 'asked_at', n))).* FROM asks AS a, generate_series(1, 10000) AS n WHERE a.session_id = 's'`,
}

// TestListsFindPagesByIndex checks that a page of a list is read in the order of an
// index, and that only questions of the same moment are sorted.
func TestListsFindPagesByIndex(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	traced := &tracer{}
	config.Tracer = traced
	db := stdlib.OpenDB(*config)
	plain := dialect(&config.Config)
	plain.Pipelined = false // for the driver of pgx
	s, err := store.New(t.Context(), db, plain)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	storetest.Fill(t, s)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range fillLists {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	active := time.UnixMicro(5000)
	for name, list := range map[string]func(*store.Tx) (int, error){
		"asks_waiting": func(tx *store.Tx) (int, error) {
			found, err := tx.Asks.List(store.AskQuery{Limit: 10})
			return len(found), err
		},
		"asks_waiting after": func(tx *store.Tx) (int, error) {
			found, err := tx.Asks.List(store.AskQuery{After: "r5000", Limit: 10})
			return len(found), err
		},
		"sessions_active": func(tx *store.Tx) (int, error) {
			found, err := tx.Sessions.List(store.SessionQuery{Limit: 10})
			return len(found), err
		},
		"sessions_active after": func(tx *store.Tx) (int, error) {
			found, err := tx.Sessions.List(store.SessionQuery{After: "s5000", AfterActiveAt: active, Limit: 10})
			return len(found), err
		},
	} {
		if err := s.View(t.Context(), func(tx *store.Tx) error {
			n, err := list(tx)
			if n != 10 {
				t.Errorf("%s: %d rows", name, n)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		plan := explain(t, db, traced.last)
		index, _, _ := strings.Cut(name, " ")
		if !strings.Contains(plan, "using "+index) || strings.Contains(plan, "Seq Scan") ||
			strings.Contains(strings.ReplaceAll(plan, "Incremental Sort", ""), "Sort  (") {
			t.Errorf("%s is found by\n%s", name, plan)
		}
	}
}

// explain returns the plan of a statement with its arguments.
func explain(t *testing.T, db *sql.DB, q pgx.TraceQueryStartData) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN "+q.SQL, q.Args...)
	if err != nil {
		t.Fatalf("%v: %s", err, q.SQL)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&plan, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
