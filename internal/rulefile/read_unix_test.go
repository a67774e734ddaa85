//go:build unix

package rulefile

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// Any special file in place of a rule file ends reading at once, and the file is
// degraded.
func TestLoadSpecialFiles(t *testing.T) {
	t.Parallel()
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]func(t *testing.T, path string){
		"pipe":   func(t *testing.T, path string) { must(t, unix.Mkfifo(path, 0o600)) },
		"folder": func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) },
		"device": func(t *testing.T, path string) { must(t, os.Symlink("/dev/zero", path)) },
		"loop":   func(t *testing.T, path string) { must(t, os.Symlink(path, path)) },
		"dangling link": func(t *testing.T, path string) {
			must(t, os.Symlink(path+".none", path))
		},
		"link to a pipe": func(t *testing.T, path string) {
			must(t, unix.Mkfifo(path+".pipe", 0o600))
			must(t, os.Symlink(path+".pipe", path))
		},
	}
	for name, build := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := Layer{Source: umpire.SourceUser, Path: filepath.Join(t.TempDir(), fileName)}
			build(t, l.Path)
			set := Load([]Layer{l}, nil, testOptions())
			if set.Degraded == "" || set.Files[0].Health != HealthDegraded || len(set.Files[0].Problems) != 1 {
				t.Errorf("set %+v", set)
			}
		})
	}
	t.Run("link to a file", func(t *testing.T) {
		t.Parallel()
		target := userLayer(t, rulesFile(allowTests))
		l := Layer{Source: umpire.SourceUser, Path: filepath.Join(t.TempDir(), fileName)}
		must(t, os.Symlink(target.Path, l.Path))
		if set := Load([]Layer{l}, nil, testOptions()); len(set.Rules) != 1 {
			t.Errorf("set %+v", set)
		}
	})
	t.Run("a file where the folder should be", func(t *testing.T) {
		t.Parallel()
		file := userLayer(t, "")
		l := Layer{Source: umpire.SourceUser, Path: filepath.Join(file.Path, fileName)}
		if set := Load([]Layer{l}, nil, testOptions()); set.Files[0].Health != HealthMissing {
			t.Errorf("set %+v", set)
		}
	})
}

// A lock that is a link to something else is not followed.
func TestLockRefusesLinks(t *testing.T) {
	t.Parallel()
	l := userLayer(t, emptyFile)
	if err := os.Symlink(filepath.Join(t.TempDir(), "made"), l.Path+".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := (Writer{Check: testCheck}).Add(l, npm("test")); err == nil {
		t.Error("added with a link for a lock")
	}
}
