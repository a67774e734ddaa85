package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A search with a cache finds the same as one without, regardless of changes in the
// folders, and even if their times are set back.
func TestSecretsAreRememberedWithTheirFolders(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(plainDir(t))
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "p")
	remembering := &Place{Workspace: []string{root}, State: filepath.Join(base, "s")}
	plain := &Place{Workspace: []string{root}}
	find := func(p *Place) []string {
		found := p.secretsInside(secretsKnown())
		slices.Sort(found)
		return found
	}
	r := rand.New(rand.NewPCG(1, 2))
	folder := func() string { return filepath.Join(root, fmt.Sprint(r.IntN(3)), fmt.Sprint(r.IntN(3))) }
	for _, dir := range []int{0, 1, 2} {
		for _, inner := range []int{0, 1, 2} {
			if err := os.MkdirAll(filepath.Join(root, fmt.Sprint(dir), fmt.Sprint(inner)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for round := range 6 {
		time.Sleep(clockTolerance + 50*time.Millisecond) // until it may be cached
		find(remembering)
		search := remembering.newSecretSearch(secretsKnown(), []string{root})
		if round == 0 && len(search.known) < 12 {
			t.Skipf("%s is on a file system whose times say nothing", root) // or the test proves nothing
		}
		for range 4 {
			dir := folder()
			switch r.IntN(4) {
			case 0:
				_ = os.WriteFile(filepath.Join(dir, []string{".env", "server.key", "x"}[r.IntN(3)]), nil, 0o600) // it may have been moved
			case 1:
				_ = os.Remove(filepath.Join(dir, ".env")) // it may be missing
			case 2:
				_ = os.Rename(dir, folder()) // as before
			case 3:
				_ = os.MkdirAll(dir, 0o755)
			}
			_ = os.Chtimes(dir, time.Unix(1, 0), time.Unix(1, 0)) // as before
		}
		if got, want := find(remembering), find(plain); !slices.Equal(got, want) {
			t.Fatalf("round %d: remembered %q, there are %q", round, got, want)
		}
	}
}

// Old cached looks are deleted when a new one is stored.
func TestOldLooksAreForgotten(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	looks := filepath.Join(state, "state", "looks")
	if err := os.MkdirAll(looks, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old": maxLookAge + time.Hour, "young": time.Hour} {
		path, at := filepath.Join(looks, name), time.Now().Add(-age)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	search := &secretSearch{file: filepath.Join(looks, "new"), fresh: true}
	search.save()
	for name, want := range map[string]bool{"old": false, "young": true, "new": true} {
		if _, err := os.Stat(filepath.Join(looks, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
