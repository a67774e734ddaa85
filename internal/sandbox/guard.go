package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/files"
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

// A guarded is what stays as it is in writable folders.
type guarded struct {
	// paths are there, and are made read-only; pinned are the folders they lie in.
	paths, pinned []string
	// absent are not there, and must not be made.
	absent []string
	// links are watched: they must be the same when the command has ended. missing are
	// watched, too: nothing can be put in their place meanwhile.
	links, missing []string

	// beside are folders that are writable for just this command. Nothing is put into them.
	beside []string

	roots, tops, settings, gits []string // writable folders, and what git keeps in them
}

// folder finds what is to be guarded in a folder.
func (g *guarded) folder(root, home string) {
	g.roots = append(g.roots, root)
	for _, name := range guardedNames {
		g.add(root, name)
	}
	if home != "" && below(home, root) {
		for _, name := range homeNames {
			g.add(root, strings.TrimPrefix(filepath.Join(home, name), root+"/"))
		}
	}
	for _, name := range homeNames { // people keep these in a repository, and link to them
		path := filepath.Join(home, name)
		if plain, err := filepath.EvalSymlinks(path); err == nil && plain != path && below(plain, root) && plain != root {
			g.add(root, strings.TrimPrefix(plain, root+"/"))
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
	g.follow(p.Home)
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
	if slices.Contains(g.paths, path) || slices.Contains(g.absent, path) || slices.Contains(g.links, path) {
		return
	}
	info, err := os.Lstat(path)
	if err != nil && !plainFolder(filepath.Dir(path)) {
		return // a folder on the way is missing or elsewhere; its name decides nothing
	}
	g.pin(root, filepath.Dir(path))
	switch {
	case err != nil && slices.Contains(g.beside, root):
		g.missing = append(g.missing, path)
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

func present(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// below reports whether a path is a folder or in it.
func below(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
