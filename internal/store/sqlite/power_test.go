//go:build linux || darwin

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver" // the driver "sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// otherFault is fault for the other driver.
func otherFault(err error) store.Fault {
	if errors.Is(err, sqlite3.CONSTRAINT) {
		return store.FaultConflict
	}
	return store.FaultOther
}

// quiet does not poll for other processes, because a disk counts every operation and must
// be reproducible.
type quiet struct{ *herald }

func (quiet) Run(ctx context.Context, _ func()) { <-ctx.Done() }

// mount registers a disk with the driver and returns the address of a file on it.
func mount(t testing.TB, d *disk, settings []string) (dsn string) {
	t.Helper()
	name := filepath.Base(d.shm) + strconv.Itoa(int(mounts.next()))
	vfs.Register(name, d)
	t.Cleanup(func() { vfs.Unregister(name) })
	query := url.Values{"vfs": {name}, "_pragma": settings}
	return (&url.URL{Scheme: "file", Path: "/umpire.db", RawQuery: query.Encode()}).String()
}

type counter struct {
	mu sync.Mutex
	n  int64
}

func (c *counter) next() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

var mounts counter

// openOn opens a store on a disk.
func openOn(t testing.TB, d *disk, settings []string) (*store.Store, error) {
	db, err := sql.Open("sqlite3", mount(t, d, settings))
	if err != nil {
		return nil, err
	}
	other := dialect(otherFault)
	other.Herald = func(db *sql.DB) store.Herald { return quiet{newHerald(db)} }
	return store.New(t.Context(), db, other)
}

// inspect opens the remaining store and compares it with the reported outcomes.
func inspect(t testing.TB, d *disk, told *storetest.Tally) (problems []string, err error) {
	s, err := openOn(t, d, pragmas)
	if err != nil {
		return nil, fmt.Errorf("what is left cannot be opened: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	raw, err := sql.Open("sqlite3", mount(t, d, pragmas))
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	var integrity string
	if err := raw.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&integrity); err != nil || integrity != "ok" {
		problems = append(problems, fmt.Sprintf("corrupt: %s, %v", integrity, err))
	}
	compared, err := told.Compare(t.Context(), s)
	if err != nil {
		return problems, err
	}
	problems = append(problems, compared...)
	if breaks, err := s.Verify(t.Context(), nil); err != nil || len(breaks) > 0 {
		problems = append(problems, fmt.Sprintf("the chain is broken: %v, %v", breaks, err))
	}
	afterwards := storetest.Tally{Session: "afterwards"}
	if afterwards.Work(t.Context(), s); afterwards.Acknowledged() != 2 {
		problems = append(problems, "nothing can be written any more")
	}
	return problems, nil
}

// history works on a disk that may already hold a store, with a failure at one operation.
// It returns the number of operations, and the problems found.
func history(t testing.TB, start *disk, settings []string, rounds, faultAt int, kind trouble, dice *rand.Rand) (ops int, problems []string) {
	t.Helper()
	d := start.clone(t.TempDir())
	d.faultAt, d.fault = faultAt, kind
	told := storetest.Tally{Session: "s"}
	s, err := openOn(t, d, settings)
	if err == nil {
		for range rounds {
			told.Work(t.Context(), s)
		}
		_ = s.Close() // fails on a dead disk
	}
	if !d.reached() && faultAt > 0 {
		return d.ops, nil
	}
	problems, err = inspect(t, d.restart(t.TempDir(), dice), &told)
	if err != nil {
		problems = append(problems, err.Error())
	}
	return d.ops, problems
}

// started returns a disk with an empty store of the current schema.
func started(t testing.TB) *disk {
	d := newDisk(t.TempDir())
	s, err := openOn(t, d, pragmas)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPower lets the disk fail in each way at each operation, while the schema is created
// and while questions are asked and answered. Under the race detector it only takes every
// fiftieth operation, because more reveal nothing new.
func TestPower(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start    *disk
		settings []string
		rounds   int
	}{
		"making the schema":             {newDisk(t.TempDir()), pragmas, 0},
		"answering":                     {started(t), pragmas, 2},
		"answering between checkpoints": {started(t), checkpoints, 2},
	} {
		for kind := failsOnce; kind <= powerTorn; kind++ {
			t.Run(name+"/"+kind.String(), func(t *testing.T) {
				t.Parallel()
				dice := rand.New(rand.NewPCG(1, uint64(kind)))
				total, problems := history(t, c.start, c.settings, c.rounds, 0, kind, dice)
				if len(problems) > 0 {
					t.Fatalf("without any trouble: %q", problems)
				}
				for at := 1; at <= total; at += stride * sample.Times(12, 1) {
					if _, problems := history(t, c.start, c.settings, c.rounds, at, kind, dice); len(problems) > 0 {
						t.Errorf("operation %d: %q", at, problems)
					}
				}
				t.Logf("%d operations", total)
			})
		}
	}
}

// checkpoints are the program's settings with frequent checkpoints of the log, to have
// some between the answers.
var checkpoints = append(slices.Clone(pragmas), "wal_autocheckpoint(24)")

// TestPowerFindsLosses proves that the disk detects missing durability: with weaker
// settings acknowledged answers are lost.
func TestPowerFindsLosses(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	for _, weaker := range []string{"synchronous(normal)", "synchronous(off)"} {
		settings := append(slices.Clone(pragmas), weaker)
		dice := rand.New(rand.NewPCG(1, 1))
		start := started(t)
		total, _ := history(t, start, settings, 3, 0, powerLost, dice)
		lost := false
		for at := total; at > 0 && !lost; at -= min(stride, 5) {
			_, problems := history(t, start, settings, 3, at, powerLost, dice)
			lost = strings.Contains(strings.Join(problems, " "), "lost: ")
		}
		if !lost {
			t.Errorf("%s: nothing was lost in any of %d operations", weaker, total)
		}
	}
}
