package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// A Box is the sandbox of one command. Close it when the command has ended, or could
// not be started.
type Box struct {
	// Notes say what was found when it was closed, for the person and the model.
	Notes []string

	holdings // what the system needs for it

	cmd     *exec.Cmd
	folders []string            // those that may be written
	roots   map[string]*os.Root // by folder
	watched map[string]string   // what nothing holds in place, and the link that it was; "" for nothing
	slot    func()

	known   []string // git directories that there were before
	indexes string   // as they were then
	allowed []string // what a person allowed by its name
	since   int64    // when the first command of the session was prepared
}

// in is the writable folder that a path lies in, and the path from there. What is done by
// these stays in the folder, even if a command that still runs puts a link in the way.
func (b *Box) in(path string) (*os.Root, string, error) {
	for _, folder := range b.folders {
		if !below(path, folder) || path == folder {
			continue
		}
		name := strings.TrimPrefix(path, strings.TrimSuffix(folder, "/")+"/")
		if root := b.roots[folder]; root != nil {
			return root, name, nil
		}
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, "", err
		}
		if b.roots == nil {
			b.roots = map[string]*os.Root{}
		}
		b.roots[folder] = root
		return root, name, nil
	}
	return nil, "", fmt.Errorf("%s lies in no writable folder", path)
}

// Wrap makes a command start in the sandbox. The command must not have been started,
// and must not have ExtraFiles. With full access it is left as it is.
func (p *Place) Wrap(cmd *exec.Cmd, limits Limits) (*Box, error) {
	if limits.Mode == umpire.SandboxFullAccess {
		return &Box{}, nil
	}
	if len(cmd.ExtraFiles) > 0 {
		return nil, errors.New("a command with further files cannot be run in the sandbox")
	}
	b := &Box{cmd: cmd}
	o, err := p.order(cmd, limits, limits.layers(), b)
	if err == nil {
		err = b.hand(cmd, o)
	}
	if err != nil {
		_ = b.Close(nil) // the first error says more
		return nil, &SetupError{Step: "prepare", Reason: err.Error()}
	}
	return b, nil
}

// Close frees what the sandbox needed, and returns how the command ended: the error
// that it is given, or a SetupError when the command did not start at all.
func (b *Box) Close(ended error) error {
	if b.slot != nil {
		b.slot()
	}
	b.takeAway()
	b.lookForRepositories()
	err := b.letGo(ended)
	for _, root := range b.roots {
		_ = root.Close() // it was only looked at
	}
	return err
}

// watch lists what is looked at afterwards, since nothing can be mounted on it: links,
// files that git would take settings from, and those by which a git directory can be made
// to follow another one's.
func watch(folders, links, missing []string) map[string]string {
	all := map[string]string{}
	for _, path := range missing {
		all[path] = ""
	}
	for _, dir := range folders {
		if path := filepath.Join(dir, "commondir"); isGitFolder(dir) && !present(path) {
			all[path] = ""
		}
	}
	for _, path := range links {
		if to, err := os.Readlink(path); err == nil {
			all[path] = to
		}
	}
	return all
}

// untrusted is added to the name of what was put where something was watched.
const untrusted = ".untrusted"

// takeAway renames what was put in the place of what is watched, and restores links.
func (b *Box) takeAway() {
	for _, path := range slices.Sorted(maps.Keys(b.watched)) {
		was := b.watched[path]
		if now, _ := os.Readlink(path); was == now && (was != "" || !present(path)) {
			continue
		}
		note := fmt.Sprintf("the command changed %s, by which programs are run without anyone asking", path)
		if present(path) {
			if err := b.setAside(path); err != nil {
				b.Notes = append(b.Notes, note+fmt.Sprintf("; it could not be renamed: %v", err))
				continue
			}
			note += "; what it made is " + path + untrusted + " now"
		}
		if was != "" {
			if err := b.restore(path, was); err != nil {
				note += fmt.Sprintf("; it could not be restored: %v", err)
			}
		}
		b.Notes = append(b.Notes, note)
	}
}

// setAside renames a path.
func (b *Box) setAside(path string) error {
	root, name, err := b.in(path)
	if err != nil {
		return err
	}
	return root.Rename(name, name+untrusted)
}

// restore makes a path the link again that it was.
func (b *Box) restore(path, was string) error {
	root, name, err := b.in(path)
	if err != nil {
		return err
	}
	return root.Symlink(was, name)
}
