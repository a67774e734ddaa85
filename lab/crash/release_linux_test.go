package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// BenchmarkTeamAgents has a number of agents make calls that are allowed, at once.
func BenchmarkTeamAgents(b *testing.B) {
	for _, agents := range []int{1, 4, 16, 100} {
		b.Run(strconv.Itoa(agents), func(b *testing.B) {
			t := newTeam(b, 1, false)
			var workers []*worker
			for i := range agents {
				workers = append(workers, t.worker(i))
			}
			t.work(workers, false)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			t.stop()
		})
	}
}

// BenchmarkTeamBatch takes a thousand asked calls of one agent, in batches of one size, from their messages to
// their results.
func BenchmarkTeamBatch(b *testing.B) {
	const calls = 1000
	for _, size := range []int{100, calls} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			w := newTeam(b, 1, false).worker(0)
			for b.Loop() {
				for range calls / size {
					if err := w.batch(b.Context(), size); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s")
		})
	}
}

// batch takes a message of asked calls to its results.
func (w *worker) batch(ctx context.Context, size int) error {
	w.calls++
	s := umpire.Submission{Session: w.session.ID, Batch: umpire.BatchID(fmt.Sprint("b", w.calls)), Message: callMessage}
	for i := range size {
		id := umpire.CallID(fmt.Sprint(s.Batch, "-", i))
		s.Calls = append(s.Calls, umpire.Call{ID: id, Tool: "Bash", Input: json.RawMessage(askedCommand)})
	}
	if _, err := w.agent.Submit(ctx, s); err != nil {
		return err
	}
	cards, err := w.person.Pending(ctx, umpire.PendingQuery{Session: w.session.ID})
	if err != nil || len(cards) != size {
		return errors.Join(err, fmt.Errorf("%d questions wait", len(cards)))
	}
	for i := range cards {
		if _, err := w.person.Resolve(ctx, answerOf(&cards[i], umpire.Approve)); err != nil {
			return err
		}
	}
	for i := range s.Calls {
		if err := w.run(ctx, s.Batch, s.Calls[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkRelease measures from a person's approval until the agent that waits knows of it, in turns
// with the least that this takes: a record that is synced, and one frame over a socket.
func BenchmarkRelease(b *testing.B) {
	t := newTeam(b, 1, false)
	w, least := t.worker(0), newLeastRelease(b, t.dir)
	var ours, raw []time.Duration
	for b.Loop() {
		w.calls++
		id := fmt.Sprint("m", w.calls)
		asked, err := w.agent.Submit(b.Context(), umpire.Submission{
			Session: w.session.ID, Batch: umpire.BatchID(id), Calls: []umpire.Call{{ID: umpire.CallID(id), Tool: "Bash", Input: json.RawMessage(askedCommand)}},
		})
		if err != nil {
			b.Fatal(err)
		}
		released := make(chan error, 1)
		go func() {
			_, err := w.agent.Await(b.Context(), w.session.ID, asked.ID, time.Minute)
			released <- err
		}()
		cards, err := w.person.Pending(b.Context(), umpire.PendingQuery{Session: w.session.ID})
		if err != nil || len(cards) != 1 {
			b.Fatalf("%d questions wait: %v", len(cards), err)
		}
		began := time.Now()
		if _, err := w.person.Resolve(b.Context(), answerOf(&cards[0], umpire.Approve)); err != nil {
			b.Fatal(err)
		}
		if err := <-released; err != nil {
			b.Fatal(err)
		}
		ours, raw = append(ours, time.Since(began)), append(raw, least.release(b))
		if err := w.run(b.Context(), asked.ID, asked.Calls[0].ID); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(median(ours))/float64(median(raw)), "release/raw")
	b.ReportMetric(float64(median(ours).Microseconds())/1000, "release-ms")
}

// A leastRelease syncs a record and notifies a reader.
type leastRelease struct {
	file   *os.File
	writer net.Conn
	heard  chan struct{}
}

func newLeastRelease(b *testing.B, dir string) *leastRelease {
	b.Helper()
	file, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "raw.sock"))
	if err != nil {
		b.Fatal(err)
	}
	writer, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	reader, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	raw := &leastRelease{file: file, writer: writer, heard: make(chan struct{})}
	var reads sync.WaitGroup
	reads.Go(func() {
		defer close(raw.heard)
		for frame := make([]byte, 256); ; {
			if _, err := io.ReadFull(reader, frame); err != nil {
				return
			}
			raw.heard <- struct{}{}
		}
	})
	b.Cleanup(func() {
		writer.Close()
		reads.Wait()
		reader.Close()
		l.Close()
		file.Close()
	})
	return raw
}

func (r *leastRelease) release(b *testing.B) time.Duration {
	b.Helper()
	began := time.Now()
	if _, err := r.file.Write(make([]byte, 512)); err != nil {
		b.Fatal(err)
	}
	if err := unix.Fdatasync(int(r.file.Fd())); err != nil {
		b.Fatal(err)
	}
	if _, err := r.writer.Write(make([]byte, 256)); err != nil {
		b.Fatal(err)
	}
	<-r.heard
	return time.Since(began)
}
