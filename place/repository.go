package place

import (
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
)

// maxWorktrees is the maximum number of sibling worktrees to look at.
const maxWorktrees = 1000

// A Repository is a git repository seen from one of its worktrees. All paths are canonical. The
// zero value means that there is no repository.
type Repository struct {
	Root     string // the worktree's top folder
	GitDir   string // this worktree's own git directory
	Common   string // the git directory that all worktrees share
	Worktree string // name of the linked worktree, "" for the main one
}

// openRepository reads the repository that root's .git leads to. It returns the zero value if
// root is "". Any creator of the folder controls its .git, so a git directory elsewhere counts
// only if it names the folder in return. Otherwise an unpacked archive could claim the
// identity, and the grants, of an unrelated repository.
func openRepository(root string) (Repository, error) {
	if root == "" {
		return Repository{}, nil
	}
	dotGit := filepath.Join(root, ".git")
	gitDir, err := gitdir.Find(dotGit)
	if err != nil {
		return Repository{}, umpire.Errorf("identity from path: %q does not lead to a repository: %w", dotGit, err)
	}
	r := Repository{Root: root, GitDir: gitDir, Common: gitDir}
	if line, err := files.ReadLine(filepath.Join(gitDir, "commondir")); err == nil {
		if r.Common, err = files.Canonical(files.AbsoluteFrom(gitDir, line)); err != nil {
			return Repository{}, umpire.Errorf("identity from path: %q: commondir: %w", dotGit, err)
		}
		r.Worktree = filepath.Base(gitDir)
	}
	if !r.confirmed() {
		return Repository{}, umpire.Errorf("identity from path: repository %q does not confirm %q", r.Common, dotGit)
	}
	return r, nil
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

// configWorktree returns core.worktree of a configuration file as git writes it for a
// submodule, or "".
func configWorktree(name string) string {
	data, err := files.ReadSmall(name, gitdir.MaxFile)
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

// siblings returns the other worktrees below root. Agents often put worktrees inside the
// repository; each still belongs to another session.
func (r *Repository) siblings(root string) []string {
	if r.Common == "" {
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
		if err == nil && path != root && path != r.Root && files.Within(root, path) {
			found = append(found, path)
		}
	}
	return found
}
