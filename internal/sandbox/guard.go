package sandbox

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file knows what stays as it is inside a folder that may be written: what
// decides what runs without anyone asking. The policy asks about the same files
// (policy, control files); here they are kept from programs of which nobody knew
// that they would write them.

// guardedNames stand in the root of a workspace.
var guardedNames = []string{
	".umpire", ".claude", ".codex", ".cursor", ".gemini", ".muse", ".mcp.json",
	".vscode", ".idea", ".devcontainer", ".husky", ".envrc", ".github/hooks",
}

// homeNames stand in the home directory, for who works in it.
var homeNames = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".config/fish", ".config/systemd", ".config/autostart",
	".gitconfig", ".config/git", ".ssh", ".claude.json", ".umpire",
}

// gitFiles are the parts of a git directory that name programs which git runs.
var gitFiles = []string{"hooks", "config", "config.worktree", "info/attributes"}

// A guarded is what stays as it is in writable folders.
type guarded struct {
	// paths are there, and are made read-only; pinned are the folders they lie in.
	paths, pinned []string
	// absent are not there, and must not be made.
	absent []string
	// links are watched: they must be the same when the command has ended.
	links []string
}

// folder finds what is to be guarded in a folder.
func (g *guarded) folder(root, home string) {
	for _, name := range guardedNames {
		g.add(root, name)
	}
	if home != "" && below(home, root) {
		for _, name := range homeNames {
			g.add(root, strings.TrimPrefix(filepath.Join(home, name), root+"/"))
		}
	}
	for _, dir := range gitFolders(root) {
		g.git(root, dir)
	}
}

// Sweep takes away the empty folders that a command which was killed, with the umpire
// that watched it, left in the place of guarded names. Those in use stay.
func (p *Place) Sweep() {
	var g guarded
	var b Box
	for _, root := range p.Workspace {
		if plain, err := filepath.EvalSymlinks(root); err == nil {
			b.folders = append(b.folders, plain)
			g.folder(plain, p.Home)
		}
	}
	for _, path := range g.paths {
		if isPlaceholder(path) {
			_ = b.keepAbsent(path) // what cannot be taken away waits for the next command
		}
	}
	_ = b.Close(nil) // no command ended
}

// add guards one name below a folder. Nothing can be mounted on a link: what it leads
// to is guarded, and afterwards it is looked at whether it is the same link still.
func (g *guarded) add(root, name string) {
	path := filepath.Join(root, name)
	info, err := os.Lstat(path)
	if err != nil && !plainFolder(filepath.Dir(path)) {
		return // a folder on the way is missing or elsewhere; its name decides nothing
	}
	g.pin(root, filepath.Dir(path))
	switch {
	case err != nil:
		g.absent = append(g.absent, path)
	case info.Mode()&fs.ModeSymlink == 0:
		g.paths = append(g.paths, path)
	default:
		g.links = append(g.links, path)
		if to, err := filepath.EvalSymlinks(path); err == nil && below(to, root) && to != root {
			g.paths = append(g.paths, to)
			g.pin(root, filepath.Dir(to))
		}
	}
}

func plainFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// pin holds the folders between root and dir in place.
func (g *guarded) pin(root, dir string) {
	for ; dir != root && below(dir, root); dir = filepath.Dir(dir) {
		if !slices.Contains(g.pinned, dir) {
			g.pinned = append(g.pinned, dir)
		}
	}
}

// git guards a git directory below a folder, and those of its submodules.
func (g *guarded) git(root, dir string) {
	info, err := os.Lstat(dir)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return
	}
	if !info.IsDir() { // it says where the git directory is
		g.paths = append(g.paths, dir)
		g.pin(root, filepath.Dir(dir))
		return
	}
	g.pin(root, dir)
	for _, name := range gitFiles {
		g.add(root, strings.TrimPrefix(filepath.Join(dir, name), root+"/"))
	}
	for _, name := range hooksElsewhere(filepath.Join(dir, "config")) {
		if path := filepath.Join(filepath.Dir(dir), name); below(path, root) && present(path) {
			g.add(root, strings.TrimPrefix(path, root+"/"))
		}
	}
	for _, pattern := range []string{"modules/*", "modules/*/*", "worktrees/*"} {
		inner, _ := filepath.Glob(filepath.Join(escapePattern(dir), pattern)) // the pattern is well formed
		for _, each := range inner {
			if present(filepath.Join(each, "HEAD")) {
				g.git(root, each)
			}
		}
	}
}

// maxGitConfig bounds how much of git's settings is read.
const maxGitConfig = 1 << 20

// hooksElsewhere are the folders of the work tree that git is told to run hooks from.
func hooksElsewhere(config string) []string {
	f, err := os.Open(config)
	if err != nil {
		return nil
	}
	defer f.Close()
	var found []string
	for lines := bufio.NewScanner(io.LimitReader(f, maxGitConfig)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if strings.EqualFold(strings.TrimSpace(key), "hooksPath") && filepath.IsLocal(value) && value != "." {
			found = append(found, value)
		}
	}
	return found
}

func escapePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// The limits of looking for repositories inside of a workspace.
const (
	gitDepth      = 3
	maxGitFolders = 400
)

// gitFolders are the git directories of a folder: its own, and those of repositories
// a few folders down.
func gitFolders(root string) []string {
	var found []string
	if isGitFolder(root) {
		found = append(found, root) // a bare one, or the one that worktrees share
	}
	level := []string{root}
	looked := 0
	for range gitDepth + 1 {
		var next []string
		for _, dir := range level {
			if looked++; looked > maxGitFolders {
				return found
			}
			entries, _ := os.ReadDir(dir) // what cannot be read holds nothing that could be written
			for _, e := range entries {
				path := filepath.Join(dir, e.Name())
				switch {
				case e.Name() == ".git":
					found = append(found, path)
				case e.IsDir() && e.Name() != "node_modules" && !isGitFolder(dir):
					next = append(next, path)
				}
			}
		}
		level = next
	}
	return found
}

// isGitFolder reports whether a folder is a git directory itself.
func isGitFolder(dir string) bool {
	return present(filepath.Join(dir, "HEAD")) && present(filepath.Join(dir, "objects"))
}

func present(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// below reports whether a path is a folder or in it.
func below(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
