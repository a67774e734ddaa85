package tool

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestLinksThatWereDecidedAreFollowed, and only those: the target of a link is part of
// the decision.
func TestLinksThatWereDecidedAreFollowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("real/a", "a\n")
	b.link("real", "linked")
	b.link("real/a", "alias")
	for _, path := range []string{"linked/a", "alias", "real/../linked/a"} {
		if got := b.ok("Read", fields{"file_path": path}); got != "     1\ta\n" {
			t.Errorf("%s: read %q", path, got)
		}
	}
	b.ok("Write", fields{"file_path": "alias", "content": "b\n"})
	if info, err := os.Lstat(b.path("alias")); err != nil || info.Mode()&os.ModeSymlink == 0 || b.content("real/a") != "b\n" {
		t.Errorf("the link is %v, %v; the file holds %q", info, err, b.content("real/a"))
	}
	b.link(filepath.Join(b.outside, "x"), "away")
	b.ok("Write", fields{"file_path": "away", "content": "x"})
	if got := b.content(filepath.Join(b.outside, "x")); got != "x" {
		t.Errorf("where the link led there is %q", got)
	}
}

// TestLinksPutThereSinceAreNot: between the decision and the tool, the path is made
// to lead elsewhere.
func TestLinksPutThereSinceAreNot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		swap func(b *bench, secret string)
	}{
		{"the file becomes a link", func(b *bench, secret string) {
			must(b.t, os.Remove(b.path("dir/f")))
			b.link(secret, "dir/f")
		}},
		{"its folder becomes a link", func(b *bench, secret string) {
			must(b.t, os.RemoveAll(b.path("dir")))
			b.link(filepath.Dir(secret), "dir")
		}},
		{"a folder above becomes a link", func(b *bench, secret string) {
			must(b.t, os.RemoveAll(b.path("dir")))
			b.link(filepath.Dir(filepath.Dir(secret)), "dir")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, tool := range []string{"Read", "Write", "Edit", "Grep", "LS", "Glob"} {
				b := newBench(t)
				secret := b.file(filepath.Join(b.outside, "sub", "f"), "secret\n")
				path := "dir/f"
				if strings.Contains(tt.name, "above") {
					path = "dir/sub/f"
				}
				b.file(path, "open\n")
				b.file("dir/f", "open\n")
				if tool == "LS" || tool == "Glob" {
					if path = filepath.Dir(path); strings.Contains(tt.name, "the file") {
						continue // a folder is not a file
					}
				}
				started := b.start(tool, fields{"path": path, "content": "x", "old_string": "secret", "new_string": "x", "pattern": "**secret*"})
				if tool == "Grep" {
					started.Call.Input = []byte(`{"path":"` + path + `","pattern":"secret","output_mode":"content"}`)
				}
				tt.swap(b, secret)
				r := b.Run(t.Context(), started)
				if r.Status != umpire.ResultError && !strings.HasPrefix(r.Output, "[no match]") || strings.Contains(r.Output, "secret") {
					t.Errorf("%s: %s %q", tool, r.Status, r.Output)
				}
				if got := b.content(secret); got != "secret\n" {
					t.Errorf("%s: the file outside holds %q", tool, got)
				}
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoSwapEscapes: another process keeps swapping a folder or a file for a link within
// the project. A tool always reads the decided file, or nothing.
func TestNoSwapEscapes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ real, link, to, secret string }{
		"a folder": {"dir", "link", "other", "other/f"},
		"a file":   {"dir/f", "dir/link", "g", "dir/g"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.file(tt.secret, "secret\n")
			b.file("dir/f", "open\n")
			b.link(tt.to, tt.link)
			reading := b.start("Read", fields{"file_path": "dir/f"})
			writing := b.start("Write", fields{"file_path": "dir/f", "content": "open\n"})
			stop := b.swap(b.path(tt.real), b.path(tt.link))
			read, refused := 0, 0
			for i := range 20_000 {
				started := reading
				if i%400 == 0 {
					started = writing
				}
				r := b.Run(t.Context(), started)
				if strings.Contains(r.Output, "secret\n") {
					t.Fatalf("escaped at %d: %q", i, r.Output)
				}
				if r.Status == umpire.ResultOK {
					read++
				} else {
					refused++
				}
			}
			if n := stop(); read == 0 || refused == 0 || n == 0 {
				t.Errorf("%d went well, %d were refused, %d swaps: nothing was tried", read, refused, n)
			}
			if got := b.content(tt.secret); got != "secret\n" {
				t.Errorf("the secret is %q now", got)
			}
			noTemporaries(t, b.root)
		})
	}
}

// swap keeps replacing something with a link and restoring it until stop is called,
// which returns how often it did.
func (b *bench) swap(file, link string) (stop func() int) {
	began, done, swapped := make(chan struct{}), make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-done:
				swapped <- n
				return
			default:
			}
			n++
			exchange(file, link)
			if n == 1 {
				close(began)
			}
		}
	}()
	<-began
	return func() int {
		close(done)
		n := <-swapped
		if n%2 == 1 {
			exchange(file, link)
		}
		return n
	}
}

// TestDecisionWithoutDestinations: a decision from the wire does not have the targets
// of links. Plain paths work, and no link is followed on a guess.
func TestDecisionWithoutDestinations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("dir/a", "a\n")
	b.link("dir", "linked")
	run := func(tool string, in fields) umpire.Result {
		started := b.start(tool, in)
		for i := range started.Decision.Accesses {
			started.Decision.Accesses[i].Resolved = ""
		}
		return b.Run(t.Context(), started)
	}
	for _, path := range []string{"dir/a", "./dir/../dir/a", filepath.Join(b.root, "dir", "a")} {
		if r := run("Read", fields{"file_path": path}); r.Output != "     1\ta\n" {
			t.Errorf("%s: %s %q", path, r.Status, r.Output)
		}
	}
	if r := run("Write", fields{"file_path": "new/b", "content": "b"}); r.Status != umpire.ResultOK || b.content("new/b") != "b" {
		t.Errorf("a new file: %+v", r)
	}
	for _, path := range []string{"linked/a", "linked/../dir/a", "linked/new"} {
		r := run("Write", fields{"file_path": path, "content": "x"})
		if r.Status != umpire.ResultError || !strings.Contains(r.Output, "leads through a link") || b.content("dir/a") != "a\n" {
			t.Errorf("%s: %s %q", path, r.Status, r.Output)
		}
	}
}

// TestSpecialFiles: the tools never read, write or wait for special files.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if !makePipe(t, b.path("pipe")) {
		return
	}
	for tool, in := range map[string]fields{
		"Read": {"file_path": "pipe"}, "Write": {"file_path": "pipe", "content": "x"},
		"Edit":                   {"file_path": "pipe", "old_string": "a", "new_string": "b"},
		"filesystem-edit":        {"filePath": "pipe", "startLine": 1, "endLine": 1, "newContent": "b"},
		"filesystem-edit_search": {"filePath": "pipe", "searchContent": "a", "replaceContent": "b"},
	} {
		b.fails(tool, in, "is not a regular file")
	}
	b.fails("Read", fields{"file_path": "/dev/null"}, "is not a regular file")
	if got := b.ok("Grep", fields{"pattern": "x"}); got != "[no match]\n" {
		t.Errorf("grep: %q", got)
	}
}

func TestPlainNamesThePathOnce(t *testing.T) {
	t.Parallel()
	err := namePathOnce("/a/b", &os.PathError{Op: "openat", Path: "b", Err: os.ErrNotExist})
	if err.Error() != "/a/b: file does not exist" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestAnchors: the deepest folder of the session that holds a path.
func TestAnchors(t *testing.T) {
	t.Parallel()
	s := New(Options{Root: "/p", AddDirs: []string{"/p/sub", "/q"}})
	for path, want := range map[string][2]string{
		"/p": {"/p", ""}, "/p/a/b": {"/p", "a/b"}, "/p/sub/a": {"/p/sub", "a"}, "/pa": {"/", "pa"}, "/q/x": {"/q", "x"}, "/": {"/", ""},
	} {
		if base, rest := s.options.anchor(path); base != want[0] || rest != want[1] {
			t.Errorf("%s: %q %q, want %q", path, base, rest, want)
		}
	}
	if data, err := json.Marshal(s.Names()); err != nil || len(data) == 0 {
		t.Error(err)
	}
}

// A path of another system is rejected by its form.
func TestWindowsPaths(t *testing.T) {
	t.Parallel()
	if filepath.Separator != '/' {
		t.Skip("these paths can be reached here")
	}
	b := newBench(t)
	for _, path := range []string{`C:\x\a.md`, `c:/x/a.md`, `\\server\share\a.md`} {
		b.fails("Write", fields{"file_path": path, "content": "x"}, "this is a Windows path")
		b.fails("filesystem-edit", fields{"filePath": path, "startLine": 1, "endLine": 1, "newContent": "x"}, "this is a Windows path")
	}
}
