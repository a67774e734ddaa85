package register

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A ClaudeFile is a settings file that Claude Code may read.
type ClaudeFile struct {
	Scope string // user, project, local or managed
	Path  string
}

// ClaudeFiles are the settings files of Claude Code, whether they exist or not.
func ClaudeFiles(a *app.App) []ClaudeFile {
	var files []ClaudeFile
	if dir, err := claudeDir(a); err == nil {
		files = append(files, ClaudeFile{"user", filepath.Join(dir, "settings.json")})
	}
	if p, err := a.FindProject(a.Dir); err == nil {
		dir := filepath.Join(p.Root, ".claude")
		files = append(files,
			ClaudeFile{"project", filepath.Join(dir, "settings.json")},
			ClaudeFile{"local", filepath.Join(dir, "settings.local.json")})
	}
	for _, path := range setup.ManagedFiles() {
		files = append(files, ClaudeFile{"managed", path})
	}
	return files
}

// claudeConfigDir is the folder that the person has set for Claude Code instead of the
// usual one, or "".
func claudeConfigDir(a *app.App) (string, error) {
	dir := a.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		return "", nil
	}
	if !filepath.IsAbs(dir) {
		return "", app.Usage("", "CLAUDE_CONFIG_DIR: %q is not an absolute path", dir)
	}
	return filepath.Clean(dir), nil
}

// claudeDir is the user's folder of Claude Code.
func claudeDir(a *app.App) (string, error) {
	if dir, err := claudeConfigDir(a); dir != "" || err != nil {
		return dir, err
	}
	home := a.UserHome()
	if home == "" {
		return "", app.Failed(errors.New("the home directory is not known: HOME is empty"))
	}
	return filepath.Join(home, ".claude"), nil
}

// A ClaudeFound is the Claude Code that would be started here.
type ClaudeFound struct{ path, Version string }

// String says it in English.
func (f ClaudeFound) String() string { return f.In(catalogue.English) }

// In says it in a language.
func (f ClaudeFound) In(text *catalogue.Language) string {
	switch {
	case f.path == "":
		return text.Of("not found on PATH")
	case f.Version == "":
		return fmt.Sprintf(text.Of("version unknown (%s)"), view.Visible(f.path))
	}
	return view.Visible(f.Version + " (" + f.path + ")")
}

// versionTimeout bounds `claude --version`, which takes half a second.
const versionTimeout = 10 * time.Second

// maxVersion bounds what is kept of its output.
const maxVersion = 100

// FindClaude asks the claude on PATH for its version. It gets no keys to see.
func FindClaude(ctx context.Context, a *app.App) ClaudeFound {
	path := lookPath(a, "claude")
	if path == "" {
		return ClaudeFound{}
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{"PATH=" + a.Getenv("PATH"), "HOME=" + a.UserHome()}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	words := strings.Fields(string(out[:min(len(out), maxVersion)]))
	if err != nil || len(words) == 0 || !strings.ContainsAny(words[0], "0123456789") {
		return ClaudeFound{path: path}
	}
	return ClaudeFound{path: path, Version: words[0]}
}

// lookPath finds a program on PATH; relative entries do not count, since what
// they lead to depends on the folder.
func lookPath(a *app.App, name string) string {
	for _, dir := range filepath.SplitList(a.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	return ""
}

// hookBinary is the absolute path of the program that agents shall start for each call:
// umpire-hook if it lies next to umpire.
func (j *initJob) hookBinary() (string, error) {
	path, err := j.binary()
	if err != nil {
		return "", err
	}
	return cmp.Or(app.SmallHook(path), path), nil
}

// binary is the absolute path under which agents shall start umpire.
func (j *initJob) binary() (string, error) {
	if j.Executable == "" {
		return "", app.Failed(errors.New("the path of the umpire program cannot be told"))
	}
	path, err := filepath.EvalSymlinks(j.Executable)
	if err != nil {
		return "", app.Failed(err)
	}
	if why := ExplainFleeting(j.App, path); why != "" {
		warning := j.Text.Of("the agent will start %s, which %s; install umpire elsewhere and run init again")
		j.addWarning(fmt.Sprintf(warning, path, j.Text.Of(why)))
	}
	return path, nil
}

// ExplainFleeting says why a program may not stay where it is, or "".
func ExplainFleeting(a *app.App, path string) string {
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "is a build of `go run` that will be deleted"
	}
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if files.Within(resolved(dir), path) {
			return "lies in a temporary folder"
		}
	}
	if p, err := a.FindProject(a.Dir); err == nil && files.Within(resolved(p.Root), path) {
		return "lies in the project, where the agent can change it"
	}
	return ""
}

// resolved is a folder with links followed, or as it is written where it does not exist.
func resolved(dir string) string {
	if to, err := files.Canonical(dir); err == nil {
		return to
	}
	return dir
}
