package sqlite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/internal/store"
)

// record is about as long as an answer.
var record = make([]byte, 512)

// BenchmarkAnswer compares a durable answer by one writer with the minimum cost of
// durability: appending a record and syncing it. The two alternate, so both use the disk
// under the same conditions.
func BenchmarkAnswer(b *testing.B) { alone(b, answer) }

// BenchmarkAnswerRow is the same with only the answer and its event.
func BenchmarkAnswerRow(b *testing.B) { alone(b, answerRow) }

func alone(b *testing.B, answer func(*testing.B, *store.Store, int)) {
	dir := b.TempDir()
	s := benchStore(b, dir, b.N)
	f := rawFile(b, dir)
	answers, appends := make([]time.Duration, b.N), make([]time.Duration, b.N)
	b.ResetTimer()
	for i := range b.N {
		start := time.Now()
		answer(b, s, i)
		answers[i] = time.Since(start)
		start = time.Now()
		appendRecord(b, f, record)
		appends[i] = time.Since(start)
	}
	report(b, answers, appends)
}

// BenchmarkAnswers16 compares 16 concurrent writers with 16 writers that append to a raw
// file and share its syncs.
func BenchmarkAnswers16(b *testing.B) { sixteen(b, answer) }

// BenchmarkAnswerRows16 is the same with only the answer and its event.
func BenchmarkAnswerRows16(b *testing.B) { sixteen(b, answerRow) }

func sixteen(b *testing.B, answer func(*testing.B, *store.Store, int)) {
	const writers = 16
	dir := b.TempDir()
	s := benchStore(b, dir, b.N)
	log := &groupLog{file: rawFile(b, dir)}
	log.free = sync.NewCond(&log.mu)
	b.ResetTimer()
	answers, answered := together(b.N, writers, func(i int) { answer(b, s, i) })
	appends, appended := together(b.N, writers, func(int) { log.append(b, record) })
	report(b, answers, appends)
	b.ReportMetric(float64(answered)/float64(b.N), "ns/answer")
	b.ReportMetric(float64(appended)/float64(answered), "throughput/raw")
}

// report reports the median and the 99th percentile, and their ratios to those of the raw
// file.
func report(b *testing.B, answers, raw []time.Duration) {
	b.Helper()
	at := func(d []time.Duration, part float64) float64 {
		slices.Sort(d)
		return float64(d[int(part*float64(len(d)-1))])
	}
	b.ReportMetric(at(answers, 0.5), "ns/answer-median")
	b.ReportMetric(at(raw, 0.5), "ns/raw-median")
	b.ReportMetric(at(answers, 0.5)/at(raw, 0.5), "median/raw")
	b.ReportMetric(at(answers, 0.99)/at(raw, 0.99), "p99/raw")
}

// together runs f n times with several goroutines and returns the duration of each run
// and of all.
func together(n, writers int, f func(int)) (each []time.Duration, all time.Duration) {
	each = make([]time.Duration, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range writers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				start := time.Now()
				f(i)
				each[i] = time.Since(start)
			}
		})
	}
	wg.Wait()
	return each, time.Since(begin)
}

func rawFile(b *testing.B, dir string) *os.File {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

func appendRecord(b *testing.B, f *os.File, data []byte) {
	if _, err := f.Write(data); err != nil {
		b.Error(err)
	}
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		b.Error(err)
	}
}

// A groupLog lets writers that arrive during a sync share the next one.
type groupLog struct {
	file *os.File

	mu       sync.Mutex
	free     *sync.Cond
	busy     bool
	waiting  []byte
	next     int // the waiting group
	finished int // durable groups
}

func (l *groupLog) append(b *testing.B, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, data...)
	mine := l.next
	for l.finished <= mine {
		if l.busy {
			l.free.Wait()
			continue
		}
		group := l.waiting
		l.waiting, l.busy = nil, true
		l.next++
		l.mu.Unlock()
		appendRecord(b, l.file, group)
		l.mu.Lock()
		l.busy = false
		l.finished++
		l.free.Broadcast()
	}
}

// benchStore opens a store with a number of sessions that each have a question.
func benchStore(b *testing.B, dir string, sessions int) *store.Store {
	b.Helper()
	s, err := Open(b.Context(), filepath.Join(dir, "umpire.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	const together = 500
	for begin := 0; begin < sessions; begin += together {
		err := s.Update(b.Context(), func(tx *store.Tx) error {
			for i := begin; i < min(begin+together, sessions); i++ {
				if err := question(tx, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func sessionID(i int) umpire.SessionID { return umpire.SessionID(fmt.Sprintf("session-%09d", i)) }

// question stores a session with one asked call.
func question(tx *store.Tx, i int) error {
	id, now := sessionID(i), time.Now()
	if err := tx.Sessions.Insert(umpire.Session{ID: id, Project: "p", IsRoot: true, Root: "/home/me/project", Dir: "/home/me/project", CreatedAt: now, ActiveAt: now}); err != nil {
		return err
	}
	call := umpire.BatchCall{
		ID: "call", Tool: "Bash", ArgsHash: "hash", State: umpire.CallAsked, Request: umpire.RequestID(id), Round: 1, Effect: umpire.EffectUnknown,
	}
	asked := umpire.Batch{ID: "batch", Session: id, State: umpire.BatchWaiting, Calls: []umpire.BatchCall{call}}
	row := store.CallRow{Session: id, Batch: "batch", ID: "call", Tool: "Bash", ArgsHash: "hash", Input: store.Sealed{Shown: `{"command":"go test ./..."}`}}
	if err := tx.Batches.Insert(asked, 1, []store.CallRow{row}, now); err != nil {
		return err
	}
	return tx.Asks.Insert(store.AskRow{
		Request: call.Request, Session: id, Batch: "batch", Call: "call", Round: 1, ArgsHash: "hash", AskedAt: now,
		Shown: json.RawMessage(`{"request_id":"r","tool":"Bash","input":{"command":"go test ./..."},"risk_level":"medium"}`),
	})
}

// answerRow writes an answer and its event.
func answerRow(b *testing.B, s *store.Store, i int) {
	id := sessionID(i)
	err := s.Update(b.Context(), func(tx *store.Tx) error {
		now := time.Now()
		err := tx.Answers.Insert(store.AnswerRow{
			Standing: umpire.Standing{Request: umpire.RequestID(id), Choice: umpire.Approve, Actor: "me", At: now}, ArgsHash: "hash", Channel: "cli",
		})
		if err != nil {
			return err
		}
		_, err = tx.Events.Append(umpire.Event{Kind: umpire.EventPermissionApproved, At: now, Project: "p", Session: id, Request: umpire.RequestID(id), Actor: "me"})
		return err
	})
	if err != nil {
		b.Error(err)
	}
}

// answer does the work of a gate when a person approves the only question of a batch: it
// reads the required rows, and writes the answer, a grant, two events, the call, the
// batch and the session.
func answer(b *testing.B, s *store.Store, i int) {
	id := sessionID(i)
	err := s.Update(b.Context(), func(tx *store.Tx) error {
		session, err := tx.Sessions.Lock(id)
		if err != nil {
			return err
		}
		ask, err := tx.Asks.Get(umpire.RequestID(id))
		if err != nil {
			return err
		}
		asked, err := tx.Batches.Get(id, "batch")
		if err != nil {
			return err
		}
		now := time.Now()
		err = tx.Answers.Insert(store.AnswerRow{
			Standing: umpire.Standing{Request: ask.Request, Choice: umpire.Approve, Actor: "me", At: now}, ArgsHash: ask.ArgsHash, Channel: "cli",
		})
		if err != nil {
			return err
		}
		grant := store.GrantRow{
			ID: "grant of " + string(id), Scope: umpire.ScopeOnce, Project: "p", GitDir: "/g", Session: id, Call: "call", Request: ask.Request, MaxUses: 1,
			Grant: umpire.Grant{Tool: "Bash", Exact: "go test ./..."}, Created: now, By: "me",
		}
		if err := tx.Grants.Insert(grant); err != nil {
			return err
		}
		for _, e := range []batch.Event{
			{Event: umpire.Event{Kind: umpire.EventPermissionApproved}},
			{Event: umpire.Event{Kind: umpire.EventBatchResumed}, Detail: batch.Resumed{Epoch: 1}},
		} {
			e.Event = umpire.Event{
				Kind: e.Kind, At: now, Project: "p", Session: id, Batch: "batch", Call: "call", Request: ask.Request, Tool: "Bash",
				State: umpire.StateAllowed, Risk: "medium", Verdict: new(umpire.Allow), Actor: "me", Data: json.RawMessage(`{"epoch":1}`),
			}
			if err := tx.Batches.Apply(&asked, e); err != nil {
				return err
			}
		}
		session.ActiveAt = now
		return tx.Sessions.Save(session)
	})
	if err != nil {
		b.Error(err)
	}
}
