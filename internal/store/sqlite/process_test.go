package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/storetest"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// childFile names the file to which a process of this test binary writes, if it is a
// child of TestProcesses.
const childFile = "UMPIRE_TEST_STORE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		child(path, os.Args[len(os.Args)-1])
	}
	goleak.VerifyTestMain(m)
}

// child appends events until it is killed, and reports each stored one.
func child(path, name string) {
	s, err := Open(context.Background(), path)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", name, i)
		err := s.Update(context.Background(), func(tx *store.Tx) error {
			for _, session := range []umpire.SessionID{"", umpire.SessionID(name)} {
				if _, err := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: session, Reason: umpire.Verbatim(id)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("stored", id)
	}
}

// TestProcesses has several processes write to one file and kills them at any time.
func TestProcesses(t *testing.T) {
	t.Parallel()
	const processes, answers = 3, 15
	rounds := sample.Times(2, 4)
	path := filepath.Join(t.TempDir(), "umpire.db")
	stored := map[string]bool{}
	for round := range rounds {
		said := make(chan []string)
		for p := range processes {
			go func() { said <- killAfter(t, path, fmt.Sprintf("r%dp%d", round, p), answers) }()
		}
		for range processes {
			for _, id := range <-said {
				stored[id] = true
			}
		}
	}
	if len(stored) < rounds*processes*answers {
		t.Fatalf("%d events were acknowledged", len(stored))
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	seen := map[string]int{}
	err = s.View(t.Context(), func(tx *store.Tx) error {
		events, err := tx.Events.List(umpire.Filter{})
		for _, e := range events {
			seen[catalogue.English.Text(e.Reason)]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range stored {
		if seen[id] != 2 {
			t.Errorf("%s was acknowledged and is there in %d of 2 sessions", id, seen[id])
		}
	}
	if breaks, err := s.Verify(t.Context(), nil); err != nil || len(breaks) > 0 {
		t.Errorf("Verify: %v, %v", breaks, err)
	}
}

// killAfter starts a process and kills it after it has stored a number of events. It
// returns those reported as stored.
func killAfter(t *testing.T, path, name string, answers int) (stored []string) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], name)
	cmd.Env = append(os.Environ(), childFile+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		id, ok := strings.CutPrefix(lines.Text(), "stored ")
		if !ok {
			t.Errorf("process %s: %s", name, lines.Text())
			break
		}
		stored = append(stored, id)
		if len(stored) == answers {
			_ = cmd.Process.Kill() // it continues until the signal arrives
		}
	}
	_ = cmd.Wait() // it was killed
	return stored
}

// TestFilesArePrivate checks that other users cannot read the stored data.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no permission bits here")
	}
	dir := filepath.Join(t.TempDir(), "a", "b ? # %")
	path := filepath.Join(dir, "umpire.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tally := storetest.Tally{Session: "s"}
	if tally.Work(t.Context(), s); tally.Acknowledged() != 2 {
		t.Fatalf("%d of 2 transactions were stored", tally.Acknowledged())
	}
	for name, want := range map[string]os.FileMode{
		filepath.Dir(dir): 0o700 | os.ModeDir, dir: 0o700 | os.ModeDir, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
		} else if got := info.Mode() & (os.ModePerm | os.ModeDir); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
