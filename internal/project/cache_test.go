package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tests in this file empty or replace PATH, so they do not run in parallel.

func TestCacheStartsNoProcess(t *testing.T) {
	tmp := tempDir(t)
	dir, cache := filepath.Join(tmp, "repo"), filepath.Join(tmp, "state", "cache")
	root := newRepo(t, dir, "one")
	tree := filepath.Join(tmp, "tree")
	gitIn(t, dir, "worktree", "add", "-q", "-b", "side", tree)
	commit(t, tree, "side")
	open(t, dir, Options{Cache: cache})
	open(t, tree, Options{Cache: cache})

	t.Setenv("PATH", "")
	for range 2 { // both heads stay known: worktrees do not displace each other
		for _, at := range []string{dir, tree} {
			if p := open(t, at, Options{Cache: cache}); string(p.ID) != root {
				t.Errorf("%q: id %s, want %s, notes %q", at, p.ID, root, p.Notes)
			}
		}
	}
	p := open(t, dir, Options{})
	if p.ID != pathID(dir) || !hasNote(p, "identity from path") {
		t.Errorf("without cache and git: id %s, notes %q", p.ID, p.Notes)
	}
}

func TestCacheFile(t *testing.T) {
	dir, cache := tempDir(t), filepath.Join(tempDir(t), "cache")
	root := newRepo(t, dir, "one")
	open(t, dir, Options{Cache: cache})
	common := filepath.Join(dir, ".git")
	name := cacheFile(cache, common)

	t.Run("is private", func(t *testing.T) {
		for path, want := range map[string]os.FileMode{cache: 0o700, name: 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%q: %v, %v; want mode %v", path, info.Mode(), err, want)
			}
		}
		if names, _ := os.ReadDir(cache); len(names) != 1 {
			t.Errorf("cache holds %v, want one file", names)
		}
	})
	broken := map[string]string{
		"not JSON":         "{",
		"empty":            "",
		"other repository": `{"git_dir":"/x","heads":[{"head":"` + root + `","project_id":"` + root + `"}]}`,
		"no id":            `{"git_dir":"` + common + `","heads":[{"head":"` + root + `"}]}`,
		"id that is none":  `{"git_dir":"` + common + `","heads":[{"head":"` + root + `","project_id":"../../x"}]}`,
		"huge":             strings.Repeat(" ", maxCacheFile+1),
	}
	for what, text := range broken {
		t.Run(what+" is ignored", func(t *testing.T) {
			write(t, name, text)
			if p := open(t, dir, Options{Cache: cache}); string(p.ID) != root {
				t.Errorf("id %s, want %s", p.ID, root)
			}
		})
	}
	t.Run("that cannot be written is no error", func(t *testing.T) {
		if p := open(t, dir, Options{Cache: filepath.Join(dir, ".git", "HEAD")}); string(p.ID) != root || len(p.Notes) > 0 {
			t.Errorf("id %s notes %q", p.ID, p.Notes)
		}
	})
}

// TestOnlyNewHistoryIsWalked removes the first commit, so a full walk fails, and still
// expects the identity.
func TestOnlyNewHistoryIsWalked(t *testing.T) {
	tmp := tempDir(t)
	dir, cache := filepath.Join(tmp, "repo"), filepath.Join(tmp, "cache")
	root := newRepo(t, dir, "one")
	for range 20 {
		commit(t, dir, "more")
	}
	open(t, dir, Options{Cache: cache})
	if err := os.Remove(filepath.Join(dir, ".git", "objects", root[:2], root[2:])); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "branch", "fork", "HEAD~3")
	commit(t, dir, "new")
	if p := open(t, dir, Options{}); p.ID != pathID(dir) {
		t.Fatalf("a full walk still works: id %s", p.ID)
	}
	if p := open(t, dir, Options{Cache: cache}); string(p.ID) != root {
		t.Errorf("successor: id %s, want %s, notes %q", p.ID, root, p.Notes)
	}
	gitIn(t, dir, "symbolic-ref", "HEAD", "refs/heads/fork")
	commit(t, dir, "on the fork")
	if p := open(t, dir, Options{Cache: cache}); string(p.ID) != root {
		t.Errorf("fork: id %s, want %s, notes %q", p.ID, root, p.Notes)
	}
}

// TestExtendedEqualsWalked compares the identity extended commit by commit with that of a
// full walk, over merges and unrelated branches.
func TestExtendedEqualsWalked(t *testing.T) {
	tmp := tempDir(t)
	dir, cache := filepath.Join(tmp, "repo"), filepath.Join(tmp, "cache")
	newRepo(t, dir, "one")
	steps := [][]string{
		{"checkout", "-q", "-b", "a"},
		{"commit", "-q", "--allow-empty", "-m", "a"},
		{"checkout", "-q", "--orphan", "other"},
		{"commit", "-q", "--allow-empty", "-m", "other"},
		{"checkout", "-q", "main"},
		{"merge", "-q", "--allow-unrelated-histories", "-m", "merge", "other"},
		{"checkout", "-q", "a"}, // reached only one root, and is behind a head with two
		{"commit", "-q", "--allow-empty", "-m", "a2"},
		{"checkout", "-q", "other"},
		{"checkout", "-q", "main"},
		{"commit", "-q", "--allow-empty", "-m", "last"},
	}
	for _, step := range steps {
		gitIn(t, dir, step...)
		want, got := open(t, dir, Options{}), open(t, dir, Options{Cache: cache})
		if got.ID != want.ID || got.ID == "" {
			t.Errorf("after %q: id %s, want %s", step, got.ID, want.ID)
		}
	}
}

func TestFailureIsRemembered(t *testing.T) {
	tmp := tempDir(t)
	dir, cache, bin := filepath.Join(tmp, "repo"), filepath.Join(tmp, "cache"), filepath.Join(tmp, "bin")
	newRepo(t, dir, "one")
	calls := filepath.Join(tmp, "calls")
	write(t, filepath.Join(bin, "git"), "#!/bin/sh\necho call >>"+calls+"\necho 'fatal: detected dubious ownership' >&2\nexit 128\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	for range 3 {
		p := open(t, dir, Options{Cache: cache})
		if p.ID != pathID(dir) || !hasNote(p, "dubious ownership") {
			t.Errorf("id %s notes %q", p.ID, p.Notes)
		}
	}
	if data, _ := os.ReadFile(calls); string(data) != "call\n" {
		t.Errorf("git was called %d times, want once", strings.Count(string(data), "call"))
	}

	t.Run("and tried again later", func(t *testing.T) {
		m := recallMemory(cache, filepath.Join(dir, ".git"))
		m.Heads[0].At -= 3600
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		write(t, cacheFile(cache, m.GitDir), string(data))
		open(t, dir, Options{Cache: cache})
		if data, _ := os.ReadFile(calls); string(data) != "call\ncall\n" {
			t.Errorf("git was called %d times, want twice", strings.Count(string(data), "call"))
		}
	})
}

func TestGitOfTheProjectIsNotRun(t *testing.T) {
	dir := tempDir(t)
	newRepo(t, dir, "one")
	ran := filepath.Join(tempDir(t), "ran")
	bin := filepath.Join(dir, "node_modules", ".bin")
	write(t, filepath.Join(bin, "git"), "#!/bin/sh\n: >"+ran+"\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	p := open(t, dir, Options{})
	if _, err := os.Stat(ran); err == nil || p.ID != pathID(dir) || !hasNote(p, "is not run") {
		t.Errorf("ran: %v, id %s, notes %q", err == nil, p.ID, p.Notes)
	}
}

func TestForeignEnvironment(t *testing.T) {
	tmp := tempDir(t)
	a, b := filepath.Join(tmp, "a"), filepath.Join(tmp, "b")
	root := newRepo(t, a, "a")
	newRepo(t, b, "b")
	t.Setenv("GIT_DIR", filepath.Join(b, ".git"))
	t.Setenv("GIT_WORK_TREE", b)
	if p := open(t, a, Options{}); string(p.ID) != root {
		t.Errorf("id %s, want %s, notes %q", p.ID, root, p.Notes)
	}
}
