package postgres

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// A countedConn counts how often its user waits for an answer.
type countedConn struct {
	net.Conn

	trips *int
	asked bool
}

func (c *countedConn) Write(data []byte) (int, error) {
	c.asked = true
	return c.Conn.Write(data)
}

func (c *countedConn) Read(data []byte) (int, error) {
	if c.asked {
		*c.trips++
	}
	c.asked = false
	return c.Conn.Read(data)
}

// TestStatementsAreSentTogether checks that several statements take one round trip, that
// the first failing one is reported, and that a later commit is not run.
func TestStatementsAreSentTogether(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	for name, dsn := range map[string]string{"kept": dsn, "not kept": dsn + " default_query_exec_mode=exec"} {
		t.Run(name, func(t *testing.T) {
			trips := 0
			dial, err := parseConfig(dsn)
			if err != nil {
				t.Fatal(err)
			}
			connect := dial.config.DialFunc
			dial.config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := connect(ctx, network, address)
				return &countedConn{Conn: c, trips: &trips}, err
			}
			opened, err := dial.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			c := opened.(*connection)
			send := func(want error, done, most int, all ...store.Statement) {
				t.Helper()
				trips = 0
				results, err := c.Send(t.Context(), all)
				if !errors.Is(err, want) || len(results) != done || trips > most {
					t.Fatalf("%d results in %d round trips: %v", len(results), trips, err)
				}
			}
			begin, commit := store.Statement{Query: beginUpdate}, store.Statement{Query: "COMMIT"}
			rollback := store.Statement{Query: "ROLLBACK"}
			insert := func(n int) store.Statement {
				return store.Statement{Query: "INSERT INTO t VALUES ($1) ON CONFLICT DO NOTHING", Args: []any{n}, Changes: true}
			}
			count := store.Statement{Query: "SELECT COUNT(*) FROM t WHERE n >= $1", Args: []any{0}, Reads: true}
			send(nil, 1, 1, store.Statement{Query: "CREATE TEMPORARY TABLE t (n BIGINT PRIMARY KEY)"})
			send(nil, 5, 2, begin, insert(1), insert(2), count, commit)
			send(nil, 5, 1, begin, insert(3), insert(4), count, commit)
			send(store.ErrUnchanged, 2, 1, begin, insert(5), insert(3), commit)
			send(nil, 1, 1, rollback)
			send(nil, 1, 1, store.Statement{Query: "DEALLOCATE ALL"})
			if _, err := c.Send(t.Context(), []store.Statement{begin, insert(6), commit}); (err == nil) != c.unnamed {
				t.Fatalf("after the server forgot: %v", err)
			}
			send(nil, 1, 1, rollback)
			_, _ = c.Send(t.Context(), []store.Statement{count}) // it is forgotten as well
			results, err := c.Send(t.Context(), []store.Statement{begin, insert(7), count, commit})
			if err != nil || len(results) != 4 {
				t.Fatalf("%d results: %v", len(results), err)
			}
			want := map[bool]string{false: "5", true: "6"}[c.unnamed]
			if got := results[2].Rows.(*keptRows).rows[0][0]; got != want {
				t.Errorf("%v rows, want %s", got, want)
			}
		})
	}
}
