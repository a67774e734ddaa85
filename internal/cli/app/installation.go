package app

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// An Installation says how this program was installed.
type Installation struct {
	By      string   `json:"installed_by"` // "npm", "homebrew", "deb", "rpm", "clone", "go" or "files"
	Upgrade string   `json:"upgrade"`      // the command that puts a newer one in its place
	Remove  string   `json:"remove"`       // the command that removes it, or "" if deleting the files is enough
	Files   []string `json:"files"`        // the programs, and the files installed with them
}

// programNames are the programs of umpire, which are in one folder.
var programNames = []string{"umpire", "umpire-hook"}

// module is the module path of umpire.
const module = "github.com/umpirehq/umpire"

const installScript = "https://" + module + "/releases/latest/download/install.sh"

// FindInstallation finds out from the program's path how it was installed.
func (a *App) FindInstallation(ctx context.Context) Installation {
	dir := filepath.Dir(a.Executable)
	var found []string
	for _, name := range programNames {
		path := filepath.Join(dir, name+filepath.Ext(a.Executable))
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			found = append(found, path)
		}
	}
	installed := Installation{By: "files", Upgrade: "curl -fsSL " + installScript + " | sh", Files: found}
	target, err := filepath.EvalSymlinks(a.Executable)
	if err != nil {
		return installed
	}
	slashed := filepath.ToSlash(target)
	switch {
	case strings.Contains(slashed, "/node_modules/"):
		installed.By, installed.Upgrade = "npm", "npm install --global @umpirehq/umpire@latest"
		installed.Remove = "npm uninstall --global @umpirehq/umpire"
	case strings.Contains(slashed, "/Cellar/"):
		installed.By = "homebrew"
		installed.Upgrade, installed.Remove = "brew upgrade umpire", "brew uninstall umpire"
	case owns(ctx, "dpkg-query", "--search", target):
		installed.By = "deb"
		installed.Upgrade, installed.Remove = "sudo apt-get install --only-upgrade umpire", "sudo apt-get remove umpire"
	case owns(ctx, "rpm", "--query", "--file", target):
		installed.By = "rpm"
		installed.Upgrade, installed.Remove = "sudo dnf upgrade umpire", "sudo dnf remove umpire"
	case release == "" && !fetched():
		installed.By, installed.Upgrade = "clone", "git pull && ./install"
	case release == "":
		installed.By, installed.Upgrade = "go", "CGO_ENABLED=0 go install "+module+"/cmd/...@latest"
	default:
		installed.Files = append(installed.Files, a.completionFiles()...)
	}
	return installed
}

// fetched reports whether the go command built the program from a downloaded module, not from a clone: only
// downloads have a checksum.
func fetched() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && info.Main.Sum != ""
}

// completionFiles are the completions of shells that packaging/install.sh has written.
func (a *App) completionFiles() (found []string) {
	data := cmp.Or(a.Getenv("XDG_DATA_HOME"), filepath.Join(a.UserHome(), ".local", "share"))
	conf := cmp.Or(a.Getenv("XDG_CONFIG_HOME"), filepath.Join(a.UserHome(), ".config"))
	for _, path := range []string{
		filepath.Join(data, "bash-completion", "completions", "umpire"),
		filepath.Join(data, "zsh", "site-functions", "_umpire"),
		filepath.Join(conf, "fish", "completions", "umpire.fish"),
	} {
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// owns reports whether a package manager knows whose file it is.
func owns(ctx context.Context, name string, args ...string) bool {
	path, err := exec.LookPath(name)
	return err == nil && exec.CommandContext(ctx, path, args...).Run() == nil
}
