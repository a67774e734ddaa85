package gate

import (
	"context"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store/sqlite"
)

// An asking counts the statements of a database. Those by which the store looks for news are sent to looks.
type asking struct {
	driver.Driver

	looks  chan struct{}
	others atomic.Int64
}

type (
	askingConn struct {
		driver.Conn
		*asking
	}
	askingStmt struct {
		driver.Stmt
		*asking

		looks bool
	}
)

func (a *asking) Open(name string) (driver.Conn, error) {
	conn, err := a.Driver.Open(name)
	return askingConn{conn, a}, err
}

func (c askingConn) Prepare(query string) (driver.Stmt, error) {
	stmt, err := c.Conn.Prepare(query)
	return askingStmt{stmt, c.asking, query == "PRAGMA data_version"}, err
}

func (s askingStmt) Exec(args []driver.Value) (driver.Result, error) {
	s.others.Add(1)
	return s.Stmt.Exec(args) //nolint:staticcheck // a driver that has no more is called like this
}

func (s askingStmt) Query(args []driver.Value) (driver.Rows, error) {
	if !s.looks {
		s.others.Add(1)
		return s.Stmt.Query(args) //nolint:staticcheck // as above
	}
	rows, err := s.Stmt.Query(args) //nolint:staticcheck // as above
	select {
	case s.asking.looks <- struct{}{}:
	default:
	}
	return rows, err
}

// TestIdleGateAsksTheSameForAnyWatchers: while nothing happens, only the store looks for news, and
// watchers never query the database, no matter how many there are.
func TestIdleGateAsksTheSameForAnyWatchers(t *testing.T) {
	t.Parallel()
	for _, watchers := range []int{0, 10, 500} {
		t.Run(fmt.Sprint(watchers), func(t *testing.T) {
			t.Parallel()
			a := &asking{looks: make(chan struct{})}
			s := must(sqlite.OpenWith(t.Context(), filepath.Join(t.TempDir(), "umpire.db"), func(d driver.Driver) driver.Driver {
				a.Driver = d
				return a
			}))(t)
			defer s.Close()
			g := New(Config{UserHome: t.TempDir(), Store: s})
			defer g.Close()
			must(g.sessions.Open(t.Context(), umpire.Opening{ID: "s", Dir: t.TempDir()}))(t)
			ctx, cancel := context.WithCancel(t.Context())
			var watching, ended sync.WaitGroup
			for range watchers {
				watching.Add(1)
				ended.Go(func() {
					for e, err := range g.Watch(ctx, umpire.Filter{}) {
						if err != nil || e.Kind != umpire.EventSessionOpened {
							t.Errorf("%s: %v", e.Kind, err)
						}
						watching.Done()
					}
				})
			}
			watching.Wait()
			const wanted, patience = 4, 100
			idle := 0
			for looks := 0; idle < wanted && looks < patience; looks++ {
				before := a.others.Load()
				<-a.looks
				if idle++; a.others.Load() != before {
					idle = 0
				}
			}
			if idle < wanted {
				t.Errorf("%d watchers keep the database busy", watchers)
			}
			cancel()
			ended.Wait()
		})
	}
}
