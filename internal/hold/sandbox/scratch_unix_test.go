//go:build linux || darwin

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSweepScratch checks that only the folders of dead processes are deleted.
func TestSweepScratch(t *testing.T) {
	t.Parallel()
	parent, elsewhere := t.TempDir(), t.TempDir()
	made := func() (string, func()) {
		t.Helper()
		dir, release, err := MakeScratch(parent)
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, "tmp/sub"), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "tmp/secret"), []byte("x"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir, release
	}
	alive, release := made()
	defer release()
	dead, killed := made()
	if err := os.Symlink(elsewhere, filepath.Join(dead, "tmp/link")); err != nil {
		t.Fatal(err)
	}
	killed()                                             // as if the process had been killed
	unmarked := filepath.Join(parent, scratchPrefix+"1") // being created, or another program's
	linked, open := filepath.Join(parent, scratchPrefix+"2"), filepath.Join(parent, scratchPrefix+"3")
	kept := filepath.Join(elsewhere, "kept")
	for _, err := range []error{
		os.Mkdir(unmarked, 0o700), os.Symlink(elsewhere, linked), os.WriteFile(kept, nil, 0o600),
		os.WriteFile(filepath.Join(elsewhere, scratchLock), nil, 0o600), os.Mkdir(open, 0o700),
		os.WriteFile(filepath.Join(open, scratchLock), nil, 0o600), os.Chmod(open, 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	SweepScratch(parent)
	if isPresent(dead) {
		t.Error("what a dead run has left is still there")
	}
	for _, path := range []string{alive, filepath.Join(alive, "tmp/secret"), unmarked, linked, open, kept} {
		if !isPresent(path) {
			t.Errorf("%s was deleted", path)
		}
	}
}
