package postgres

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, freshIn(storetest.NewServer(t)))
}

//nolint:paralleltest // it counts allocations
func TestPendingListsWhatItReturns(t *testing.T) {
	storetest.ListsPending(t, freshIn(storetest.NewServer(t)), sample.Times(2_000, 10_000))
}

func BenchmarkPending(b *testing.B) { storetest.BenchPending(b, freshIn(storetest.NewServer(b))) }

// freshIn returns a function that makes new databases on a server.
func freshIn(server *storetest.Server) func(testing.TB) storetest.Database {
	return func(t testing.TB) storetest.Database {
		dsn := server.Database(t)
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return storetest.Database{
			Open: func(ctx context.Context) (*store.Store, error) { return Open(ctx, dsn) },
			Raw:  db,
		}
	}
}

// TestTruncateIsRefused checks that emptying a table does not bypass the triggers of its rows.
func TestTruncateIsRefused(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	s := open(t, dsn)
	storetest.Fill(t, s)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for table, constraint := range map[string]string{
		"project_last_root_session": "last_root_truncate", "answers": "answers_truncate", "grants": "grants_truncate",
		"executions": "executions_truncate", "results": "results_truncate", "resumes": "resumes_truncate", "messages": "messages_truncate",
		"trials": "trials_truncate",
		"events": "events_truncate", "streams": "streams_truncate",
		// One of the tables that would be emptied too refuses.
		"sessions CASCADE": "_truncate", "project_sessions CASCADE": "_truncate", "batches CASCADE": "_truncate",
		"calls CASCADE": "_truncate", "asks CASCADE": "_truncate", "asks": "foreign key",
	} {
		if _, err := db.ExecContext(t.Context(), "TRUNCATE "+table); err == nil || !strings.Contains(err.Error(), constraint) {
			t.Errorf("TRUNCATE %s: %v, want %s to refuse it", table, err, constraint)
		}
	}
}
