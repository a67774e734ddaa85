package console_test

import (
	"database/sql/driver"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/sqlite"
)

// A costs counts a database's requests and replies. It is the driver; its connections, statements
// and rows do the counting.
type costs struct {
	driver.Driver

	statements, rows, bytes atomic.Int64
}

type (
	countedConn struct {
		driver.Conn
		*costs
	}
	countedStmt struct {
		driver.Stmt
		*costs
	}
	countedRows struct {
		driver.Rows
		*costs
	}
)

func (c *costs) Open(name string) (driver.Conn, error) {
	conn, err := c.Driver.Open(name)
	return countedConn{conn, c}, err
}

func (c countedConn) Prepare(query string) (driver.Stmt, error) {
	stmt, err := c.Conn.Prepare(query)
	if strings.HasPrefix(query, "PRAGMA data_version") {
		return stmt, err // the store looks for news by this clock, and no page asks for it
	}
	return countedStmt{stmt, c.costs}, err
}

func (s countedStmt) Exec(args []driver.Value) (driver.Result, error) {
	s.statements.Add(1)
	return s.Stmt.Exec(args) //nolint:staticcheck // a driver without newer methods is called like this
}

func (s countedStmt) Query(args []driver.Value) (driver.Rows, error) {
	s.statements.Add(1)
	rows, err := s.Stmt.Query(args) //nolint:staticcheck // as above
	return countedRows{rows, s.costs}, err
}

func (r countedRows) Next(to []driver.Value) error {
	err := r.Rows.Next(to)
	if err != nil {
		return err
	}
	r.rows.Add(1)
	for _, value := range to {
		switch value := value.(type) {
		case string:
			r.bytes.Add(int64(len(value)))
		case []byte:
			r.bytes.Add(int64(len(value)))
		default:
			r.bytes.Add(8)
		}
	}
	return nil
}

// A pageCosts is the work counted while making a page, and the page's size.
type pageCosts struct{ statements, rows, bytes, page int64 }

// measure asks for a page.
func (c *costs) measure(t *testing.T, b *browser, path string) (page string, cost pageCosts) {
	t.Helper()
	statements, rows, bytes := c.statements.Load(), c.rows.Load(), c.bytes.Load()
	a := b.send(t, http.MethodGet, path, "")
	if a.status != http.StatusOK {
		t.Fatalf("%s: status %d\n%s", path, a.status, a.body)
	}
	return a.body, pageCosts{
		c.statements.Load() - statements, c.rows.Load() - rows, c.bytes.Load() - bytes, int64(len(a.body)),
	}
}

// TestLight: with 1,000 questions and 100,000 events in a real database, each page has at most 60
// entries, and what it reads and sends is bounded. It counts, since times differ between machines.
func TestLight(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	c := &costs{}
	w, _ := newWorldIn(t, "en", func(path string) (*store.Store, error) {
		return sqlite.OpenWith(t.Context(), path, func(d driver.Driver) driver.Driver {
			c.Driver = d
			return c
		})
	})
	w.fillTimeline(t, 100_000)
	b := w.browser(t)
	calls := make([]umpire.Call, 100)
	for range 10 {
		for i := range calls {
			calls[i] = bash(fmt.Sprintf("npm install p%d-%d", w.n, i))
			calls[i].ID = umpire.CallID(fmt.Sprintf("c%d-%d", w.n, i))
		}
		b.ask(t, calls...)
	}
	p := openTerminal(t, w.console, "en") // a link lasts a minute
	defer p.close()
	b.signIn(t, p.token(t))
	for _, tt := range []struct {
		path, entry string
		entries     int
		most        pageCosts
	}{
		{"/", `class="item`, 60, pageCosts{40, 1400, 2 << 20, 48 << 10}},
		{"/timeline", `class="event`, 60, pageCosts{30, 900, 1 << 20, 48 << 10}},
		{"/timeline?before=50000", `class="event`, 60, pageCosts{30, 2900, 2 << 20, 64 << 10}},
		{"/timeline?kind=denied", `class="event`, 0, pageCosts{50, 9500, 6 << 20, 16 << 10}},
		{"/timeline?q=nothing+has+these+words", `class="event`, 0, pageCosts{50, 9500, 6 << 20, 16 << 10}},
		{"/sessions", `<li class="session`, 1, pageCosts{25, 300, 256 << 10, 16 << 10}},
		{"/overview", `<section class="plot"`, 2, pageCosts{70, 23_000, 12 << 20, 16 << 10}}, // it counts 20,000 events
		{"/overview", `<section class="plot"`, 2, pageCosts{30, 300, 256 << 10, 16 << 10}},   // and then only new ones
	} {
		page, cost := c.measure(t, b, tt.path)
		t.Logf("%s: %+v", tt.path, cost)
		if n := strings.Count(page, tt.entry); n != tt.entries {
			t.Errorf("%s has %d entries, want %d", tt.path, n, tt.entries)
		}
		if cost.statements > tt.most.statements || cost.rows > tt.most.rows || cost.bytes > tt.most.bytes ||
			cost.page > tt.most.page {
			t.Errorf("%s takes %+v, at most %+v was to be had", tt.path, cost, tt.most)
		}
	}
}

// fillTimeline adds events of calls that ran earlier, a hundred to a session.
func (w *world) fillTimeline(t *testing.T, n int) {
	t.Helper()
	at := time.Now().Add(-time.Hour)
	const batch = 5000
	for from := 0; from < n; from += batch {
		err := w.store.Update(t.Context(), func(tx *store.Tx) error {
			for i := from; i < min(n, from+batch); i++ {
				e := umpire.Event{
					Session: w.session.ID, Project: w.session.Project, Call: umpire.CallID(fmt.Sprintf("old%d", i/2)), Tool: "Bash",
					Agent: w.session.Agent, At: at, Kind: umpire.EventPermissionBypassedByRule,
				}
				if i%2 == 1 {
					e.Kind = umpire.EventCallStarted
				}
				if _, err := tx.Events.Append(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
