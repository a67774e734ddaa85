//go:build interop

package interop

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/host/drive"
)

// runLimit bounds one run of Claude Code; most take about five seconds.
const runLimit = 2 * time.Minute

// The words of the scripts.
type (
	toolCall = drive.Call
	turn     = drive.Turn
)

// startModel starts a model that plays turns until the end of the test.
func startModel(t *testing.T, main ...turn) *modelServer {
	t.Helper()
	m, err := StartModel(main...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// A world is a lab in which a missing step ends the test.
type world struct {
	*testing.T
	*Lab
}

// newSubject returns a host with umpire in front of it. An unavailable host fails the test if it
// has a table, because an unused table would become stale unnoticed. With -short it is skipped.
func newSubject(t *testing.T, name string) *subject {
	t.Helper()
	if why := os.Getenv(envSkip + name); why != "" {
		t.Skip(why)
	}
	if why := os.Getenv(envMissing + name); why != "" {
		table := filepath.Join("testdata", name, "matrix.txt")
		if _, err := os.Stat(table); err == nil && !testing.Short() {
			t.Fatalf("%s, so nothing checks %s (UMPIRE_INTEROP_ONLY names the agents to test)", why, table)
		}
		t.Skip(why)
	}
	return &subject{
		Driver: findDriver(name),
		Subject: drive.Subject{
			Program: os.Getenv(envHost + name), Umpire: os.Getenv(envProgram), User: ordinaryUser(),
			Env: []string{
				"GOCACHE=" + os.Getenv(envCache), "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local", "GOPROXY=off",
			},
		},
	}
}

// newLab makes a lab for a host.
func newLab(t *testing.T, name string, m *modelServer) *world {
	t.Helper()
	l, err := newSubject(t, name).NewLab(shortTempDir(t), m)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, Lab: l}
	t.Cleanup(w.noKeyKept)
	return w
}

// newWorld makes a world in which umpire is registered with Claude Code.
func newWorld(t *testing.T, m *modelServer) *world {
	t.Helper()
	w := newLab(t, "claude", m)
	if out, code := w.start("git", "init", "-q"); code != 0 {
		t.Fatalf("git init: %s", out)
	}
	if err := w.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.settings(), `"onFailure": "block"`) {
		t.Fatalf("umpire setup claude: settings: %s", w.settings())
	}
	return w
}

// shortTempDir returns a folder with a short path, because the path of a gate's socket
// may have at most 103 bytes.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "u-") //nolint:usetesting // a test's own folder has a long path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (w *world) write(name, text string) {
	w.Helper()
	if err := w.Write(name, text); err != nil {
		w.Fatal(err)
	}
}

func (w *world) settings() string {
	text, err := os.ReadFile(w.Path("home/.claude/settings.json"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// allowsTouch writes a rule for the user: umpire allows touch.
func (w *world) allowsTouch() {
	w.write("home/.umpire/permissions.json",
		`{"version": 1, "rules": [{"id": "touch", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "touch"}}]}`)
}

// claudeAllows adds a rule to Claude Code's settings that lets every command run, so
// only umpire can stop one.
func (w *world) claudeAllows() {
	w.write("home/.claude/settings.json", strings.Replace(w.settings(), "{\n", "{\n  \"permissions\": {\"allow\": [\"Bash\"]},\n", 1))
}

// program installs a script next to umpire, on the PATH.
func (w *world) program(name, script string) {
	w.Helper()
	if err := w.WriteProgram(name, script); err != nil {
		w.Fatal(err)
	}
}

// replaceUmpire replaces umpire with a script, or removes it.
func (w *world) replaceUmpire(script string) {
	w.Helper()
	if err := w.ReplaceUmpire(script); err != nil {
		w.Fatal(err)
	}
}

// start runs a program in the project and returns its output and exit code.
func (w *world) start(name string, args ...string) (string, int) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), runLimit)
	defer cancel()
	out, code, err := w.Exec(ctx, name, args...)
	if err != nil {
		w.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return out, code
}

// claude lets Claude Code play the model's script.
func (w *world) claude(args ...string) string {
	w.Helper()
	out, _ := w.start(w.Program, append([]string{"-p", "go on", "--model", "scripted", "--output-format", "json"}, args...)...)
	return out
}

// told returns the model's result of a call.
func (w *world) told(id string) drive.Result {
	w.Helper()
	r, ok := w.Model.Result(id)
	if !ok {
		w.Fatalf("the model got no result for %s", id)
	}
	w.Logf("%s: error %v: %.300s", id, r.IsError, r.Text)
	return r
}

// ran checks that a call has run.
func (w *world) ran(id string) {
	w.Helper()
	if r := w.told(id); r.IsError {
		w.Errorf("%s did not run: %s", id, r.Text)
	}
}

// stopped checks that a call was stopped, with a reason for the model.
func (w *world) stopped(id, reason string) {
	w.Helper()
	if r := w.told(id); !r.IsError || !strings.Contains(r.Text, reason) {
		w.Errorf("%s: error %v, want an error with %q:\n%s", id, r.IsError, reason, r.Text)
	}
}

// noKeyKept looks for the key in everything that umpire wrote.
func (w *world) noKeyKept() {
	err := filepath.WalkDir(w.Path("home/.umpire"), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // the gate has closed its database meanwhile
			return nil
		}
		if bytes.Contains(text, []byte(drive.Key)) {
			w.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		w.Error(err)
	}
}
