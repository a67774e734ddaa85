//go:build linux

package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// write makes files below a folder, by path and content.
func write(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns the files below a folder, by path and content.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+"/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFilesOfTrials(t *testing.T) {
	t.Parallel()
	own, trial := t.TempDir(), t.TempDir()
	write(t, own, map[string]string{"log": "old", "same": "as it was", "theirs": "theirs", "dir/there": "there"})
	folder := sandbox.TemporaryFolder{
		Path:  own,
		Named: []string{"/tmp/log", "/tmp/same", "/tmp/new", "/tmp/dir/new", "/tmp/deep/er/new", "/var/tmp/other"},
	}
	rest, err := folder.Lend(trial, []string{"/srv/data", "/tmp/log", "/tmp/theirs"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/srv/data", "/tmp/theirs"}, rest); diff != "" {
		t.Errorf("paths to show (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"log": "old", "same": "as it was"}, read(t, trial)); diff != "" {
		t.Errorf("lent (-want +got):\n%s", diff)
	}
	write(t, trial, map[string]string{
		"log": "newer", "theirs": "mine", "new": "new", "dir/new": "new", "dir/unnamed": "x", "deep/er/new": "new",
		"unnamed": "y", ".hidden": "z", "cache/code.js": "evil", "tmp.x1/y": "by mktemp", "other": "not there",
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(trial, "link")); err != nil {
		t.Fatal(err)
	}
	if err := folder.Adopt(trial); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"log": "newer", "same": "as it was", "theirs": "theirs", "new": "new", "unnamed": "y", "other": "not there",
		"dir/there": "there", "dir/new": "new", "dir/unnamed": "x", "deep/er/new": "new", "tmp.x1/y": "by mktemp",
	}
	if diff := cmp.Diff(want, read(t, own)); diff != "" {
		t.Errorf("adopted (-want +got):\n%s", diff)
	}
}

func TestFilesOfTrialsThroughLinks(t *testing.T) {
	t.Parallel()
	own, trial, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(own, "dir")); err != nil {
		t.Fatal(err)
	}
	write(t, trial, map[string]string{"dir/new": "x"})
	folder := sandbox.TemporaryFolder{Path: own, Named: []string{"/tmp/dir/new"}}
	_ = folder.Adopt(trial) // it may fail
	if got := read(t, elsewhere); len(got) > 0 {
		t.Errorf("a link led out of the folder: %v", got)
	}
}

func TestFilesOfTrialsWithoutFolders(t *testing.T) {
	t.Parallel()
	for name, folder := range map[string]sandbox.TemporaryFolder{
		"none": {}, "missing": {Path: filepath.Join(t.TempDir(), "gone"), Named: []string{"/tmp/a"}},
	} {
		trial := t.TempDir()
		write(t, trial, map[string]string{"a": "x"})
		if rest, err := folder.Lend(trial, []string{"/tmp/a"}); err != nil || len(rest) != 1 {
			t.Errorf("%s: lend: %v, %v", name, rest, err)
		}
		if err := folder.Adopt(trial); err != nil {
			t.Errorf("%s: adopt: %v", name, err)
		}
	}
}
