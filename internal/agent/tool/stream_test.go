package tool

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// TestStreamGathersWhatIsPrinted: many small writes are few pieces, whole characters
// each, and the last piece comes before close returns.
func TestStreamGathersWhatIsPrinted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var received []string
		s := &stream{send: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			received = append(received, text)
		}}
		all := func() string {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(received, "|")
		}
		for _, b := range []byte("eins 二") {
			s.Write([]byte{b})
		}
		synctest.Wait()
		if got := all(); got != "" {
			t.Errorf("got at once: %q", got)
		}
		time.Sleep(streamEvery)
		synctest.Wait()
		s.Write([]byte("三")[:1])
		time.Sleep(streamEvery)
		synctest.Wait()
		s.Write([]byte("三")[1:])
		s.Write([]byte{0xff, 0})
		s.flushLast()
		s.Write([]byte("late"))
		time.Sleep(time.Second)
		synctest.Wait()
		if want := "eins 二|三\uFFFD\uFFFD"; all() != want {
			t.Errorf("got %q, want %q", all(), want)
		}
	})
}

// TestStreamKeepsTheEndOfTooMuch: if output is printed faster than it is sent, the
// stream drops the beginning, and the piece says so.
func TestStreamKeepsTheEndOfTooMuch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		received := ""
		s := &stream{send: func(text string) { received += text }}
		s.Write([]byte(strings.Repeat("a", 3*streamPiece)))
		s.Write([]byte("end"))
		s.flushLast()
		head := "\n[... 16387 bytes left out ...]\n"
		if !strings.HasPrefix(received, head) || !strings.HasSuffix(received, "aend") || len(received) != len(head)+streamPiece {
			t.Errorf("got %d bytes: %.60q", len(received), received)
		}
	})
}

// TestStreamDoesNotHoldUpTheCommand: writing continues while a receiver is slow.
func TestStreamDoesNotHoldUpTheCommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var received []string
		s := &stream{send: func(text string) { <-release; received = append(received, text) }}
		s.Write([]byte("one"))
		time.Sleep(streamEvery)
		synctest.Wait()
		for range 100 {
			s.Write([]byte(strings.Repeat("b", streamPiece)))
		}
		close(release)
		s.flushLast()
		if len(received) != 2 || received[0] != "one" || !strings.Contains(received[1], "left out") {
			t.Errorf("got %d pieces", len(received))
		}
	})
}

// TestOutputIsHeardWhileACommandRuns: a command that waits until its output was
// received comes to its end, and the result is complete.
func TestOutputIsHeardWhileACommandRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var mu sync.Mutex
	received := ""
	b.options.Output = func(call umpire.CallID, text string) {
		mu.Lock()
		defer mu.Unlock()
		if received == "" {
			b.file("go-on", "")
		}
		if received += text; call != "c1" || !utf8.ValidString(text) {
			t.Errorf("%s: %q", call, text)
		}
	}
	out := b.ok("Bash", fields{"command": "echo begin; until [ -e go-on ]; do sleep 0.01; done; printf end"})
	mu.Lock()
	defer mu.Unlock()
	if out != "begin\nend" || received != out {
		t.Errorf("got %q of %q", received, out)
	}
}
