package place

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestGlobOfDashes: a pattern is in doubt exactly if it matches a file that a program may
// mistake for an option.
func TestGlobOfDashes(t *testing.T) {
	t.Parallel()
	w := tempDir(t)
	write(t, filepath.Join(w, "p/go.mod"), "module p")
	write(t, filepath.Join(w, "p/a/--output=x.txt"), "")
	write(t, filepath.Join(w, "p/b/a-b.txt"), "")
	p := open(t, filepath.Join(w, "p"), Options{})
	for target, doubtful := range map[string]bool{"p/a/*": true, "p/a/*.txt": true, "p/a/?*": true, "p/a/[!a]*": true, "p/a/*.go": false, "p/b/*": false, "p/*": false} {
		a := umpire.Access{Kind: umpire.KindRead, Target: filepath.Join(w, target), Glob: true}
		p.Resolve(&a)
		if (a.Doubt != "") != doubtful {
			t.Errorf("%s: doubt %q", target, a.Doubt)
		}
	}
}

func TestResolveGlob(t *testing.T) {
	t.Parallel()
	w := tempDir(t)
	at := func(name string) string { return filepath.Join(w, name) }
	write(t, at("p/go.mod"), "module p")
	write(t, at("p/plain/a.go"), "")
	write(t, at("p/plain/sub/b.go"), "")
	write(t, at("q/x"), "secret")
	link(t, "../../q", at("p/linked/out"))
	link(t, "../plain", at("p/linked2/within"))
	link(t, "../../q/x", at("p/hidden/.out"))
	link(t, "../../q/x", at("p/accent/é"))
	link(t, "../q", at("p/outdir"))
	p := open(t, at("p"), Options{})
	cases := []struct {
		name     string
		kind     umpire.AccessKind
		target   string
		place    umpire.Place
		resolved string
	}{
		{"files", read, "W/p/plain/*.go", in, "W/p/plain/*.go"},
		{"nothing matches", writing, "W/p/plain/*.new", in, "W/p/plain/*.new"},
		{"prefix outside", read, "W/q/*", outside, "W/q/*"},
		{"prefix through a link", read, "W/p/outdir/*", outside, "W/q/*"},
		{"prefix that is not there", read, "W/p/none/*/x", in, "W/p/none/*/x"},
		{"dots in the prefix", read, "W/p/../q/?", outside, "W/q/?"},
		{"dots after the pattern", read, "W/p/*/../../q/x", outside, "W/q/x"},
		{"a link among the matches", read, "W/p/linked/*", outside, "W/p/linked/*"},
		{"a link on the way", read, "W/p/linked/*/x", outside, ""},
		{"a link on the way, nothing there", read, "W/p/linked/*/none", in, ""},
		{"a link within", read, "W/p/linked2/*/a.go", in, ""},
		{"a link with a static name", read, "W/p/l*/out", outside, ""},
		{"deleting links", deleting, "W/p/linked/*", in, ""},
		{"deleting what links lead to", deleting, "W/p/linked/*/", outside, ""},
		{"hidden names need a dot", read, "W/p/hidden/*", in, ""},
		{"hidden names with a dot", read, "W/p/hidden/.*t", outside, ""},
		{"a dot may be the parent", read, "W/p/.*", outside, ""},
		{"the idiom against that", read, "W/p/plain/.[!.]*", in, ""},
		{"classes", read, "W/p/linked/[n-p]ut", outside, ""},
		{"negated classes", read, "W/p/linked/[!o]*", in, ""},
		{"broken classes match everything", read, "W/p/linked/[]o]*", outside, ""},
		{"named classes match everything", read, "W/p/linked/[[:digit:]]*", outside, ""},
		{"extended patterns match everything", read, "W/p/linked/@(zzz)", outside, ""},
		{"escapes", read, `W/p/linked/o\ut`, outside, ""},
		{"single bytes of a character", read, "W/p/accent/??", outside, ""},
		{"two stars", read, "W/p/plain/**/*.go", in, "W/p/plain/**/*.go"},
		{"two stars find links", read, "W/p/**/x", outside, ""},
		{"two stars at the end", read, "W/p/l*/**", outside, ""},
		{"harmless is no folder", writing, "/dev/nul*", outside, "/dev/nul*"},
		{"no pattern after all", read, "W/p/plain/a.go", in, "W/p/plain/a.go"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := umpire.Access{Kind: c.kind, Target: strings.ReplaceAll(c.target, "W", w), Glob: true}
			p.Resolve(&a)
			// A match outside may be anything, even a secret, and no rule sees its path.
			within := strings.HasPrefix(c.target, "W/p/") && !strings.HasPrefix(c.target, "W/p/..") && !strings.HasPrefix(c.target, "W/p/outdir")
			if doubtful := c.place == outside && within; a.Place != c.place || (a.Doubt != "") != doubtful {
				t.Errorf("%v %q: place %v, doubt %q; want %v, doubt: %v", c.kind, c.target, a.Place, a.Doubt, c.place, doubtful)
			}
			if want := strings.ReplaceAll(c.resolved, "W", w); want != "" && a.Resolved != want {
				t.Errorf("%v %q: resolved %q, want %q", c.kind, c.target, a.Resolved, want)
			}
		})
	}
}

func TestGlobLimits(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	for i := range maxGlobLinks + 1 {
		link(t, "../target", filepath.Join(dir, "links", fmt.Sprint(i)))
		mkdir(t, filepath.Join(dir, "dirs", fmt.Sprint(i)))
	}
	p := open(t, dir, Options{Root: dir})
	cases := []struct{ target, doubt string }{
		{"/links/*", errGlobLimit.Error()},
		{"/dirs/*/*", errGlobLimit.Error()},
		{"/dirs/**", errGlobLimit.Error()},
		{"/none/{a,../../etc}*", "braces"},
		{"/dirs/*", ""},
		{"/dirs/{a}*", ""},
	}
	for _, c := range cases {
		t.Run(c.target, func(t *testing.T) {
			t.Parallel()
			a := umpire.Access{Kind: read, Target: dir + c.target, Glob: true}
			p.Resolve(&a)
			if (c.doubt == "") != (a.Doubt == "") || !strings.Contains(catalogue.English.Text(a.Doubt), c.doubt) {
				t.Errorf("doubt %q, want %q", a.Doubt, c.doubt)
			}
		})
	}
}
