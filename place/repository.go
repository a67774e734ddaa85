package place

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gitdir"
)

const (
	// maxGitFile bounds the small files of a repository: HEAD, a loose ref, a
	// .git file, a configuration.
	maxGitFile = 1 << 20
	// maxWorktrees bounds how many sibling worktrees are looked at.
	maxWorktrees = 1000
)

// A Repository is a git repository seen from one of its worktrees. All paths
// are canonical. A nil Repository has no siblings.
type Repository struct {
	Root     string // the worktree's top folder
	GitDir   string // this worktree's own git directory
	Common   string // the git directory that all worktrees share
	Worktree string // name of the linked worktree, "" for the main one
}

// openRepository reads what the .git of a folder leads to; the folder "" has
// none. A .git is an assertion by whoever made the folder, so a git directory
// elsewhere is believed only when it names the folder in return: else an
// unpacked archive could claim the identity, and the grants, of a repository
// that it has nothing to do with.
func openRepository(root string) (*Repository, error) {
	if root == "" {
		return nil, nil
	}
	dotGit := filepath.Join(root, ".git")
	gitDir, err := GitDir(dotGit)
	if err != nil {
		return nil, fmt.Errorf("identity from path: %q does not lead to a repository: %w", dotGit, err)
	}
	r := &Repository{Root: root, GitDir: gitDir, Common: gitDir}
	if line, err := files.ReadLine(filepath.Join(gitDir, "commondir")); err == nil {
		if r.Common, err = files.Canonical(files.AbsoluteFrom(gitDir, line)); err != nil {
			return nil, fmt.Errorf("identity from path: %q: commondir: %w", dotGit, err)
		}
		r.Worktree = filepath.Base(gitDir)
	}
	if !r.confirmed() {
		return nil, fmt.Errorf("identity from path: repository %q does not confirm %q", r.Common, dotGit)
	}
	return r, nil
}

// GitDir returns the canonical git directory of a .git folder or file.
func GitDir(dotGit string) (string, error) {
	gitDir := dotGit
	info, err := os.Stat(dotGit)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		line, err := ReadLine(dotGit)
		if err != nil {
			return "", err
		}
		target, ok := strings.CutPrefix(line, "gitdir:")
		if !ok {
			return "", fmt.Errorf("no gitdir line")
		}
		gitDir = absoluteFrom(filepath.Dir(dotGit), strings.TrimSpace(target))
	}
	if gitDir, err = Canonical(gitDir); err != nil {
		return "", err
	}
	_, err = os.Lstat(filepath.Join(gitDir, "HEAD"))
	return gitDir, err
}

// confirmed reports whether the git directory belongs to the root: it is the
// root's own .git folder, or a linked worktree or submodule that names the root.
func (r *Repository) confirmed() bool {
	if r.Worktree != "" {
		back, err := files.ReadLine(filepath.Join(r.GitDir, "gitdir"))
		return err == nil && filepath.Dir(r.GitDir) == filepath.Join(r.Common, "worktrees") &&
			sameParent(files.AbsoluteFrom(r.GitDir, back), r.Root)
	}
	if r.GitDir == filepath.Join(r.Root, ".git") {
		return true
	}
	worktree := configWorktree(filepath.Join(r.GitDir, "config"))
	if worktree == "" {
		return false
	}
	path, err := files.Canonical(files.AbsoluteFrom(r.GitDir, worktree))
	return err == nil && path == r.Root
}

// sameParent reports whether the .git file dotGit lies in the folder root.
func sameParent(dotGit, root string) bool {
	path, err := files.Canonical(filepath.Dir(dotGit))
	return err == nil && path == root && filepath.Base(dotGit) == ".git"
}

// configWorktree returns core.worktree of a configuration file as git writes
// it for a submodule, or "".
func configWorktree(name string) string {
	data, err := ReadSmall(name, maxGitFile)
	if err != nil {
		return ""
	}
	core := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = line == "[core]"
		}
		key, value, ok := strings.Cut(line, "=")
		if core && ok && strings.TrimSpace(key) == "worktree" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// MainRoot returns the folder that stands for all worktrees when the path has
// to give the identity: that of the main worktree where there is one.
func (r *Repository) MainRoot() string {
	if r.Worktree != "" && filepath.Base(r.Common) == ".git" {
		return filepath.Dir(r.Common)
	}
	return r.Root
}

// Shallow reports whether history was cut off when the repository was cloned.
func (r *Repository) Shallow() bool {
	info, err := os.Stat(filepath.Join(r.Common, "shallow"))
	return err == nil && info.Size() > 0
}

// siblings returns the other worktrees that lie below root. Agents like to put
// worktrees inside the repository; they are another session's ground all the same.
func (r *Repository) siblings(root string) []string {
	if r == nil {
		return nil
	}
	dir, _ := files.OpenFolder(filepath.Join(r.Common, "worktrees"))
	if dir == nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxWorktrees)
	var found []string
	for _, name := range names {
		gitDir := filepath.Join(dir.Name(), name)
		back, err := files.ReadLine(filepath.Join(gitDir, "gitdir"))
		if err != nil {
			continue
		}
		path, err := files.Canonical(filepath.Dir(files.AbsoluteFrom(gitDir, back)))
		if err == nil && path != root && path != r.Root && within(root, path, false) {
			found = append(found, path)
		}
	}
	return found
}

// absoluteFrom makes a path that a file names absolute. It does not clean it,
// since a link may stand before a "..".
func absoluteFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + string(filepath.Separator) + path
}
