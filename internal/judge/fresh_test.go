package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/policy"
)

// overwrites are lines that write T, a path in a temporary folder.
var overwrites = strings.Split(
	"echo x > T | echo x >> T | ls > T | cp README.md T | touch T | sed -i s/a/b/ T | cat README.md > T",
	" | ")

// Writes in temporary folders run unasked if they reach new files or files that the session made.
func TestTemporaryFiles(t *testing.T) {
	t.Parallel()
	find, root := effectsJudge(t, policy.Settings{Autonomy: policy.AutonomyHigh.Autonomy()})
	j, err := find()
	if err != nil {
		t.Fatal(err)
	}
	ledger := sandbox.ScratchLedger{Dir: t.TempDir(), Now: time.Now}
	j.Made = ledger.Made
	if err := os.WriteFile(filepath.Join(root, "README.md"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "umpire-fresh-") //nolint:usetesting // it lies in /tmp itself
	if err != nil {
		t.Skipf("no /tmp: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	own, others := filepath.Join(dir, "own"), filepath.Join(dir, "others")
	decide := func(session umpire.SessionID, line string) umpire.Decision {
		return decideInSession(t, find, session, root, line, true)
	}
	if err := os.WriteFile(others, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, session := range []umpire.SessionID{"one", "two"} {
		for _, form := range overwrites {
			if line := strings.ReplaceAll(form, "T", filepath.Join(dir, "new")); !strings.Contains(line, "sed") {
				if d := decide(session, line); d.Verdict != umpire.Allow {
					t.Errorf("%s: %s %s", line, d.Verdict, d.Reason)
				}
			}
			line := strings.ReplaceAll(form, "T", others)
			if d := decide(session, line); d.Verdict != umpire.Ask || !policy.NeedsLook(&d) {
				t.Errorf("%s: %s %s", line, d.Verdict, d.Reason)
			}
		}
	}
	for line, want := range map[string]umpire.Verdict{
		"gofmt -w " + dir: umpire.Ask, "touch " + dir + "/*": umpire.Ask, "mkdir -p " + dir + "/a/b": umpire.Allow,
		"cp README.md " + dir: umpire.Allow, "mkdir " + dir + " && echo x > " + dir + "/a": umpire.Allow,
		"ln -s " + others + " " + dir + "/l; echo x > " + dir + "/l": umpire.Ask,
	} {
		if d := decide("one", line); d.Verdict != want {
			t.Errorf("%s: %s %s", line, d.Verdict, d.Reason)
		}
	}

	d := decide("one", "echo x > "+own)
	claimed := WrittenOutside(&d)
	if len(claimed) != 1 || claimed[0] != own {
		t.Fatalf("claims %q", claimed)
	}
	if err := ledger.Claim("one", claimed); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !ledger.Made("one", own) {
		t.Skip("the system does not tell when a file came into being")
	}
	for _, form := range overwrites {
		line := strings.ReplaceAll(form, "T", own)
		if d := decide("one", line); d.Verdict != umpire.Allow {
			t.Errorf("the session's own file: %s: %s %s", line, d.Verdict, d.Reason)
		}
		if d := decide("two", line); d.Verdict != umpire.Ask {
			t.Errorf("another session's file: %s: %s", line, d.Verdict)
		}
	}
}
