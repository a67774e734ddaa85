//go:build interop

package interop

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeKey is what Claude Code believes to be its key. Nothing of umpire may
// show or keep it.
const fakeKey = "sk-ant-interop-0123456789"

// runLimit bounds one run of Claude Code; most take about five seconds.
const runLimit = 2 * time.Minute

// A world is a user with a home, a project and an installed umpire.
type world struct {
	*testing.T

	home, project, umpire string
	model                 *model
}

// newWorld makes a world in which umpire is registered for the user.
func newWorld(t *testing.T, m *model) *world {
	t.Helper()
	if why := os.Getenv(envSkip); why != "" {
		t.Skip(why)
	}
	dir := shortTempDir(t)
	w := &world{T: t, model: m, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), umpire: filepath.Join(dir, "bin", "umpire")}
	if err := os.Chmod(dir, 0o755); err != nil { // the world's user passes through it
		t.Fatal(err)
	}
	for _, name := range []string{"home", "project", "outside", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		w.give(name)
	}
	program, err := os.ReadFile(os.Getenv(envProgram))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.umpire, program, 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("project/README.md", "# A project\n")
	if out, code := w.start("git", "init", "-q"); code != 0 {
		t.Fatalf("git init: %s", out)
	}
	out, code := w.start(w.umpire, "init", "claude")
	if code != 0 || !strings.Contains(w.settings(), `"onFailure": "block"`) {
		t.Fatalf("umpire init claude: exit %d\n%s\nsettings: %s", code, out, w.settings())
	}
	t.Cleanup(w.noKeyKept)
	return w
}

// shortTempDir is a folder for a test whose path is short: that of a gate's socket may
// have 103 bytes at most.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "u-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// path is a path in the world; name starts with home, project or outside.
func (w *world) path(name string) string { return filepath.Join(filepath.Dir(w.home), name) }

func (w *world) write(name, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	w.give(name)
}

// give makes the world's user the owner of a path and of the folders above it.
func (w *world) give(name string) {
	w.Helper()
	for at := name; ordinaryUser != 0 && at != "."; at = filepath.Dir(at) {
		if err := os.Lchown(w.path(at), ordinaryUser, ordinaryUser); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) exists(name string) bool {
	_, err := os.Lstat(w.path(name))
	return err == nil
}

func (w *world) settings() string {
	text, err := os.ReadFile(w.path("home/.claude/settings.json"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// allows writes a rule for the user: umpire allows touch.
func (w *world) allowsTouch() {
	w.write("home/.umpire/permissions.json",
		`{"version": 1, "rules": [{"id": "touch", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "touch"}}]}`)
}

// claudeAllows gives Claude Code a rule of its own that lets every command run,
// so that nothing but umpire can stop one.
func (w *world) claudeAllows() {
	w.write("home/.claude/settings.json", strings.Replace(w.settings(), "{\n", "{\n  \"permissions\": {\"allow\": [\"Bash\"]},\n", 1))
}

// program puts a script beside umpire, on the PATH.
func (w *world) program(name, script string) {
	w.Helper()
	w.write("bin/"+name, script)
	if err := os.Chmod(w.path("bin/"+name), 0o755); err != nil {
		w.Fatal(err)
	}
}

// replaceUmpire puts a script in umpire's place, or nothing.
func (w *world) replaceUmpire(script string) {
	w.Helper()
	if err := os.Remove(w.umpire); err != nil {
		w.Fatal(err)
	}
	if script == "" {
		return
	}
	if err := os.WriteFile(w.umpire, []byte(script), 0o755); err != nil {
		w.Fatal(err)
	}
}

// env is the whole environment of what is started.
func (w *world) env() []string {
	env := []string{
		"HOME=" + w.home, "PATH=" + w.searchPath(), "LANG=C.UTF-8", "TERM=dumb",
		"GOCACHE=" + os.Getenv(envCache), "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local", "GOPROXY=off",
		"ANTHROPIC_API_KEY=" + fakeKey, "ANTHROPIC_MODEL=scripted", "ANTHROPIC_SMALL_FAST_MODEL=scripted",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
	}
	if w.model != nil {
		env = append(env, "ANTHROPIC_BASE_URL="+w.model.URL)
	}
	return env
}

// searchPath holds Claude Code, the programs of this world, Go and what a system has.
func (w *world) searchPath() string {
	dirs := []string{filepath.Dir(os.Getenv(envClaude)), w.path("bin"), "/usr/local/bin", "/usr/bin", "/bin"}
	if tool, err := exec.LookPath("go"); err == nil {
		dirs = append(dirs, filepath.Dir(tool))
	}
	return strings.Join(dirs, ":")
}

// start runs a program in the project and returns its output and exit code.
func (w *world) start(name string, args ...string) (string, int) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), runLimit)
	defer cancel()
	cmd := w.command(ctx, name, args...)
	out, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		w.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// claude lets Claude Code play the model's script.
func (w *world) claude(args ...string) string {
	w.Helper()
	out, _ := w.start(os.Getenv(envClaude), append([]string{"-p", "go on", "--model", "scripted", "--output-format", "json"}, args...)...)
	return out
}

// told is what the model read about a call.
func (w *world) told(id string) toolResult {
	w.Helper()
	r, ok := w.model.result(id)
	if !ok {
		w.Fatalf("the model got no result for %s", id)
	}
	w.Logf("%s: error %v: %.300s", id, r.isError, r.text)
	return r
}

// ran wants a call to have run.
func (w *world) ran(id string) {
	w.Helper()
	if r := w.told(id); r.isError {
		w.Errorf("%s did not run: %s", id, r.text)
	}
}

// stopped wants a call to have been stopped, with a reason that the model read.
func (w *world) stopped(id, reason string) {
	w.Helper()
	if r := w.told(id); !r.isError || !strings.Contains(r.text, reason) {
		w.Errorf("%s: error %v, want an error with %q:\n%s", id, r.isError, reason, r.text)
	}
}

// noKeyKept looks for the key in everything that umpire wrote.
func (w *world) noKeyKept() {
	err := filepath.WalkDir(w.path("home/.umpire"), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(fakeKey)) {
			w.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		w.Error(err)
	}
}
