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
		var heard []string
		s := &stream{hear: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, text)
		}}
		all := func() string {
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(heard, "|")
		}
		for _, b := range []byte("eins 二") {
			s.Write([]byte{b})
		}
		synctest.Wait()
		if got := all(); got != "" {
			t.Errorf("heard at once: %q", got)
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
			t.Errorf("heard %q, want %q", all(), want)
		}
	})
}

// TestStreamKeepsTheEndOfTooMuch: what is printed faster than it is passed on is cut,
// and the piece says so.
func TestStreamKeepsTheEndOfTooMuch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		heard := ""
		s := &stream{hear: func(text string) { heard += text }}
		s.Write([]byte(strings.Repeat("a", 3*streamPiece)))
		s.Write([]byte("end"))
		s.flushLast()
		head := "\n[... 16387 bytes left out ...]\n"
		if !strings.HasPrefix(heard, head) || !strings.HasSuffix(heard, "aend") || len(heard) != len(head)+streamPiece {
			t.Errorf("heard %d bytes: %.60q", len(heard), heard)
		}
	})
}

// TestStreamDoesNotHoldUpTheCommand: while somebody still listens to a piece, writing
// goes on.
func TestStreamDoesNotHoldUpTheCommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var heard []string
		s := &stream{hear: func(text string) { <-release; heard = append(heard, text) }}
		s.Write([]byte("one"))
		time.Sleep(streamEvery)
		synctest.Wait()
		for range 100 {
			s.Write([]byte(strings.Repeat("b", streamPiece)))
		}
		close(release)
		s.flushLast()
		if len(heard) != 2 || heard[0] != "one" || !strings.Contains(heard[1], "left out") {
			t.Errorf("heard %d pieces", len(heard))
		}
	})
}

// TestOutputIsHeardWhileACommandRuns: a command that goes on only when it was heard
// comes to its end, and the result holds everything all the same.
func TestOutputIsHeardWhileACommandRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var mu sync.Mutex
	heard := ""
	b.options.Output = func(call umpire.CallID, text string) {
		mu.Lock()
		defer mu.Unlock()
		if heard == "" {
			b.file("go-on", "")
		}
		if heard += text; call != "c1" || !utf8.ValidString(text) {
			t.Errorf("%s: %q", call, text)
		}
	}
	out := b.ok("Bash", fields{"command": "echo begin; until [ -e go-on ]; do sleep 0.01; done; printf end"})
	mu.Lock()
	defer mu.Unlock()
	if out != "begin\nend" || heard != out {
		t.Errorf("heard %q of %q", heard, out)
	}
}
