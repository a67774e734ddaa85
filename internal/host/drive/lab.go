package drive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// Key is the agent's fake API key. umpire must never show or keep it.
const Key = "sk-ant-interop-0123456789"

// A Subject is an installed agent, with the umpire to put in front of it.
type Subject struct {
	Agent *Agent
	// Program and Umpire are the programs.
	Program, Umpire string
	// User is the user to start everything as; 0 is the user of this process.
	User int
	// Env is added to the environment of every started program.
	Env []string
}

// A Lab is a user with a home, a project and a copy of umpire, for whom an agent plays the script
// of a model.
type Lab struct {
	Subject
	Model *Model

	dir     string
	guarded bool // umpire is in front of the agent
}

// NewLab makes a lab in an existing folder. Its path must be short: the path of a gate's socket may
// have at most 103 bytes.
func (s *Subject) NewLab(dir string, m *Model) (*Lab, error) {
	l := &Lab{Subject: *s, Model: m, dir: dir}
	l.Umpire = filepath.Join(dir, "bin", "umpire")
	if err := os.Chmod(dir, 0o755); err != nil { // the user must be able to enter it
		return nil, err
	}
	for _, name := range []string{"home", "project", "outside", "bin", "tmp"} {
		if err := os.Mkdir(l.Path(name), 0o755); err != nil {
			return nil, err
		}
		if err := l.give(name); err != nil {
			return nil, err
		}
	}
	if err := copyProgram(s.Umpire, l.Umpire); err != nil {
		return nil, err
	}
	return l, l.Write("project/README.md", "# A project\n")
}

// copyProgram links a program, or copies it if that is not possible. A program that was just
// written can be busy: a starting process may still hold it open.
func copyProgram(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}

// Path returns a path in the lab; name starts with home, project, outside, bin or tmp.
func (l *Lab) Path(name string) string { return filepath.Join(l.dir, name) }

// Home is the home directory of the lab's user.
func (l *Lab) Home() string { return l.Path("home") }

// Project is the folder that the agent works in.
func (l *Lab) Project() string { return l.Path("project") }

// Write writes a file owned by the user, and creates the folders above it.
func (l *Lab) Write(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(l.Path(name)), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(l.Path(name), []byte(text), 0o600); err != nil {
		return err
	}
	return l.give(name)
}

// give makes the user the owner of a path and of the folders above it.
func (l *Lab) give(name string) error {
	for at := name; l.User != 0 && at != "."; at = filepath.Dir(at) {
		if err := os.Lchown(l.Path(at), l.User, l.User); err != nil {
			return err
		}
	}
	return nil
}

// Exists reports whether a path exists.
func (l *Lab) Exists(name string) bool {
	_, err := os.Lstat(l.Path(name))
	return err == nil
}

// environ returns the whole environment of a started program.
func (l *Lab) environ() []string {
	env := append([]string{
		"HOME=" + l.Home(), "PATH=" + l.searchPath(), "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + l.Path("tmp"),
		"SHELL=/bin/bash", // the user's shell
	}, l.Env...)
	if l.Model != nil && l.Agent != nil {
		env = append(env, l.Agent.Env(l)...)
	}
	return env
}

// searchPath contains the agent, the programs of the lab, and those of the system.
func (l *Lab) searchPath() string {
	dirs := []string{filepath.Dir(l.Program), l.Path("bin"), "/usr/local/bin", "/usr/bin", "/bin"}
	for _, name := range []string{"node", "go"} {
		if tool, err := exec.LookPath(name); err == nil {
			dirs = append(dirs, filepath.Dir(tool))
		}
	}
	return strings.Join(dirs, string(os.PathListSeparator))
}

// Command returns a program to be started by the user in the project.
func (l *Lab) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = l.Project(), l.environ(), time.Second
	setUser(cmd, l.User)
	return cmd
}

// Exec runs a program in the project and returns its output and exit code.
func (l *Lab) Exec(ctx context.Context, name string, args ...string) (string, int, error) {
	out, err := l.Command(ctx, name, args...).CombinedOutput()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), ended.ExitCode(), nil
	}
	return string(out), 0, err
}

// Require runs a program that must succeed, and returns its output.
func (l *Lab) Require(ctx context.Context, name string, args ...string) (string, error) {
	out, code, err := l.Exec(ctx, name, args...)
	if err == nil && code != 0 {
		err = umpire.Errorf("%s: exit code %d: %s", strings.Join(append([]string{name}, args...), " "), code, out)
	}
	return out, err
}

// rules are the user's rules.
const rules = `{"version": 1, "rules": [
  {"id": "made", "action": "allow", "tool": "Bash", "match": {"commandPrefix": "touch made"}},
  {"id": "denied", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "touch denied"}},
  {"id": "asked", "action": "ask", "tool": "Bash", "match": {"commandPrefix": "touch asked"}}
]}`

// SetUp makes the project a repository, and writes the settings and the rules: they allow "touch made", deny
// "touch denied" and ask about "touch asked".
func (l *Lab) SetUp(ctx context.Context) error {
	if _, err := l.Require(ctx, "git", "init", "-q"); err != nil {
		return err
	}
	if err := l.Write("home/.umpire/permissions.json", rules); err != nil {
		return err
	}
	if err := os.Chmod(l.Path("home/.umpire"), 0o700); err != nil {
		return err
	}
	return l.Prepare()
}

// Prepare writes the settings that start the agent on the scripted model.
func (l *Lab) Prepare() error {
	if l.Agent.Settings == nil {
		return nil
	}
	for name, text := range l.Agent.Settings(l) {
		if err := l.Write(name, text); err != nil {
			return err
		}
	}
	return nil
}

// Register puts umpire in front of the agent, the same way a user does. The options are for umpire setup.
func (l *Lab) Register(ctx context.Context, options ...string) error {
	l.guarded = true
	_, err := l.Require(ctx, l.Umpire, append([]string{"setup", l.Agent.Name}, options...)...)
	return err
}

// Play starts the agent with the options of a mode, lets it play the script, and returns its output. All
// its processes have ended then.
func (l *Lab) Play(ctx context.Context, options []string) (string, error) {
	out := &strings.Builder{}
	cmd := exec.Command(l.Program, l.Agent.Args(l, options)...) //nolint:noctx // the group is ended
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = l.Project(), l.environ(), out, out
	cmd.WaitDelay = time.Second
	process.Own(cmd)
	setUser(cmd, l.User)
	group, err := process.Start(cmd)
	if err != nil {
		return "", err
	}
	select {
	case <-group.Done: //nolint:errcheck // agents end with any exit code
	case <-ctx.Done():
		group.Stop(0)
		return out.String(), umpire.Errorf("%s did not end: %w", l.Agent.Name, ctx.Err())
	}
	return out.String(), nil
}

// PlayTurns sets turns as the script, with the calls numbered from call_1, and plays it. It returns the first
// call whose result the agent has not reported to the model, or nil. If umpire denied a call and that ended
// the run, no call is missing.
func (l *Lab) PlayTurns(
	ctx context.Context, play func(context.Context) (string, error), turns ...Turn,
) (out string, missing *Call, err error) {
	var calls []*Call
	for _, turn := range turns {
		for i := range turn {
			calls = append(calls, &turn[i])
			turn[i].ID = fmt.Sprintf("call_%d", len(calls))
		}
	}
	l.Model.setScript(turns)
	if out, err = play(ctx); err != nil {
		return out, nil, umpire.Errorf("%w: %s", err, out)
	}
	for _, call := range calls {
		switch _, ok := l.Model.Result(call.ID); {
		case ok:
		case l.MayHaveEnded(call.ID):
			return out, nil, nil
		default:
			return out, call, nil
		}
	}
	return out, nil, nil
}

// MayHaveEnded reports whether a call that the model has made may have ended the run.
func (l *Lab) MayHaveEnded(call string) bool {
	return l.guarded && l.Agent.EndsAtDenial() && l.Model.Made(call)
}
