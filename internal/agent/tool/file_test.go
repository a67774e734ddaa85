package tool

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

func TestRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("three", "one\ntwo\r\nthree")
	b.file("empty", "")
	b.file("binary", "a\x00b")
	b.file("latin1", "caf\xe9\n")
	b.file("long", strings.Repeat("é", 3000)+"\nshort\n")
	for _, tt := range []struct {
		name string
		in   fields
		want string
	}{
		{"whole", fields{"file_path": "three"}, "     1\tone\n     2\ttwo\n     3\tthree\n"},
		{"absolute", fields{"file_path": filepath.Join(b.root, "three"), "limit": 1}, "     1\tone\n[there is more: go on with offset 2]\n"},
		{"middle", fields{"file_path": "./three", "offset": 2, "limit": "1"}, "     2\ttwo\n[there is more: go on with offset 3]\n"},
		{"behind the end", fields{"file_path": "three", "offset": 9}, "[the file has 3 lines]\n"},
		{"empty", fields{"file_path": "empty"}, "[the file is empty]\n"},
		{"not UTF-8", fields{"file_path": "latin1"}, "     1\tcaf\uFFFD\n"},
		{"a long line", fields{"file_path": "long"}, "     1\t" + strings.Repeat("é", 1000) + " [4000 more bytes in this line]\n     2\tshort\n"},
	} {
		if diff := cmp.Diff(tt.want, b.ok("Read", tt.in)); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
	b.fails("Read", fields{"file_path": "binary"}, "is a binary file of 3 bytes")
	b.fails("Read", fields{"file_path": "missing"}, "missing: no such file")
	b.fails("Read", fields{"file_path": "."}, "is a folder, not a file")
	b.fails("Read", fields{"file_path": "three/x"}, "not a directory")
}

// TestReadIsBounded: a file of any size gives a result of some size.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("wide", strings.Repeat(strings.Repeat("x", 1900)+"\n", 3000))
	out := b.ok("Read", fields{"file_path": "wide", "limit": 100_000})
	if len(out) > maxReadBytes+2*maxLine || !strings.Contains(out, "[there is more: go on with offset ") {
		t.Errorf("%d bytes, ending in %q", len(out), out[len(out)-80:])
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ok("Write", fields{"file_path": "new/dir/a.txt", "content": "a\n"})
	script := b.file("script.sh", "old")
	if err := os.Chmod(script, 0o777); err != nil {
		t.Fatal(err)
	}
	out := b.ok("Write", fields{"file_path": script, "content": ""})
	if want := fmt.Sprintf("wrote %s: 0 bytes in place of 3\n", script); !strings.HasPrefix(out, want) {
		t.Errorf("got %q, want %q at the beginning", out, want)
	}
	info, err := os.Stat(script)
	if err != nil || info.Mode().Perm() != 0o777 || info.Size() != 0 {
		t.Errorf("%v %v", info, err)
	}
	if got := b.content("new/dir/a.txt"); got != "a\n" {
		t.Errorf("wrote %q", got)
	}
	b.fails("Write", fields{"file_path": "new", "content": "x"}, "is a folder, not a file")
	b.fails("Write", fields{"file_path": "script.sh/x", "content": "x"}, "not a directory")
	noTemporaries(t, b.root)
}

// noTemporaries fails if a temporary file is left in dir.
func noTemporaries(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s was left behind", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWriteLeavesOtherNamesAlone: a file with two names is replaced under one.
func TestWriteLeavesOtherNamesAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	kept := b.file(filepath.Join(b.outside, "kept"), "kept")
	if err := os.Link(kept, b.path("name")); err != nil {
		t.Skipf("hard links are not to be had here: %v", err)
	}
	b.ok("Write", fields{"file_path": "name", "content": "new"})
	if b.content(kept) != "kept" || b.content("name") != "new" {
		t.Errorf("outside %q, inside %q", b.content(kept), b.content("name"))
	}
}

// TestWriteSeesWhatOthersWrote: a write does not overwrite changes made by others in the meantime.
func TestWriteSeesWhatOthersWrote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.file("a", "one")
	p, err := b.options.openPlace(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.closeDir()
	before, err := p.stand()
	if err != nil {
		t.Fatal(err)
	}
	b.file("a", "somebody else's")
	if err := p.replace(before, []byte("two")); err == nil || !strings.Contains(err.Error(), "read it again") {
		t.Errorf("got %v", err)
	}
	if err := p.replace(nil, []byte("two")); err == nil {
		t.Error("a file that was not there replaces one that is")
	}
	if b.content("a") != "somebody else's" {
		t.Errorf("left %q", b.content("a"))
	}
	noTemporaries(t, b.root)
}

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, before string
		in           fields
		want, fails  string
	}{
		{"once", "a b c", fields{"old_string": "b", "new_string": "x"}, "a x c", ""},
		{"taken out", "a b c", fields{"old_string": " b", "new_string": ""}, "a c", ""},
		{"everywhere", "a a", fields{"old_string": "a", "new_string": "b", "replace_all": true}, "b b", ""},
		{"dollars mean nothing", "a", fields{"old_string": "a", "new_string": "$1 $$ \\0"}, "$1 $$ \\0", ""},
		{"lines that end in CR LF", "a\r\nb\r\nc\r\n", fields{"old_string": "a\nb", "new_string": "x\ny"}, "x\r\ny\r\nc\r\n", ""},
		{"an empty file is made", "", fields{"old_string": "", "new_string": "a"}, "a", ""},
		{"twice", "a a", fields{"old_string": "a", "new_string": "b"}, "a a", "old_string matches 2 times"},
		{"nowhere", "a", fields{"old_string": "b", "new_string": "c"}, "a", "old_string not found"},
		{"nothing to do", "a", fields{"old_string": "a", "new_string": "a"}, "a", "is the same as old_string"},
		{"there already", "a", fields{"old_string": "", "new_string": "b"}, "a", "already exists"},
	} {
		b := newBench(t)
		b.file("f", tt.before)
		tt.in["file_path"] = "f"
		if tt.fails != "" {
			b.fails("Edit", tt.in, tt.fails)
		} else {
			b.ok("Edit", tt.in)
		}
		if got := b.content("f"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	b := newBench(t)
	b.fails("Edit", fields{"file_path": "missing", "old_string": "a", "new_string": "b"}, "no such file")
	b.ok("Edit", fields{"file_path": "dir/new", "old_string": "", "new_string": "b"})
	if got := b.content("dir/new"); got != "b" {
		t.Errorf("made %q", got)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("b/deep", "")
	b.file("a", "")
	b.file(".hidden", "")
	b.file("two\nlines", "")
	b.link("nowhere", "link")
	if got, want := b.ok("LS", fields{}), ".hidden\na\nb/\nlink -> nowhere\ntwo\\nlines\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := b.ok("LS", fields{"path": ".", "ignore": []string{"l*", ".*", "two*"}}), "a\nb/\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.Mkdir(b.path("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := b.ok("LS", fields{"path": "empty"}); got != "[the folder is empty]\n" {
		t.Errorf("got %q", got)
	}
	b.fails("LS", fields{"path": "a"}, "not a directory")
}

// TestPathsOutside: a decision that allows a path outside is followed there.
func TestPathsOutside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.file(filepath.Join(b.outside, "x"), "outside\n")
	if got := b.ok("Read", fields{"file_path": path}); got != "     1\toutside\n" {
		t.Errorf("read %q", got)
	}
	b.file(filepath.Join(b.home, "y"), "at home\n")
	if got := b.ok("Read", fields{"file_path": "~/y"}); got != "     1\tat home\n" {
		t.Errorf("read %q", got)
	}
	b.ok("Write", fields{"file_path": filepath.Join(b.outside, "new", "z"), "content": "z"})
	if got := b.content(filepath.Join(b.outside, "new", "z")); got != "z" {
		t.Errorf("wrote %q", got)
	}
}

// TestDecisionOfAnotherPath: a tool does not touch paths outside its decision.
func TestDecisionOfAnotherPath(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("a", "a")
	b.file("b", "b")
	for _, tool := range []string{"Read", "Write", "LS"} {
		started := b.start(tool, fields{"path": "a", "content": "x"})
		started.Call.Input = []byte(`{"path":"b","content":"x"}`)
		r := b.Run(t.Context(), started)
		if r.Status != umpire.ResultError || !strings.Contains(r.Output, "the decision does not cover this path") {
			t.Errorf("%s: %s %q", tool, r.Status, r.Output)
		}
	}
	reading := b.start("Read", fields{"path": "a"})
	reading.Call.Tool, reading.Call.Input = "Write", []byte(`{"path":"a","content":"x"}`)
	if r := b.Run(t.Context(), reading); r.Status != umpire.ResultError || b.content("a") != "a" {
		t.Errorf("a decision to read let it write: %+v", r)
	}
}

func TestOutputsAreValidUTF8(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("bad\xff/\xfe.txt", "\xff\xfe\x80 needle\n")
	for tool, in := range map[string]fields{
		"LS": {}, "Glob": {"pattern": "**"}, "Grep": {"pattern": "needle", "output_mode": "content"},
		"Bash": {"command": `printf '\377\376\000\200'`},
	} {
		if out := b.ok(tool, in); !utf8.ValidString(out) || strings.ContainsRune(out, 0) || !strings.Contains(out, "\uFFFD") {
			t.Errorf("%s: %q", tool, out)
		}
	}
}
