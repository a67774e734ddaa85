package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
)

// observing are the limits of a trial.
var observing = Limits{Mode: umpire.SandboxWorkspaceWrite, Observe: true}

// overlay prepares an overlay over a folder.
func overlay(t *testing.T, folder, layer string) Overlay {
	t.Helper()
	v := Overlay{Folder: folder, Upper: filepath.Join(layer, "upper"), Work: filepath.Join(layer, "work")}
	for _, dir := range []string{v.Upper, v.Work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := (&Place{Scratch: layer}).Forget(); err != nil {
			t.Error(err)
		}
	})
	return v
}

// newOverlaid returns a bench with an overlay over its project.
func newOverlaid(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.Overlays = []Overlay{overlay(t, b.root, filepath.Join(filepath.Dir(b.root), "l"))}
	if out, err := b.run(observing, "true"); NoOverlay(err) {
		t.Skipf("no overlays on this machine: %v", err)
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b.again()
	return b
}

// again lets another command use a layer, although each is for one command.
func (b *bench) again() {
	b.t.Helper()
	work := b.Overlays[0].Work
	err := (&Place{Scratch: work}).Forget()
	if err == nil {
		err = os.Mkdir(work, 0o700)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) upper(name string) string { return filepath.Join(b.Overlays[0].Upper, name) }

func TestOverlayKeepsTheWorkspace(t *testing.T) {
	t.Parallel()
	b := newOverlaid(t)
	b.bare("mkdir dir && echo old >dir/file && echo SECRET=1 >.env")
	b.works(observing, "echo new >dir/file && echo x >made && cat dir/file && git add made dir && git commit -qm x && echo x >.git/hooks/evil")
	b.has(filepath.Join(b.root, "dir/file"), "old\n")
	b.has(b.upper("dir/file"), "new\n")
	b.has(b.upper(".git/hooks/evil"), "x\n")
	b.lacks(filepath.Join(b.root, "made"))
	b.lacks(filepath.Join(b.root, ".git/hooks/evil"))
	if out := b.bare("git log 2>&1 || true"); !strings.Contains(out, "does not have any commits") {
		t.Errorf("the real repository has a commit: %s", out)
	}
	b.again()
	if out := b.works(observing, "cat .env; ls "+b.outside+"/../l"); out != "" {
		t.Errorf("the command sees %q", out)
	}
	b.again()
	b.fails(observing, "echo x >"+b.outside+"/x", "Read-only file system")
}

// TestOverlayForgetsCaches checks that caches next to an overlay are writable, even empty ones.
func TestOverlayForgetsCaches(t *testing.T) {
	t.Parallel()
	b := newOverlaid(t)
	full, empty := filepath.Join(b.outside, "full"), filepath.Join(b.outside, "empty")
	b.bare("mkdir " + full + " && echo old >" + full + "/entry")
	b.Cache = []Cache{{Folder: full}, {Folder: empty, Make: true}}
	out := b.works(observing, "cd "+b.outside+" && cat full/entry && echo new >full/entry && mkdir empty/dir && "+
		"echo x >empty/dir/file && mv empty/dir empty/moved && cat full/entry empty/moved/file")
	if out != "old\nnew\nx\n" {
		t.Errorf("the command sees %q", out)
	}
	b.has(filepath.Join(full, "entry"), "old\n")
	if left := b.bare("ls -A " + empty); left != "" {
		t.Errorf("the empty cache holds %q", left)
	}
}

// TestOverlayMovesFolders checks that programs can rename lower folders.
func TestOverlayMovesFolders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ prepare, line, want string }{
		"rename":                {"mkdir -p a/b/c && echo x >a/b/f", "rename a z", "z z/b z/b/c z/b/f"},
		"read-only":             {"mkdir -p a/b && echo x >a/b/f && chmod 555 a/b a", "rename a z && stat -c %a z z/b", "555 555 z z/b z/b/f"},
		"onto an empty one":     {"mkdir a z && echo x >a/f", "rename a z", "z z/f"},
		"onto a full one":       {"mkdir a z && echo x >a/f && echo y >z/g", "rename a z", "not empty a a/f z z/g"},
		"onto a file":           {"mkdir a && echo x >z", "rename a z", "not a directory a z"},
		"into itself":           {"mkdir -p a/b", "rename a a/b/c", "invalid argument a a/b"},
		"not replacing":         {"mkdir a z", "rename -n a z", "file exists a z"},
		"exchanged":             {"mkdir -p a/b && echo x >z", "rename -x a z", "a z z/b"},
		"two folders exchanged": {"mkdir -p a/b z/y", "rename -x a z", "a a/y z z/b"},
		"by an open folder":     {"mkdir -p a/b c", "cd c && rename ../a z", "c c/z c/z/b"},
		"elsewhere":             {"mkdir a", "rename a /tmp/a", "cross-device link a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newOverlaid(t)
			b.bare(test.prepare)
			t.Cleanup(func() { b.bare("chmod -R u+w .") })
			before := b.bare("find . | sort | xargs stat -c '%n %a %Y' ")
			line := "rename() { " + filepath.Join(b.outside, "self") + " " + moverWord + " \"$@\" 2>&1; }; " + test.line +
				"; cd " + b.root + "; find . -mindepth 1 -not -path './.git*' | sort | cut -c3-"
			copySelf(t, filepath.Join(b.outside, "self"))
			out, notes, err := b.noted(observing, line)
			if got := strings.Join(strings.Fields(out), " "); err != nil || !strings.HasSuffix(got, test.want) || len(notes) > 0 {
				t.Errorf("%q, %v, %q, want %q", got, err, notes, test.want)
			}
			if after := b.bare("find . | sort | xargs stat -c '%n %a %Y' "); after != before {
				t.Errorf("the folder underneath changed:\n%s", cmp.Diff(before, after))
			}
		})
	}
}

// TestOverlayObserves checks that network attempts of the command are reported.
func TestOverlayObserves(t *testing.T) {
	t.Parallel()
	b := newOverlaid(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	self := b.self()
	cmd := exec.CommandContext(t.Context(), self, dialerWord, "tcp=203.0.113.7:5432", "udp=198.51.100.1:53", "tcp=[2001:db8::1]:443", "tcp="+l.Addr().String(), "tcp=203.0.113.7:5432",
		"look=looked-up.example", "tcp=registry.example:443", "tcp=registry.example:443")
	cmd.Dir = b.root
	box, err := b.Wrap(cmd, observing)
	if err == nil {
		err = box.Close(cmd.Run())
	}
	if err != nil {
		t.Fatal(err)
	}
	want := Sight{Addresses: []string{
		"203.0.113.7:5432", "198.51.100.1:53", "[2001:db8::1]:443", "looked-up.example", "registry.example:443",
	}}
	if diff := cmp.Diff(want, box.Seen); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestOverlaySeesWrites checks that refused writes are reported, including those through links.
func TestOverlaySeesWrites(t *testing.T) {
	t.Parallel()
	b := newOverlaid(t)
	b.bare("ln -s ../o out && ln -s . here && echo x >../o/old && mkdir ../o/dir")
	line := "echo x >f; mkdir d; rm f; echo x >here/g; echo x >/dev/null; echo x >/tmp/f; cat ../o/old; touch here/../here/h; " +
		"echo x >../o/new; echo x >out/linked; echo x >>../o/old; rm -f ../o/old; cd ../o && mkdir made; mkdir -p dir; rm -rf none; rmdir dir; cd /; echo x >/no/such"
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = b.root
	box, err := b.Wrap(cmd, observing)
	if err == nil {
		_ = box.Close(cmd.Run()) // its last command fails
	}
	if err != nil {
		t.Fatal(err)
	}
	want := Sight{Writes: []string{
		b.outside + "/new", b.root + "/out/linked", b.outside + "/old", b.outside + "/made", b.outside + "/dir",
	}}
	if diff := cmp.Diff(want, box.Seen); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestOverlayRefusals checks that nothing starts if the setup cannot be as ordered.
func TestOverlayRefusals(t *testing.T) {
	t.Parallel()
	b := newOverlaid(t)
	good := b.Overlays[0]
	for name, test := range map[string]struct {
		overlay func(*Overlay)
		limits  Limits
		want    string
	}{
		"swapped":     {func(v *Overlay) { v.Device, v.Inode = 1, 1 }, observing, "has become a different folder"},
		"by a link":   {func(v *Overlay) { v.Folder = filepath.Join(b.outside, "link") }, observing, "too many levels"},
		"no upper":    {func(v *Overlay) { v.Upper = filepath.Join(b.outside, "none") }, observing, "no such file"},
		"on /proc":    {func(v *Overlay) { v.Upper, v.Work = "/proc/sys", "/proc/sys" }, observing, "cannot hold a trial's changes"},
		"read-only":   {func(*Overlay) {}, Limits{}, "workspace-write"},
		"with a hole": {func(*Overlay) {}, Limits{Mode: umpire.SandboxWorkspaceWrite, Open: []string{b.outside}}, "cannot be combined with open folders"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "by a link" {
				if err := os.Symlink(b.root, filepath.Join(b.outside, "link")); err != nil {
					t.Fatal(err)
				}
			}
			v := good
			test.overlay(&v)
			place := &Place{Workspace: b.Workspace, Overlays: []Overlay{v}}
			out, err := (&bench{Place: place, t: t, root: b.root}).run(test.limits, "echo started")
			if err == nil || !strings.Contains(err.Error(), test.want) || out != "" {
				t.Errorf("%q, %v, want %q", out, err, test.want)
			}
		})
	}
}

// TestProbeTableInAnOverlay checks that the sandbox stops the same probes in an overlay.
// Only the workspace's guards are missing, because changes in it are not real.
func TestProbeTableInAnOverlay(t *testing.T) {
	t.Parallel()
	newOverlaid(t) // skips the test if there are no overlays
	s, done, err := newTestBed(t.Context(), plainDir(t))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	base := s.Base
	before := snapshot(t, base)
	place := &Place{Workspace: []string{s.at("w")}, Overlays: []Overlay{overlay(t, s.at("w"), filepath.Join(plainDir(t), "l"))}}
	outcomes, err := s.tryIn(t.Context(), place, observing, allLayers)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, base)); diff != "" {
		t.Errorf("what the probes were tried on is not as it was (-want +got):\n%s", diff)
	}
	var table strings.Builder
	stopped := 0
	for i, p := range probes {
		fmt.Fprintf(&table, "%-16s %-32s %s\n", p.group, p.name, outcomes[i])
		if outcomes[i].denied() && p.group != ofGuarded {
			stopped++
		} else if p.group != ofGuarded {
			t.Errorf("%s: %s: %q: nothing stops it", p.group, p.name, outcomes[i])
		}
	}
	t.Logf("figure: as user %d, %d ways out of a trial were tried, and all stopped", os.Geteuid(), stopped)
	checkGolden(t, "probes-overlay.txt", table.String())
}

// snapshot describes a folder with all its content as text.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := []byte{}
		if info.Mode().IsRegular() {
			content, err = os.ReadFile(path)
		}
		fmt.Fprintf(&text, "%s %s %v %q\n", path, info.Mode(), info.ModTime(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestOverlaysAsAnotherUser(t *testing.T) {
	t.Parallel()
	needFull(t)
	asNobody(t, "^(TestOverlay|TestProbeTableInAnOverlay)")
}

// moverWord is the argument that makes this program a mover.
const moverWord = "__mover"

// mover renames with just the system call.
func mover(args []string) error {
	flags := uint(0)
	if len(args) == 3 {
		flags = map[string]uint{"-n": unix.RENAME_NOREPLACE, "-x": unix.RENAME_EXCHANGE}[args[0]]
		args = args[1:]
	}
	return unix.Renameat2(unix.AT_FDCWD, args[0], unix.AT_FDCWD, args[1], flags)
}
