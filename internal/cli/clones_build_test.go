//go:build unix

package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// A clone is a hostile repository: an archive in testdata/clones. Its comment is a script
// that adds the things an archive cannot hold to the committed files. Some of its files
// are not part of the project: calls lists the commands that an agent would run in it
// besides commonCalls, person is a script for the person afterwards, and environment lists
// variables that a host takes from its settings, each tried alone.
type clone struct {
	name               string
	script, person     string
	calls, environment []string
	files              []txtar.File
}

const clonesDir = "../../testdata/clones"

// commonCalls are tried in every clone.
var commonCalls = []string{
	"ls -la", "cat docs/notes.md", "grep -rn a .", "find . -name '*.md'",
	"git status", "git diff", "git log -1", "git show --stat", "cd . && git status --short",
	"npm test", "npm view left-pad", "yarn --version", "pnpm list", "bun pm ls", "cargo tree", "mvn -v", "gradle -v",
	"make test", "pytest", "python3 -m json.tool data.json", "pip list", "go version",
}

func readClones(t *testing.T) []clone {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(clonesDir, "*.txtar"))
	if err != nil || len(names) < 20 {
		t.Fatalf("%d clones, %v", len(names), err)
	}
	clones := make([]clone, 0, len(names))
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c := clone{name: strings.TrimSuffix(filepath.Base(name), ".txtar"), script: string(archive.Comment), calls: commonCalls}
		for _, f := range archive.Files {
			lines := strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			switch f.Name {
			case "calls":
				c.calls = append(lines, commonCalls...)
			case "person":
				c.person = string(f.Data)
			case "environment":
				c.environment = lines
			default:
				c.files = append(c.files, f)
			}
		}
		clones = append(clones, c)
	}
	return clones
}

// Secrets of a person, which no call may show.
const (
	personKey   = "PRIVATE-KEY-OF-THE-PERSON"
	personToken = "TOKEN-OF-THE-PERSON"
)

// An opened is a clone in a new folder, with a person's home, programs that treat a
// project's settings like the real ones, and a listener.
type opened struct {
	clone
	top, dir, home string
	env            []string
	listener       *listener
}

// open creates the clone. Its result is the same each time, except for the names of the folders.
func (c clone) open(t *testing.T) *opened {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &opened{clone: c, top: top, dir: filepath.Join(top, "clone"), home: filepath.Join(top, "home"), listener: &listener{Listener: server}}
	t.Cleanup(func() { _ = server.Close() })
	go o.listener.count()
	o.env = append(withoutVariables(os.Environ(), "UMPIRE_", "GIT_", "CLAUDE"),
		"HOME="+o.home, "PATH="+filepath.Join(top, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"), "GITHUB_TOKEN="+personToken,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
		raceEnv)
	o.write(t, filepath.Join(o.home, ".ssh", "id_rsa"), personKey+"\n", 0o600)
	o.write(t, filepath.Join(top, "marks", "payload"), "", 0o644)
	o.write(t, filepath.Join(top, "marks", "started"), "", 0o644)
	programs, err := os.ReadDir(filepath.Join(clonesDir, "bin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		text, err := os.ReadFile(filepath.Join(clonesDir, "bin", p.Name()))
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(top, "bin")
		if p.Name() == "payload" {
			dir = o.dir
		}
		o.write(t, filepath.Join(dir, p.Name()), string(text), 0o755)
	}
	for _, f := range c.files {
		o.write(t, filepath.Join(o.dir, f.Name), string(f.Data), 0o644)
	}
	o.mustRun(t, "git init -q -b main && git add -A && git commit -q -m clone")
	o.mustRun(t, c.script)
	if o.payloads(t) != 0 {
		t.Fatal("making the clone ran its payload")
	}
	return o
}

func (o *opened) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(o.fill(text)), mode); err != nil {
		t.Fatal(err)
	}
}

// fill replaces the names of the folders and the listener.
func (o *opened) fill(text string) string {
	address := o.listener.Addr().String()
	return strings.NewReplacer("CLONE", o.dir, "MARKS", filepath.Join(o.top, "marks"), "LISTENER", address,
		"SLASHED", strings.ReplaceAll(address, ":", "/")).Replace(text)
}

func withoutVariables(env []string, prefixes ...string) (kept []string) {
	for _, variable := range env {
		has := false
		for _, prefix := range prefixes {
			has = has || strings.HasPrefix(variable, prefix)
		}
		if !has {
			kept = append(kept, variable)
		}
	}
	return kept
}

// callTime bounds one command of a clone, which may wait for something that never comes.
const callTime = 20 * time.Second

// bash runs a line as a host would, without a sandbox, and returns its output.
func (o *opened) bash(line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = o.dir, o.env, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	_ = cmd.Cancel() // its remaining processes would keep the listener open
	return string(out), err
}

func (o *opened) mustRun(t *testing.T, script string) {
	t.Helper()
	if out, err := o.bash("set -e\n" + o.fill(script)); err != nil {
		t.Fatalf("making the clone: %v\n%s", err, out)
	}
}

// payloads counts the runs of the clone's code outside of a sandbox, because only there
// can it write to the place of the marks.
func (o *opened) payloads(t *testing.T) int { return o.marks(t, "payload") }

func (o *opened) marks(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.top, "marks", name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// sent is how many connections were made to the listener.
func (o *opened) sent(t *testing.T) int64 {
	t.Helper()
	conn, err := net.Dial("tcp", o.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	_, _ = io.Copy(io.Discard, conn) // ends once all before it were counted
	_ = conn.Close()
	return o.listener.bytes.Load() + o.listener.calls.Swap(0) - 1
}

// ran counts how often the clone's code ran at all, in a sandbox or not.
func (o *opened) ran() int {
	text, _ := os.ReadFile(filepath.Join(o.dir, ".ran"))
	return bytes.Count(text, []byte("\n"))
}
