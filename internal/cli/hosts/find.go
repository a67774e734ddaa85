package hosts

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
	"github.com/umpirehq/umpire/internal/files/lazyregexp"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/setup"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A claudeFile is a settings file that Claude Code may read.
type claudeFile struct {
	Scope string // user, project, local or managed
	Path  string
}

// claudeFiles are the settings files of Claude Code, whether they exist or not.
func claudeFiles(a *app.App) []claudeFile {
	var files []claudeFile
	if path, err := userFile(a, setup.Claude); err == nil {
		files = append(files, claudeFile{"user", path})
	}
	if p, err := a.FindProject(a.Dir); err == nil {
		dir := filepath.Join(p.Root, ".claude")
		// In the home folder it is the person's own.
		if path := filepath.Join(dir, "settings.json"); len(files) == 0 || path != files[0].Path {
			files = append(files, claudeFile{"project", path})
		}
		files = append(files, claudeFile{"local", filepath.Join(dir, "settings.local.json")})
	}
	for _, path := range setup.ManagedFiles() {
		files = append(files, claudeFile{"managed", path})
	}
	return files
}

// userFile is the person's own settings file of a host.
func userFile(a *app.App, s setup.Settings) (string, error) {
	path, err := s.Place.Path(a.UserHome(), a.Getenv)
	if err != nil {
		return "", app.Usage("", "%w", err)
	}
	return path, nil
}

// hostDir returns the folder that the person has set for a host instead of the usual one,
// or "". A folder shared by all programs is not the host's.
func hostDir(getenv func(string) string, s setup.Settings) string {
	if s.Place.Variable == "" || strings.HasPrefix(s.Place.Variable, "XDG_") || getenv(s.Place.Variable) == "" {
		return ""
	}
	return filepath.Clean(getenv(s.Place.Variable))
}

// A hostProgram is the program of a host that would be started here.
type hostProgram struct{ Path, Version string }

// String describes the result in English.
func (f hostProgram) String() string { return f.In(catalogue.English) }

// In describes the result in a language.
func (f hostProgram) In(text *catalogue.Language) string {
	switch {
	case f.Path == "":
		return text.Of("not found on PATH")
	case f.Version == "":
		return fmt.Sprintf(text.Of("version unknown (%s)"), view.Visible(f.Path))
	}
	return view.Visible(f.Version + " (" + f.Path + ")")
}

// versionTimeout bounds `claude --version`, which takes half a second.
const versionTimeout = 10 * time.Second

// maxVersion limits the stored output of the program, in bytes.
const maxVersion = 200

// versionWord matches the version in a program's output.
var versionWord = lazyregexp.Regexp{Text: `^v?[0-9]+(\.[0-9]+)+`}

// findProgram asks the program of a host on PATH for its version. The program does not see any keys.
func findProgram(ctx context.Context, a *app.App, h *host.Host) hostProgram {
	var path string
	for _, name := range h.Program {
		if path = lookPath(a.Getenv, name); path != "" {
			break
		}
	}
	if path == "" {
		return hostProgram{}
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{"PATH=" + a.Getenv("PATH"), "HOME=" + a.UserHome()}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return hostProgram{Path: path}
	}
	for word := range strings.FieldsSeq(string(out[:min(len(out), maxVersion)])) {
		if versionWord.Get().MatchString(word) {
			return hostProgram{path, strings.TrimRight(word, ".,")} // it may end a sentence
		}
	}
	return hostProgram{Path: path}
}

// lookPath finds a program on PATH. It ignores relative entries, because their meaning
// depends on the working directory.
func lookPath(getenv func(string) string, name string) string {
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	return ""
}

// hookBinary returns the absolute path of the program that agents start for each call:
// umpire-hook if it is next to umpire.
func (j *initJob) hookBinary() (string, error) {
	path, err := j.binary()
	if err != nil {
		return "", err
	}
	if j.observe {
		return path, nil // umpire-hook cannot tell that its failures may stop nothing
	}
	return cmp.Or(app.SmallHook(path), path), nil
}

// binary returns the absolute path with which agents start umpire.
func (j *initJob) binary() (string, error) {
	if j.Executable == "" {
		return "", app.Failed(errors.New("cannot determine the path of the umpire program"))
	}
	path, err := filepath.EvalSymlinks(j.Executable)
	if err != nil {
		return "", app.Failed(err)
	}
	if why := explainFleeting(j.App, path); why != "" {
		warning := j.Text.Of("the agent will start %s, which %s; install umpire elsewhere and run umpire setup again")
		j.addWarning(fmt.Sprintf(warning, path, j.Text.Of(why)))
	}
	return path, nil
}

// explainFleeting returns why a program's file may disappear, or "".
func explainFleeting(a *app.App, path string) string {
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "is a build of `go run` that will be deleted"
	}
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if files.Within(resolved(dir), path) {
			return "is in a temporary folder"
		}
	}
	if p, err := a.FindProject(a.Dir); err == nil && files.Within(resolved(p.Root), path) {
		return "is in the project, where the agent can change it"
	}
	return ""
}

// resolved returns a folder with links resolved, or unchanged if it does not exist.
func resolved(dir string) string {
	if to, err := files.Canonical(dir); err == nil {
		return to
	}
	return dir
}
