package trial

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// python returns a shell command that runs a Python program in which "lib" is the C library.
func python(lines ...string) string {
	return "python3 -c 'import ctypes, os, stat\nlib = ctypes.CDLL(None, use_errno=True)\n" + strings.Join(lines, "\n") + "'"
}

// attribute returns a command that sets one extended attribute.
func attribute(path, name, value string) string {
	return python(`os.setxattr("` + path + `", "` + name + `", b"` + value + `", follow_symlinks=False)`)
}

// TestNothingLeaks checks that attempts to escape the trial do not change the folder next to the
// project. An attempt fails, is listed, or makes the trial differ. Keeping the listed effects
// changes nothing outside the project, and gives no program the rights of its owner.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ prepare, line, want string }{
		"set-id bits":             {"cp /bin/true prog", "chmod 4755 prog; chmod 2755 prog; true", ""},
		"set-id by install":       {"", "install -m 4755 /bin/true prog || rm -f prog", ""},
		"set-id folder":           {"mkdir d", "chmod g+s d; mkdir -m 2755 e; true", ""},
		"set-id from an archive":  {"cp /bin/true prog; chmod 4755 prog; tar cf a.tar prog; rm prog", "tar xpf a.tar; test ! -u prog && rm -f prog", ""},
		"a new capability":        {"cp /bin/true prog", attribute("prog", "security.capability", `\1\0\0\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0`) + " || true", ""},
		"a disk":                  {"", "mknod disk b 8 0 || true", ""},
		"a device":                {"", "mknod null c 1 3 || true", ""},
		"a whiteout":              {"echo x >f", "mknod f2 c 0 0; " + python(`os.mknod("f3", stat.S_IFCHR | 0o600, 0)`) + " || true", ""},
		"a whiteout by rename":    {"echo x >f", python(`lib.syscall(316, -100, b"f", -100, b"g", 4)`), ""},
		"an opaque folder":        {"mkdir d; echo x >d/f", attribute("d", "user.overlay.opaque", "y"), "! extended_attributes d\n"},
		"a folder of whiteouts":   {"mkdir d; echo x >d/f", attribute("d", "user.overlay.opaque", "x") + "; " + attribute("d/f", "user.overlay.whiteout", "y"), "! extended_attributes d\n! extended_attributes d/f\n"},
		"a redirected folder":     {"mkdir d", attribute("d", "user.overlay.redirect", "/../o"), "! extended_attributes d\n"},
		"a file without content":  {"echo x >f", attribute("f", "user.overlay.metacopy", ""), "! extended_attributes f\n"},
		"another origin":          {"echo x >f", attribute("f", "user.overlay.origin", "x"), "! extended_attributes f\n"},
		"an attribute of root":    {"mkdir d", attribute("d", "trusted.overlay.opaque", "y") + " || true", ""},
		"a hard link outward":     {"ln ../o/file linked", "echo y >linked", "changed linked\n! hard_link linked\n"},
		"a mode by a hard link":   {"ln ../o/file linked", "chmod 777 linked", "attributes linked\n! hard_link linked\n"},
		"a hard link to outside":  {"", "ln ../o/file linked || true", ""},
		"a hard link made out":    {"echo x >f", "ln f ../o/f || true", ""},
		"a move outward":          {"echo x >f", "mv f ../o/f; test -e f", ""},
		"a link outward":          {"", "ln -s ../o out; echo y >out/file; rm -rf out/dir; true", "created out\n"},
		"a link that lay there":   {"ln -s ../o out", "echo y >out/file; chmod 777 out/file; touch out/new; rm -rf out/dir; true", ""},
		"by /proc/self/root":      {"", "echo y >/proc/self/root$OUTSIDE/file; echo y >/proc/self/cwd/../o/file; true", ""},
		"by the first process":    {"", "echo y >/proc/1/root$OUTSIDE/file; for f in /proc/1/fd/*; do echo y >$f/../o/file; echo y >$f/file; done; true", ""},
		"by its own descriptors":  {"", "for f in /proc/self/fd/*; do echo y >$f/file; done; exec 9<../o/file; echo y >/proc/self/fd/9; true", ""},
		"by memory of the first":  {"", "echo y >/proc/1/mem; true", ""},
		"a mount":                 {"", "mount -t tmpfs x .; mount --bind ../o .; umount .; true", ""},
		"the layer itself":        {"", "for f in $LAYERS/*; do echo y >$f/stamp; mkdir $f/0/upper/d; rm -rf $f; done; mkdir -p $LAYERS/x; rm -rf $LAYERS; true", ""},
		"another user namespace":  {"", "unshare -Urm sh -c 'mount --bind ../o . && echo y >file'; true", ""},
		"a folder that is moved":  {"mkdir d", "(cd d && mv ../d ../../o/d; echo y >../../o/file); true", ""},
		"by a process left there": {"", "(setsid sh -c 'sleep 1000; echo y >../o/file; echo y >late' >/dev/null 2>&1 &); true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(test.line, "python3") {
				if _, err := exec.LookPath("python3"); err != nil {
					t.Skip(err)
				}
			}
			b := newBench(t)
			outside := filepath.Join(b.base, "o")
			b.spec.Env = append(b.spec.Env, "OUTSIDE="+outside, "LAYERS="+b.state)
			b.bare("mkdir ../o/dir; echo good >../o/file; touch -d 2020-02-02 .; " + test.prepare)
			before, inside := snapshot(t, outside), snapshot(t, b.root)
			result := b.try(test.line)
			if got := b.listing(&result.Effects); got != test.want && got != "attributes PROJECT\n" {
				t.Errorf("%s\n%s(-want +got):\n%s", test.line, result.Output, cmp.Diff(test.want, got))
			}
			if diff := cmp.Diff(inside, snapshot(t, b.root)); diff != "" {
				t.Errorf("the project was changed (-want +got):\n%s", diff)
			}
			_, err := result.Layer.Keep(t.Context(), KeepSpec{State: filepath.Dir(b.state), Shown: &result.Effects})
			if (err == nil) != result.Effects.Whole() {
				t.Errorf("keep: %v", err)
			}
			b.waitUntilEnded()
			if out := b.bare("find . -perm /6000"); out != "" {
				t.Errorf("with set-id bits: %s", out)
			}
			if diff := cmp.Diff(before, snapshot(t, outside)); diff != "" {
				t.Errorf("%s\n%sleft the trial (-want +got):\n%s", test.line, result.Output, diff)
			}
		})
	}
}

// TestEditorSavesWhileATrialRuns checks that a person's save during a command is
// preserved. If the command has changed the same file, nothing is kept; a save of another
// file is not a conflict.
func TestEditorSavesWhileATrialRuns(t *testing.T) {
	t.Parallel()
	for name, save := range map[string]string{
		"in place": "echo editor >f; echo editor >other", "by a new file": "echo editor >n; mv n f; echo editor >n; mv n other",
		"before it is written": "echo editor >f; echo editor >other; touch -d 2020-02-02 f",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.bare("echo x >f; echo x >other; echo x >mine")
			spec := b.spec
			started, run := startedBy(t)
			spec.Args, spec.Stdout = []string{"sh", "-c", "cat f other >/dev/null; echo trial >f; echo ready; read saved; echo y >mine"}, run
			if name == "before it is written" {
				spec.Args[2] = "echo ready; read saved; echo trial >f; echo y >mine"
			}
			input, saved, err := os.Pipe()
			must(t, err)
			spec.Stdin = input
			go func() {
				defer saved.Close() // the command waits for it
				<-started
				b.bare(save)
			}()
			result, err := Run(t.Context(), spec)
			must(t, errors.Join(err, input.Close()))
			t.Cleanup(func() { must(t, result.Layer.Discard()) })
			_, err = result.Layer.Keep(t.Context(), KeepSpec{State: filepath.Dir(b.state), Shown: &result.Effects})
			if _, ok := errors.AsType[*ConflictError](err); !ok || !strings.Contains(err.Error(), b.root+"/f") || strings.Contains(err.Error(), "other") {
				t.Errorf("%v, want a conflict about f", err)
			}
			if got := b.bare("cat f other mine"); got != "editor\neditor\nx\n" {
				t.Errorf("%q stands there", got)
			}
		})
	}
}

// startedBy returns a stream, and a channel that is closed on the first write to it.
func startedBy(t *testing.T) (<-chan struct{}, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	started := make(chan struct{})
	go func() {
		_, _ = r.Read(make([]byte, 1)) // its end counts as well
		close(started)
	}()
	t.Cleanup(func() { _, _ = w.Close(), r.Close() })
	return started, w
}
