package place

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const (
	outside  = umpire.PlaceOutside
	in       = umpire.PlaceInside
	noHarm   = umpire.PlaceHarmless
	read     = umpire.KindRead
	writing  = umpire.KindWrite
	deleting = umpire.KindDelete
)

// world creates a project with links that lead everywhere: /p is the project, /q lies outside,
// /added was added and /scratch is the caller's own.
func world(t testing.TB) (string, *Bounds) {
	t.Helper()
	w := tempDir(t)
	at := func(name string) string { return filepath.Join(w, name) }
	write(t, at("p/go.mod"), "module p")
	write(t, at("p/src/a.go"), "package a")
	write(t, at("p/src/deep/b.go"), "package b")
	write(t, at("q/x"), "secret")
	write(t, at("q/dir/y"), "secret")
	write(t, at("pq/x"), "a neighbour whose name begins like ours")
	mkdir(t, at("added"), at("scratch"))
	link(t, "../q/x", at("p/rel"))
	link(t, at("q/x"), at("p/abs"))
	link(t, "rel", at("p/chain"))
	link(t, "src", at("p/inner"))
	link(t, "../q/dir", at("p/out"))
	link(t, "loop2", at("p/loop1"))
	link(t, "loop1", at("p/loop2"))
	link(t, "../q/none/at/all", at("p/dangling"))
	link(t, "src/none", at("p/dangling-in"))
	link(t, "/dev/null", at("p/null"))
	link(t, "/proc/self/root"+at("p/src"), at("p/process"))
	link(t, at("p"), at("alias"))
	link(t, at("p/src"), at("q/back"))
	return w, open(t, at("p/src"), Options{Added: []string{at("added")}, Scratch: []string{at("scratch")}})
}

func TestResolve(t *testing.T) {
	t.Parallel()
	w, p := world(t)
	cases := []struct {
		name     string
		kind     umpire.AccessKind
		target   string // W stands for the world's folder
		place    umpire.Place
		resolved string
	}{
		{"inside", read, "W/p/src/a.go", in, "W/p/src/a.go"},
		{"the root", read, "W/p", in, "W/p"},
		{"the root with a slash", read, "W/p/", in, "W/p"},
		{"not there yet", writing, "W/p/new/dir/f", in, "W/p/new/dir/f"},
		{"below a file", writing, "W/p/go.mod/x", in, "W/p/go.mod/x"},
		{"relative", read, "a.go", in, "W/p/src/a.go"},
		{"A-19 read without a path", read, "", in, "W/p/src"},
		{"relative, out", read, "../../q/x", outside, "W/q/x"},
		{"N-103 N09 boundary_external_directory_detected", read, "W/q/x", outside, "W/q/x"},
		{"N-38 segments, not prefixes", read, "W/pq/x", outside, "W/pq/x"},
		{"N10 dots", read, "W/p/../q/x", outside, "W/q/x"},
		{"N10 dots and back", read, "W/p/../p/src", in, "W/p/src"},
		{"X-36 relative link out", read, "W/p/rel", outside, "W/q/x"},
		{"X-36 absolute link out", writing, "W/p/abs", outside, "W/q/x"},
		{"X-36 chain of links out", writing, "W/p/chain", outside, "W/q/x"},
		{"X-36 through a linked folder", writing, "W/p/out/new", outside, "W/q/dir/new"},
		{"X-36 dangling link out", writing, "W/p/dangling", outside, "W/q/none/at/all"},
		{"dangling link in", writing, "W/p/dangling-in", in, "W/p/src/none"},
		{"link within", read, "W/p/inner/a.go", in, "W/p/src/a.go"},
		{"dots after a link mean its target's parent", read, "W/p/out/../x", outside, "W/q/x"},
		{"dots after a link within", read, "W/p/inner/../go.mod", in, "W/p/go.mod"},
		{"both forms must be inside", read, "W/q/back/a.go", outside, "W/p/src/a.go"},
		{"link to the null device", writing, "W/p/null", in, "/dev/null"},
		{"another spelling of the root", read, "W/alias/src/a.go", outside, "W/p/src/a.go"},
		{"C-65 C12 added", writing, "W/added/x", in, "W/added/x"},
		{"A-21 scratch", writing, "W/scratch/x", in, "W/scratch/x"},
		{"A-21 other temporary files", writing, "W/x", outside, "W/x"},
		{"deleting a link removes the link", deleting, "W/p/out", in, "W/p/out"},
		{"deleting through a link", deleting, "W/p/out/y", outside, "W/q/dir/y"},
		{"deleting with a slash", deleting, "W/p/out/", outside, "W/q/dir"},
		{"deleting with a dot", deleting, "W/p/out/.", outside, "W/q/dir"},
		{"deleting a loop", deleting, "W/p/loop1", in, "W/p/loop1"},
		{"null", writing, "/dev/null", noHarm, "/dev/null"},
		{"null cannot be deleted", deleting, "/dev/null", outside, "/dev/null"},
		{"zero is read", read, "/dev/zero", noHarm, "/dev/zero"},
		{"zero is not written", writing, "/dev/zero", outside, "/dev/zero"},
		{"the terminal is a person's", writing, "/dev/tty", outside, "/dev/tty"},
		{"what is typed", read, "/dev/tty", outside, "/dev/tty"},
		{"descriptor", writing, "/dev/fd/63", noHarm, "/dev/fd/63"},
		{"no descriptor", writing, "/dev/fd/../sda", outside, ""},
		{"a disk", writing, "/dev/sda", outside, "/dev/sda"},
		{"nothing after fd", read, "/dev/fd/", outside, ""},
		{"links of a process lead elsewhere for another", read, "W/p/process/a.go", outside, "W/p/src/a.go"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := umpire.Access{Kind: c.kind, Target: strings.ReplaceAll(c.target, "W", w)}
			p.Resolve(&a)
			if a.Place != c.place || a.Doubt != "" {
				t.Errorf("%v %q: place %v, doubt %q; want %v", c.kind, a.Target, a.Place, a.Doubt, c.place)
			}
			if want := strings.ReplaceAll(c.resolved, "W", w); want != "" && a.Resolved != want {
				t.Errorf("%v %q: resolved %q, want %q", c.kind, a.Target, a.Resolved, want)
			}
		})
	}
}

func TestResolveDoubt(t *testing.T) {
	t.Parallel()
	w, p := world(t)
	cases := []struct{ name, target, doubt string }{
		{"loop", w + "/p/loop1/x", "more than 40 links"},
		{"NUL", w + "/p/a\x00b", "NUL byte"},
		{"long", w + "/p" + strings.Repeat("/../p", 4096), "longer than 4096 bytes"},
		{"long name", w + "/p/" + strings.Repeat("x", 300), "name too long"},
		{"nothing to write", "", "no path"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := umpire.Access{Kind: writing, Target: c.target}
			p.Resolve(&a)
			if a.Place != outside || !strings.Contains(catalogue.English.Text(a.Doubt), c.doubt) {
				t.Errorf("place %v, doubt %q; want outside, %q", a.Place, a.Doubt, c.doubt)
			}
			a = umpire.Access{Kind: writing, Target: c.target, Doubt: "earlier"}
			if p.Resolve(&a); a.Doubt != "earlier" {
				t.Errorf("doubt %q replaced an earlier one", a.Doubt)
			}
		})
	}
	t.Run("other accesses stay as they are", func(t *testing.T) {
		t.Parallel()
		a := umpire.Access{Kind: umpire.KindNetwork, Target: "example.com"}
		if p.Resolve(&a); a.Resolved != "" || a.Place != umpire.PlaceUnknown {
			t.Errorf("resolved %q, place %v", a.Resolved, a.Place)
		}
	})
}

// TestSpelling: calls in a project opened through a link may use that link, and no other.
func TestSpelling(t *testing.T) {
	t.Parallel()
	w, _ := world(t)
	link(t, filepath.Join(w, "p"), filepath.Join(w, "other"))
	for _, dir := range []string{"alias", "alias/src", "alias/src/"} {
		p := open(t, w+"/"+dir, Options{})
		for target, want := range map[string]bool{
			"alias/go.mod": true, "p/go.mod": true, "alias/src/a.go": true,
			"other/go.mod": false, "alias/rel": false, "alias/../q/x": false,
		} {
			if got := p.Contains(w + "/" + target); got != want {
				t.Errorf("opened as %q: contains %q = %v, want %v", dir, target, got, want)
			}
		}
	}
	p := open(t, w+"/q", Options{Added: []string{"../alias", "../added"}, Root: w + "/q"})
	if !p.Contains(w+"/alias/go.mod") || !p.Contains(w+"/p/go.mod") || p.Contains(w+"/other/go.mod") {
		t.Errorf("added directories %q", p.Added)
	}
	if p := open(t, w+"/p", Options{Added: []string{"loop1", ""}}); len(p.Added) > 0 || len(p.Notes) != 2 {
		t.Errorf("added %q, notes %q", p.Added, p.Notes)
	}
}

func TestFoldCase(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(tempDir(t), "Case")
	mkdir(t, dir)
	if foldsCase("/") {
		t.Error("a path without letters folds")
	}
	_, err := os.Stat(strings.ToUpper(dir))
	if got := open(t, dir, Options{}).FoldCase; got != (err == nil) {
		t.Errorf("FoldCase = %v, and stat of the other spelling: %v", got, err)
	}
	for _, c := range []struct {
		base, path     string
		plain, folding bool
	}{
		{"/a/b", "/A/B/c", false, true},
		{"/a/b", "/a/b", true, true},
		{"/a/b", "/a/bc", false, false},
		{"/a/b", "/A/BC", false, false},
		{"/", "/x", true, true},
		{"", "/x", false, false},
	} {
		if files.WithinCase(c.base, c.path, false) != c.plain || files.WithinCase(c.base, c.path, true) != c.folding {
			t.Errorf("within(%q, %q) is not %v, folding %v", c.base, c.path, c.plain, c.folding)
		}
	}
}

// TestResolveMatchesSystem builds random trees with links and compares Resolve
// with the standard library, for paths that exist.
func TestResolveMatchesSystem(t *testing.T) {
	t.Parallel()
	base := tempDir(t)
	number := 0
	rapid.Check(t, func(rt *rapid.T) {
		number++
		top := filepath.Join(base, fmt.Sprint(number))
		root := filepath.Join(top, "p")
		mkdir(t, root)
		part := rapid.SampledFrom([]string{"a", "b", "c", "..", ".", "p", ""})
		name := rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(part, 1, 5).Draw(rt, "parts"), "/")
		})
		for range rapid.IntRange(0, 12).Draw(rt, "entries") {
			at := filepath.Join(root, filepath.FromSlash(filepath.Clean("/"+name.Draw(rt, "name"))))
			switch rapid.IntRange(0, 2).Draw(rt, "sort") {
			case 0:
				_ = os.MkdirAll(at, 0o755)
			case 1:
				_ = os.WriteFile(at, nil, 0o644)
			case 2:
				target := name.Draw(rt, "target")
				if rapid.Bool().Draw(rt, "absolute") {
					target = root + "/" + target
				}
				_ = os.Symlink(target, at)
			}
		}
		p := open(t, root, Options{Root: root})
		written := root + "/" + name.Draw(rt, "path")
		a := umpire.Access{Kind: read, Target: written}
		p.Resolve(&a)
		want, err := filepath.EvalSymlinks(written)
		if err == nil && a.Resolved != want {
			rt.Fatalf("%q: resolved %q, want %q", written, a.Resolved, want)
		}
		if a.Place == in && !files.Within(root, a.Resolved) {
			rt.Fatalf("%q: inside, and resolved to %q", written, a.Resolved)
		}
		if err == nil && a.Doubt == "" && files.Within(root, filepath.Clean(written)) && files.Within(root, a.Resolved) && a.Place != in {
			rt.Fatalf("%q: %v, and both forms are inside", written, a.Place)
		}
	})
}

func FuzzResolve(f *testing.F) {
	w, p := world(f)
	for _, seed := range []string{"a.go", "../rel", "../out/..", "/dev/fd/3", "../*", "**/[a-", "../{a,b}", ".*/..", "\x00", "../p/loop1/**"} {
		f.Add(seed, false, byte(0))
		f.Add(seed, true, byte(2))
	}
	f.Fuzz(func(t *testing.T, target string, glob bool, kind byte) {
		kinds := []umpire.AccessKind{read, writing, deleting}
		a := umpire.Access{Kind: kinds[int(kind)%len(kinds)], Target: target, Glob: glob}
		p.Resolve(&a)
		if a.Place == umpire.PlaceUnknown {
			t.Fatalf("%q has no place", target)
		}
		if a.Place == in && !glob && !files.Within(w, a.Resolved) && !isHarmless(a.Resolved, a.Kind) {
			t.Fatalf("%q is inside, and resolved to %q", target, a.Resolved)
		}
	})
}
