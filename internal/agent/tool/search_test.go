package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// under cuts the project's root off the paths of a result.
func (b *bench) under(text string) string { return strings.ReplaceAll(text, b.root+"/", "") }

func TestGlob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i, name := range []string{"src/a.go", "src/deep/b.go", "c.go", "c.txt", ".config/d.go", "vendor/e.go", ".git/f.go"} {
		path := b.file(name, "")
		when := time.Unix(int64(1_700_000_000+i), 0)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	b.file(".gitignore", "vendor/\n")
	b.link("src", "linked")
	for pattern, want := range map[string]string{
		"**/*.go":      ".config/d.go\nc.go\nsrc/deep/b.go\nsrc/a.go\n",
		"*.{go,txt}":   "c.txt\nc.go\n",
		"src/*.go":     "src/a.go\n",
		"./src/**":     "src/deep/b.go\nsrc/a.go\n",
		"nothing*":     "[no file matches]\n",
		"linked/*":     "[no file matches]\n",
		"linked":       "linked\n",
		"vendor/e.go":  "[no file matches]\n",
		"{c,src/a}.go": "c.go\nsrc/a.go\n",
		"src/[ab].go":  "src/a.go\n",
		`src/\a.go`:    "src/a.go\n",
	} {
		if got := b.under(b.ok("Glob", fields{"pattern": pattern})); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	if got := b.under(b.ok("Glob", fields{"pattern": "*.go", "path": "src/deep"})); got != "src/deep/b.go\n" {
		t.Errorf("in a folder: %q", got)
	}
	for _, bad := range []string{
		"", "/etc/*", "~/x", "../x", "a/../../x", "{.,x}./y", "{/,x}etc", "{a", "[", strings.Repeat("{a,b}", 10), strings.Repeat("a", 2000),
	} {
		b.fails("Glob", fields{"pattern": bad}, "input.pattern: ")
	}
}

// TestIgnores follows the rules of git, checked against git's own manual.
func TestIgnores(t *testing.T) {
	t.Parallel()
	rules := ignores{}.with("", []byte("# a comment\n\n*.log\n!keep.log\n/top\nbuild/\na/b\nfoo/**\n!foo/kept\n\\#x\n\\!y\nspace\\ \ntrail   \n{z}\nCR\r\n"))
	rules = rules.with("sub", []byte("*.tmp\n/only\n!important.log\n"))
	for path, want := range map[string]bool{
		"x.log": true, "d/x.log": true, "keep.log": false, "d/keep.log": false, "top": true, "d/top": false,
		"build/": true, "build": false, "d/build/": true, "a/b": true, "d/a/b": false,
		"foo/": false, "foo/x": true, "foo/kept": false, "#x": true, "!y": true, "space ": true, "trail": true,
		"{z}": true, "z": false, "CR": true, "x.tmp": false, "sub/x.tmp": true, "sub/d/x.tmp": true, "sub/only": true,
		"sub/d/only": false, "sub/important.log": false, "subx/y.tmp": false,
	} {
		name, folder := strings.CutSuffix(path, "/")
		if got := rules.match(name, folder); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func TestGrep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("a.txt", "one needle\ntwo\nthree\nfour needle\nfive\n")
	b.file("b.md", "NEEDLE\r\nneedle two\r\n")
	b.file("sub/.gitignore", "out\n")
	b.file("sub/out/c.txt", "needle")
	b.file("sub/in/d.txt", "needle")
	b.file(".hidden/e.txt", "needle")
	b.file(".env", "KEY=needle\n")
	b.file("bin", "needle\x00")
	b.file(".git/info/exclude", "excluded.txt\n")
	b.file("excluded.txt", "needle")
	b.link(filepath.Join(b.outside, "x"), "outside.txt")
	b.file(filepath.Join(b.outside, "x"), "needle")
	for _, tt := range []struct {
		name string
		in   fields
		want string
	}{
		{"files", fields{"pattern": "needle"}, "a.txt\nb.md\nsub/in/d.txt\n"},
		{"count", fields{"pattern": "needle", "output_mode": "count"}, "a.txt:2\nb.md:1\nsub/in/d.txt:1\n"},
		{"content", fields{"pattern": "needle", "output_mode": "content", "glob": "*.txt"}, "a.txt:1:one needle\na.txt:4:four needle\nsub/in/d.txt:1:needle\n"},
		{"no numbers, any case", fields{"pattern": "needle", "output_mode": "content", "glob": "*.md", "-i": true, "-n": false}, "b.md:NEEDLE\nb.md:needle two\n"},
		{"around", fields{"pattern": "needle", "output_mode": "content", "path": "a.txt", "-A": 1, "-B": 0}, "a.txt:1:one needle\na.txt-2-two\n--\na.txt:4:four needle\na.txt-5-five\n"},
		{"around, together", fields{"pattern": "needle", "output_mode": "content", "path": "a.txt", "-C": 1}, "a.txt:1:one needle\na.txt-2-two\na.txt-3-three\na.txt:4:four needle\na.txt-5-five\n"},
		{"lines begin and end", fields{"pattern": "^two$", "output_mode": "content"}, "a.txt:2:two\n"},
		{"over lines", fields{"pattern": "two.three", "output_mode": "content", "multiline": true}, "a.txt:2:two\na.txt:3:three\n"},
		{"not over lines", fields{"pattern": `two\s+three`}, "[no match]\n"},
		{"a hidden one by name", fields{"pattern": "needle", "glob": ".hidden/*.txt"}, ".hidden/e.txt\n"},
		{"in a folder", fields{"pattern": "needle", "path": "sub"}, "sub/in/d.txt\n"},
		{"only some", fields{"pattern": "needle", "head_limit": 1}, "a.txt\n[stopped here: there may be more]\n"},
	} {
		if diff := cmp.Diff(tt.want, b.under(b.ok("Grep", tt.in))); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
	b.fails("Grep", fields{"pattern": "("}, "input.pattern: error parsing regexp")
	b.fails("Grep", fields{"pattern": "a", "output_mode": "all"}, "input.output_mode: want")
	b.fails("Grep", fields{"pattern": "a", "path": "missing"}, "no such file")
	b.fails("Grep", fields{"pattern": "a", "-A": -1}, "input.-A: want 0 to")
}

// TestGrepIsBounded: a result has a limited size, however many matches there are.
func TestGrepIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("many", strings.Repeat("needle "+strings.Repeat("x", 3000)+"\n", 500))
	out := b.ok("Grep", fields{"pattern": "needle", "output_mode": "content"})
	if len(out) > maxGrepBytes+2*maxLine || !strings.Contains(out, "more bytes in this line]") || !strings.HasSuffix(out, "[stopped here: there may be more]\n") {
		t.Errorf("%d bytes, ending in %q", len(out), out[len(out)-60:])
	}
}

// TestIgnoresOfThePerson: the global ignore list applies, and the project's own list
// takes precedence.
func TestIgnoresOfThePerson(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.options.Env = nil
	b.file(filepath.Join(b.home, ".config", "git", "ignore"), "*.log\n*.own\n")
	for _, name := range []string{"a.txt", "b.log", "c.own"} {
		b.file(name, "needle\n")
	}
	b.file(".gitignore", "!*.own\n")
	if got := b.under(b.ok("Grep", fields{"pattern": "needle"})); got != "a.txt\nc.own\n" {
		t.Errorf("found %q", got)
	}
	elsewhere := b.file(filepath.Join(b.outside, "git", "ignore"), "*.txt\n")
	b.options.Env = []string{"XDG_CONFIG_HOME=" + filepath.Dir(filepath.Dir(elsewhere))}
	if got := b.under(b.ok("Grep", fields{"pattern": "needle"})); got != "b.log\nc.own\n" {
		t.Errorf("with another folder for settings: %q", got)
	}
}
