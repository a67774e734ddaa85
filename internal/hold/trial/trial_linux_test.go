package trial

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main() // this program is also the sandbox's helper
	os.Exit(m.Run())
}

// A bench is a project, with a home and a folder for layers next to it.
type bench struct {
	*testing.T
	base, root, state string
	spec              Spec
}

// newBench makes a bench, and skips the test if trials are not available.
func newBench(t *testing.T) *bench {
	t.Helper()
	base := plainDir(t)
	b := &bench{T: t, base: base, root: filepath.Join(base, "p"), state: filepath.Join(base, "h/.umpire/state/trials")}
	for _, dir := range []string{b.root, b.state, filepath.Join(base, "o")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.spec = Spec{
		Dir: b.root, Env: append(os.Environ(), "HOME="+filepath.Join(base, "h"), "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
			"GIT_AUTHOR_DATE=2020-02-02T02:02:02Z", "GIT_COMMITTER_DATE=2020-02-02T02:02:02Z"), State: b.state,
		Place: &sandbox.Place{Workspace: []string{b.root}, Home: filepath.Join(base, "h"), State: filepath.Join(base, "h/.umpire")},
	}
	if result, err := b.run("true"); errors.Is(err, ErrUnavailable) {
		t.Skipf("no trials on this machine: %v", err)
	} else if err != nil {
		t.Fatal(err)
	} else if len(result.Effects.List) > 0 {
		t.Fatalf("true has effects: %+v", result.Effects)
	}
	return b
}

// plainDir returns a temporary folder outside of /tmp, because the sandbox has its own /tmp.
func plainDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(testParent(), ".umpire-test-") //nolint:usetesting // t.TempDir is in /tmp
	if err != nil {
		t.Skipf("no folder can be made outside of /tmp: %v", err)
	}
	t.Cleanup(func() {
		if err := (&sandbox.Place{Scratch: dir}).Forget(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// testParent returns the folder in which tests make their folders.
func testParent() string { return cmp.Or(os.Getenv(testDir), "/var/lib") }

// testDir sets the folder for tests of a user without a home.
const testDir = "UMPIRE_SANDBOX_TEST_DIR"

// bare really runs a command line in the project.
func (b *bench) bare(line string) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = b.root, b.spec.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// run runs a command line in a trial.
func (b *bench) run(line string) (*Result, error) {
	b.Helper()
	spec := b.spec
	spec.Args = []string{"sh", "-c", line}
	result, err := Run(b.Context(), spec)
	if err == nil {
		b.Cleanup(func() {
			if err := result.Layer.Discard(); err != nil {
				b.Error(err)
			}
		})
	}
	return result, err
}

// try runs a command line in a trial, which must succeed.
func (b *bench) try(line string) *Result {
	b.Helper()
	result, err := b.run(line)
	if err != nil || result.Exit != 0 {
		b.Fatalf("%s: %v, %+v", line, err, result)
	}
	return result
}

// listing returns one line per effect.
func (b *bench) listing(e *Effects) string {
	var text strings.Builder
	for i := range e.List {
		one := &e.List[i]
		fmt.Fprintf(&text, "%s %s", one.Kind, strings.TrimPrefix(one.Path, b.root+"/"))
		if one.From != "" {
			fmt.Fprintf(&text, " from %s", strings.TrimPrefix(one.From, b.root+"/"))
		}
		if one.After.SameAs != "" {
			fmt.Fprintf(&text, " same as %s", strings.TrimPrefix(one.After.SameAs, b.root+"/"))
		}
		fmt.Fprintln(&text)
	}
	for _, d := range e.Differs {
		fmt.Fprintf(&text, "! %s %s\n", d.Reason, strings.TrimPrefix(d.Path, b.root+"/"))
	}
	if e.Limit != "" {
		fmt.Fprintf(&text, "limit: %s\n", e.Limit)
	}
	return text.String()
}

// secondGroup is an additional group of the ordinary user.
const secondGroup = 54321

// patience is how long a test waits for an expected event.
const patience = 5 * time.Minute

// asNobody runs tests of this program again as an ordinary user.
func asNobody(t *testing.T, tests string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	const nobody = 65534
	dir := plainDir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, work := filepath.Join(dir, "test"), filepath.Join(dir, "work")
	if out, err := exec.CommandContext(t.Context(), "cp", self, program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, err := range []error{os.Mkdir(work, 0o755), os.Chown(work, nobody, nobody), os.Chmod(dir, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run", tests, sample.Flag(), "-test.v")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "HOME="+work, "TMPDIR="+work, testDir+"="+work)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{secondGroup}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("as user %d: %v\n%s", nobody, err, out)
	}
	logFigures(t, "", out)
}

// logFigures logs the figures printed by another test program.
func logFigures(t *testing.T, on string, out []byte) {
	t.Helper()
	for line := range bytes.Lines(out) {
		if _, figure, found := bytes.Cut(line, []byte("figure: ")); found {
			t.Logf("figure: %s%s", on, bytes.TrimSpace(figure))
		}
	}
}
