package drive

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/process"
)

// Key is the agent's fake API key. umpire must never show or keep it.
const Key = "sk-ant-interop-0123456789"

// A Subject is an agent to examine, with the umpire in front of it.
type Subject struct {
	Driver *Driver
	// Program and Umpire are the programs.
	Program, Umpire string
	// User is the user to start everything as; 0 is the user of this process.
	User int
	// Env is added to the environment of every started program.
	Env []string
	// Log receives the results that the agent reports to the model; it may be nil.
	Log func(call string, r Result)
}

// A Lab is a user with a home, a project and a copy of umpire, for whom an agent plays the script
// of a model.
type Lab struct {
	Subject
	Model *Model

	dir string
	// guarded is set if umpire is in front of the agent, and proxied if it is between the agent and
	// its editor.
	guarded, proxied bool
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

// WriteProgram puts a script next to umpire, on the search path.
func (l *Lab) WriteProgram(name, script string) error {
	if err := l.Write("bin/"+name, script); err != nil {
		return err
	}
	return os.Chmod(l.Path("bin/"+name), 0o755)
}

// ReplaceUmpire replaces umpire by a script, or removes it.
func (l *Lab) ReplaceUmpire(script string) error {
	if err := os.Remove(l.Umpire); err != nil || script == "" {
		return err
	}
	return l.WriteProgram("umpire", script)
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
	if l.Model != nil && l.Driver != nil {
		env = append(env, l.Driver.Env(l)...)
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

// require runs a program that must succeed, and returns its output.
func (l *Lab) require(ctx context.Context, name string, args ...string) (string, error) {
	out, code, err := l.Exec(ctx, name, args...)
	if err == nil && code != 0 {
		err = umpire.Errorf("%s: exit code %d: %s", strings.Join(append([]string{name}, args...), " "), code, out)
	}
	return out, err
}

// Prepare writes the settings that start the agent on the scripted model.
func (l *Lab) Prepare() error {
	if l.Driver.Settings == nil {
		return nil
	}
	for name, text := range l.Driver.Settings(l) {
		if err := l.Write(name, text); err != nil {
			return err
		}
	}
	return nil
}

// Register puts umpire in front of the agent, the same way a user does.
func (l *Lab) Register(ctx context.Context) error {
	l.guarded = true
	if l.Driver.Proxy != "" {
		l.proxied = true
		return nil
	}
	words := []string{"init", l.Driver.Name}
	if h := host.Find(l.Driver.Name); h != nil && h.Evidence == host.Documented {
		words = append(words, "--unproven")
	}
	_, err := l.require(ctx, l.Umpire, words...)
	return err
}

// Play starts the agent in one of its modes, lets it play the script, and returns its output. All
// its processes have ended then.
func (l *Lab) Play(ctx context.Context, mode Mode) (string, error) {
	if l.Driver.Editor != nil {
		words := []string{l.Program}
		if l.proxied {
			words = []string{l.Umpire, l.Driver.Proxy, "--", l.Program}
		}
		return l.Driver.Editor(ctx, l, words, mode)
	}
	out := &strings.Builder{}
	cmd := exec.Command(l.Program, l.Driver.Args(l, mode)...) //nolint:noctx // the group is ended
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
		return out.String(), umpire.Errorf("%s did not end: %w", l.Driver.Name, ctx.Err())
	}
	return out.String(), nil
}
