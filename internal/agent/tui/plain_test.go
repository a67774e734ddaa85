package tui

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// A buffer may be written and read at the same time.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestPlain talks line by line: without cursor movements or colours. An answer counts
// after the card has settled.
func TestPlain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := &fakeGate{session: umpire.Session{ID: "s1", Project: someProject, Dir: "/p", Mode: umpire.ModeDefault}, answered: make(chan struct{}, 9)}
		var tasks []string
		host := &fakeHost{turn: func(_ context.Context, task string, handler *TurnHandler) (string, error) {
			tasks = append(tasks, task)
			if task != "go on" {
				return "", nil
			}
			handler.Said("I **ask**\x1b[2J")
			gate.mu.Lock()
			gate.pending = []umpire.Pending{npm()}
			gate.mu.Unlock()
			handler.Waiting(1)
			<-gate.answered
			handler.Ended(umpire.BatchCall{ID: "c2", Tool: "Bash", Input: npm().Input}, umpire.Result{Status: umpire.ResultOK, Output: "fine"})
			return "the end", nil
		}, profiles: []Profile{{Name: "main"}}}
		var out buffer
		in, typing := io.Pipe()
		chat := New(Config{Gate: gate, Host: host, Session: gate.session, In: in, Out: &out, Now: time.Now})
		ended := make(chan error, 1)
		go func() { ended <- chat.RunPlain(t.Context()) }()
		line := func(text string) {
			synctest.Wait()
			io.WriteString(typing, text+"\n")
			synctest.Wait()
		}
		line("/agents main .md，py")
		line("go on")
		line("/status") // has the gate asked again, which brings the card
		line("y")       // too early
		if text := out.String(); strings.Contains(text, "Type y/") {
			t.Errorf("an answer is wanted before it counts:\n%s", text)
		}
		time.Sleep(cardPause + settleTime)
		line("yes")
		line("e")
		line("n not now")
		line("/quit")
		typing.Close()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]umpire.Answer{{Request: "r2", ArgsHash: "hash2", Version: 1, Choice: umpire.Refuse, Reason: "not now"}}, gate.answers); diff != "" {
			t.Error(diff)
		}
		text := out.String()
		for _, want := range []string{
			"> ", "main: may edit .md .py\n", "I **ask**\\x1b[2J\n", "downloads a package and runs its code\n⚠️ Permission request\n", "  request:       r2, 2 of 5 in this message\n", "  command:       npm install react\n",
			"  y  allow once: this call only\n", "Type y/s/p/g/n/c/e/v/d and Enter: ", "Denied tool: Bash: not now\n", "[ok] Bash npm install react\n  | fine\n", "the end\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q was not written:\n%s", want, text)
			}
		}
		if strings.Contains(text, "\x1b") {
			t.Errorf("escapes were written: %q", text)
		}
		if diff := cmp.Diff([]string{"go on"}, tasks); diff != "" {
			t.Error(diff)
		}
	})
}
