package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSocketsAreFound(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "u") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	process := t.TempDir() // stands for /proc/PID
	for link, to := range map[string]string{"cwd": filepath.Dir(dir), "fd": t.TempDir()} {
		if err := os.Symlink(to, filepath.Join(process, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, filepath.Join(process, "fd", "7")); err != nil {
		t.Fatal(err)
	}
	owners := func() map[string][]string { return map[string][]string{"41": {process}, "43": {process}} }
	files := func() map[string]boundFile { return map[string]boundFile{"43": {device: 1, number: 1}} }
	const line = "0000000000000000: 00000002 00000000 00010000 0001 01 "
	for _, tt := range []struct {
		name, list string
		want       []string
		all        bool
	}{
		{"nothing", "Num       RefCount Protocol Flags    Type St Inode Path\n", nil, true},
		{"no name, or an abstract one", line + "41\n" + line + "41 @/tmp/x\n", nil, true},
		{"a path with a blank", line + "   41 /home/a b/c\n", []string{"/home/a b/c"}, true},
		{"twice", line + "1 /a\n" + line + "2 /a\n", []string{"/a", "/a"}, true},
		{"from the folder of its process", line + "41 " + filepath.Base(dir) + "/s\n", []string{filepath.Join(dir, "s")}, true},
		{"from a file that its process has open", line + "41 /proc/self/fd/7/s\n", []string{filepath.Join(dir, "s")}, true},
		{"nobody's", line + "42 x/s\n", nil, false},
		{"nobody's, and one that is found", line + "42 x/s\n" + line + "1 /a\n", []string{"/a"}, false},
		{"gone from there", line + "41 other\n", nil, false},
		{"no socket", line + "41 " + filepath.Base(dir) + "\n", nil, false},
		{"another one of the name", line + "43 " + filepath.Base(dir) + "/s\n", nil, false},
		{"not taken yet", line + "    0 x/s\n", nil, true},
		{"a line without an end", line + "41 /" + strings.Repeat("x", 1<<17), nil, false},
	} {
		got := socketsIn(strings.NewReader(tt.list), owners, files)
		if diff := cmp.Diff(tt.want, got.paths); diff != "" || got.all != tt.all {
			t.Errorf("%s: all %t, want %t (-want +got):\n%s", tt.name, got.all, tt.all, diff)
		}
	}
}

// TestSocketsAreLookedForAgain covers sockets that the kernel omits while others close.
func TestSocketsAreLookedForAgain(t *testing.T) {
	t.Parallel()
	look := func(all bool, numbers string, paths ...string) socketLook {
		l := socketLook{paths, all, map[string]bool{}}
		for number := range strings.FieldsSeq(numbers) {
			l.numbers[number] = true
		}
		return l
	}
	busy := make([]socketLook, maxSocketLooks)
	for n := range busy {
		busy[n] = look(true, fmt.Sprint(n), fmt.Sprint("/", n%3))
	}
	for name, tt := range map[string]struct {
		looks []socketLook
		want  []string
		all   bool
	}{
		"quiet":               {[]socketLook{look(true, "1", "/a"), look(true, "1", "/a")}, []string{"/a"}, true},
		"another came":        {[]socketLook{look(true, "1", "/a"), look(true, "1 2", "/a", "/b")}, []string{"/a", "/b"}, true},
		"left out at first":   {[]socketLook{look(true, "1 3", "/c"), look(true, "1 2", "/a"), look(true, "1 2", "/a")}, []string{"/a", "/c"}, true},
		"left out then":       {[]socketLook{look(true, "1 2", "/a"), look(true, "1"), look(true, "1")}, []string{"/a"}, true},
		"cannot be read once": {[]socketLook{{}, look(true, "1", "/a"), look(true, "1", "/a")}, []string{"/a"}, true},
		"they close always":   {busy, []string{"/0", "/1", "/2"}, true},
		"nobody's, for once":  {[]socketLook{look(true, "1"), look(false, "1 2"), look(true, "1 2", "/a")}, []string{"/a"}, true},
		"nobody's":            {[]socketLook{look(false, ""), look(false, ""), look(false, ""), look(false, "1", "/a")}, []string{"/a"}, false},
		"more than is hidden": {[]socketLook{look(true, "", manyPaths...), look(true, "", "/a")}, append([]string{"/a"}, manyPaths...), false},
	} {
		n := 0
		got, all := lookForSockets(func() socketLook { n++; return tt.looks[n-1] })
		if diff := cmp.Diff(tt.want, got); diff != "" || all != tt.all || n != len(tt.looks) {
			t.Errorf("%s: all %t after %d looks, want %t after %d (-want +got):\n%s", name, all, n, tt.all, len(tt.looks), diff)
		}
	}
}

// manyPaths has as many paths as are hidden one by one.
var manyPaths = func() (paths []string) {
	for n := range maxSockets {
		paths = append(paths, fmt.Sprintf("/s%03d", n))
	}
	return paths
}()

// TestBoundFiles checks that the kernel reports a socket's bound file, regardless of its name.
func TestBoundFiles(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "u") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	files, err := boundFiles()
	if err != nil {
		t.Skipf("this kernel does not tell: %v", err)
	}
	list, err := os.ReadFile("/proc/thread-self/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	want, is := fileAt(path)
	for text := range strings.Lines(string(list)) {
		if m := socketLine.Get().FindStringSubmatch(strings.TrimSuffix(text, "\n")); m != nil && m[2] == path {
			if got := files[m[1]]; !is || got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			return
		}
	}
	t.Errorf("%s is not listed", path)
}
