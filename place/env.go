package place

import (
	"os"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/shell"
)

// Env returns the environment that package shell needs to read the command lines of this
// project: its folders, the settings of the git repositories that a line works in, and the
// files in which a project chooses the server that a program contacts. Its functions read these
// on demand. They start no program.
func (b *Bounds) Env() shell.Env {
	return shell.Env{
		Dir: b.Dir, Home: b.written, IsDir: files.IsFolder,
		Git:    func(dir string) ([]umpire.GitSetting, error) { return gitdir.ReadSettings(dir, b.written) },
		GitTop: gitdir.FindWorktree, Real: realPath,
		Settings: func(dir string, names []string) ([]shell.SettingsFile, error) {
			return settingsFiles(dir, b.written, names)
		},
	}
}

// realPath returns the path of an existing file with its links resolved, or "".
func realPath(path string) string {
	resolved, err := files.Canonical(path)
	if _, statErr := os.Stat(resolved); err != nil || statErr != nil {
		return ""
	}
	return resolved
}

// ResolveAll resolves every path that a call names or may name.
func (b *Bounds) ResolveAll(facts *umpire.Facts) {
	for i := range facts.Accesses {
		b.Resolve(&facts.Accesses[i])
	}
	for i := range facts.Guesses {
		b.Resolve(&facts.Guesses[i])
	}
}
