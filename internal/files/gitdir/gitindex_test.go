package gitdir

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Commands in a repository run the programs that a submodule's settings name, even if the
// submodule has its git directory in the work tree. Only the index lists such a submodule.
func TestSubmodulesInTheWorkTreeAreFound(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]string{
		"version 2": {"-c", "index.version=2"}, "version 4": {"-c", "index.version=4"},
		"split": {"-c", "core.splitIndex=true", "-c", "splitIndex.maxPercentChange=100"},
	} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				dir, err := files.Canonical(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				mustGit(t, dir, "init", "-q", "--object-format="+format)
				for i := range 40 {
					put(t, filepath.Join(dir, strings.Repeat(fmt.Sprint("a", i), i+1)), "")
				}
				put(t, filepath.Join(dir, "later"), "")
				mustGit(t, dir, append(slices.Clone(options), "add", ".")...)
				mustGit(t, dir, append(slices.Clone(options), "add", "-N", "later")...)
				inner := filepath.Join(dir, "deep", "inner")
				repository(t, inner, format)
				innermost := filepath.Join(inner, "sub")
				repository(t, innermost, format)
				mustGit(t, inner, "add", "sub")
				mustGit(t, dir, append(slices.Clone(options), "add", "deep/inner")...)
				mustGit(t, innermost, "config", "core.fsmonitor", "./x")
				if got, err := ReadSettings(dir, "/home/ann"); err != nil || !slices.ContainsFunc(got, func(s umpire.GitSetting) bool { return s.Key == "core.fsmonitor" && s.Value == "./x" }) {
					t.Errorf("%+v, %v", got, err)
				}
				says, err := gitSays(t, dir, "ls-files", "-s")
				if err != nil || !strings.Contains(says, "160000") {
					t.Fatalf("%s, %v", says, err)
				}
			})
		}
	}
}

func repository(t *testing.T, dir, format string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mustGit(t, dir, "init", "-q", "--object-format="+format)
	mustGit(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x")
}

// An unreadable index may contain anything.
func TestBrokenIndexIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustGit(t, dir, "init", "-q")
	put(t, filepath.Join(dir, "a"), "")
	mustGit(t, dir, "add", "a")
	index := filepath.Join(dir, ".git", "index")
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"another file": "index", "cut off": string(whole[:40]), "more entries than there are": string(whole[:11]) + "\xff" + string(whole[12:]), "version 9": string(whole[:7]) + "\x09" + string(whole[8:])} {
		put(t, index, text)
		if _, err := ReadSettings(dir, ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"+strings.Repeat("\x00", 100)), false)
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02"+strings.Repeat("\x00\x80", 100)), true)
	f.Fuzz(func(t *testing.T, data []byte, long bool) {
		size := sha1Size
		if long {
			size = sha256Size
		}
		links := map[string]bool{}
		_, err := parseIndex(bytes.NewReader(data), size, func(e indexed) {
			if e.mode&^0o7777 == modeGitlink {
				links[string(e.name)] = true
			}
		})
		if err == nil && len(links) > len(data)/entryFixed {
			t.Errorf("%d links in %d bytes", len(links), len(data))
		}
	})
}
