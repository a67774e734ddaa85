package sandbox

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// TestMain lets the test program act as the helper, the prober, the racer and the mover.
func TestMain(m *testing.M) {
	Main()
	if len(os.Args) > 1 && os.Args[1] == racerWord {
		race(os.Args[2:])
		return
	}
	if len(os.Args) > 1 && os.Args[1] == dialerWord {
		dialAll(os.Args[2:])
		return
	}
	if len(os.Args) > 1 && os.Args[1] == moverWord {
		if err := mover(os.Args[2:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// needFull skips a test if there is no sandbox. TestFailsClosed covers the refusal in
// that case.
func needFull(t testing.TB) {
	t.Helper()
	if a := Available(); !a.Whole() {
		t.Skipf("no sandbox on this machine: %s", a.Lacks)
	}
}

// A bench is a repository in a sandbox, with a home next to it. They are not in /tmp,
// because the sandbox has its own.
type bench struct {
	*Place

	t             *testing.T
	root, outside string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return newBenchIn(t, plainDir(t))
}

func newBenchIn(t *testing.T, base string) *bench {
	t.Helper()
	needFull(t)
	b := &bench{t: t, root: filepath.Join(base, "p"), outside: filepath.Join(base, "o")}
	b.Place = &Place{Workspace: []string{b.root}, Home: filepath.Join(base, "h"), State: filepath.Join(base, "h/.umpire"), Scratch: filepath.Join(base, "s")}
	for _, dir := range []string{b.root, b.outside, b.Home, b.Scratch, filepath.Join(b.State, "state")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := b.Forget(); err != nil {
			t.Error(err)
		}
	})
	b.bare("git init -q -b main . && git config user.name a && git config user.email a@example.com")
	return b
}

// plainDir returns a temporary folder that is not below /tmp.
func plainDir(t testing.TB) string {
	t.Helper()
	home, _ := os.UserHomeDir()
	for _, parent := range []string{cmp.Or(os.Getenv(testDir), "/var/lib"), home, "."} {
		if parent == "" {
			continue // it would mean this folder
		}
		parent, err := filepath.Abs(parent)
		if err != nil || files.Within("/tmp", parent) || files.Within("/run", parent) {
			continue
		}
		dir, err := os.MkdirTemp(parent, ".umpire-test-") //nolint:usetesting // t.TempDir is in /tmp
		if err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		})
		return dir
	}
	t.Skip("found no folder outside of /tmp to test in")
	return ""
}

// testDir sets the folder for tests of a user without a home.
const testDir = "UMPIRE_SANDBOX_TEST_DIR"

// bare runs a command line without the sandbox.
func (b *bench) bare(line string) string {
	b.t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// listen makes a socket at a path below the project's root.
func (b *bench) listen(name string) {
	b.t.Helper()
	path, release, err := files.SocketName(filepath.Join(b.root, name))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = release() })
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		b.t.Fatal(err)
	}
	l.SetUnlinkOnClose(false) // it is removed with the folder
	b.t.Cleanup(func() { _ = l.Close() })
}

var writing = Limits{Mode: umpire.SandboxWorkspaceWrite}

// run runs a command line in the sandbox.
func (b *bench) run(limits Limits, line string) (string, error) {
	b.t.Helper()
	out, notes, err := b.noted(limits, line)
	for _, note := range notes {
		out += note + "\n"
	}
	return out, err
}

func (b *bench) noted(limits Limits, line string) (string, []string, error) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "sh", "-c", line)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "HOME="+b.Home, "GIT_CONFIG_NOSYSTEM=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	box, err := b.Wrap(cmd, limits)
	if err != nil {
		return "", nil, err
	}
	err = box.Close(cmd.Run())
	return out.String(), box.Notes, err
}

// works checks that a command line succeeds.
func (b *bench) works(limits Limits, line string) string {
	b.t.Helper()
	out, err := b.run(limits, line)
	if err != nil {
		b.t.Errorf("%s: %v\n%s", line, err, out)
	}
	return out
}

// fails checks that a command line starts and fails with a text.
func (b *bench) fails(limits Limits, line, text string) {
	b.t.Helper()
	out, err := b.run(limits, line)
	if _, ended := errors.AsType[*exec.ExitError](err); !ended || !strings.Contains(out, text) {
		b.t.Errorf("%s: %v, want it to fail with %q\n%s", line, err, text, out)
	}
}

func (b *bench) has(path, content string) {
	b.t.Helper()
	if data, err := os.ReadFile(path); err != nil || string(data) != content {
		b.t.Errorf("%s: %q, %v, want %q", path, data, err, content)
	}
}

func (b *bench) lacks(path string) {
	b.t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		b.t.Errorf("%s: %v, want it not to be there", path, err)
	}
}

// self copies the test program to a path that is visible in the sandbox.
func (b *bench) self() string {
	b.t.Helper()
	path := filepath.Join(b.root, "self")
	copySelf(b.t, path)
	return path
}

// copySelf copies the test program with another process. If this one had the copy open
// for writing, a child of another test could inherit it, and the copy could not be run.
func copySelf(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cp", self, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// nobody is an unprivileged user.
const nobody = 65534

// asNobody runs tests of this program again as an ordinary user.
func asNobody(t *testing.T, tests string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir := plainDir(t)
	self := filepath.Join(dir, "test")
	copySelf(t, self)
	work := filepath.Join(dir, "work")
	err := os.Mkdir(work, 0o755)
	if err == nil {
		err = os.Chown(work, nobody, nobody)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !reachable(dir) {
		t.Skipf("%s cannot be reached by other users", dir)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", tests, "-test.v")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "HOME="+work, "TMPDIR="+work, testDir+"="+work, goldens+"="+mustAbs(t, "testdata"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := outputApart(cmd)
	if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("as user %d: %v\n%s", nobody, err, out)
	}
	for line := range bytes.Lines(out) {
		if _, figure, found := bytes.Cut(line, []byte("figure: ")); found {
			t.Logf("figure: %s", bytes.TrimSpace(figure))
		}
	}
}

// outputApart runs a command in its own network namespace, if possible, where it only finds its own sockets.
// The sandbox refuses all sockets if the path of one, such as another test's, cannot be found.
func outputApart(cmd *exec.Cmd) (out []byte, err error) {
	// The thread must return and not end, because the kernel would kill the processes it started for other tests.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer before.Close()
	if unix.Unshare(unix.CLONE_NEWNET) == nil {
		defer func() { err = errors.Join(err, unix.Setns(int(before.Fd()), unix.CLONE_NEWNET)) }()
		if err := RaiseLoopback(); err != nil {
			return nil, err
		}
	}
	return cmd.CombinedOutput()
}

func reachable(dir string) bool {
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 {
			return false
		}
	}
	return true
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// goldens sets the folder of expected tables for a user with another working directory.
const goldens = "UMPIRE_SANDBOX_GOLDENS"

func golden(name string) string {
	if dir := os.Getenv(goldens); dir != "" {
		return filepath.Join(dir, name)
	}
	return filepath.Join("testdata", name)
}

// A server is a command that runs until its input ends.
type server struct {
	b     *bench
	cmd   *exec.Cmd
	box   *Box
	input *os.File
}

// startIn starts a server and waits until it has printed a line.
func startIn(b *bench, line string) *server {
	b.t.Helper()
	in, input, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	output, out, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	s := &server{b: b, cmd: exec.Command("sh", "-c", line), input: input}
	s.cmd.Dir, s.cmd.Stdin, s.cmd.Stdout = b.root, in, out
	if s.box, err = b.Wrap(s.cmd, writing); err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = output.Read(make([]byte, 3))
	for _, f := range []*os.File{in, out, output} {
		_ = f.Close()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// end ends the server and returns its notes.
func (s *server) end() []string {
	s.b.t.Helper()
	_ = s.input.Close()
	if err := s.box.Close(s.cmd.Wait()); err != nil {
		s.b.t.Error(err)
	}
	return s.box.Notes
}
