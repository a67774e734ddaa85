package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
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
	// Held says what else it could not write, for a command that failed.
	Held string
	// Seen is what was observed, if it was to be.
	Seen Sight

	holdings // what the system needs for it

	cmd     *exec.Cmd
	ahead   *Ahead              // the helper, where it was started already
	folders []string            // those that may be written
	roots   map[string]*os.Root // by folder
	watched map[string]string   // what nothing holds in place, and the link that it was; "" for nothing
	slot    func()

	place   *Place
	sealed  []string // folders that are not looked into, since they are read-only
	allowed []string // what a person allowed by its name
	verbs   []string // of git, that the command line itself runs
	counted bool     // among the running ones
}

// in is the writable folder that a path lies in, and the path from there. What is done by
// these stays in the folder, even if a command that still runs puts a link in the way.
func (b *Box) in(path string) (*os.Root, string, error) {
	for _, folder := range b.folders {
		if !files.Within(folder, path) || path == folder {
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
	return nil, "", umpire.Errorf("%s lies in no writable folder", path)
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
	b := &Box{cmd: cmd, place: p, ahead: limits.Ahead}
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
	b.place.leave(b)
	err := b.letGo(ended)
	for _, root := range b.roots {
		_ = root.Close() // it was only looked at
	}
	return err
}

// listWatched lists what is looked at afterwards, since nothing can be mounted on it: links,
// files that git would take settings from, and those by which a git directory can be made
// to follow another one's.
func listWatched(folders, links, missing []string) map[string]string {
	all := map[string]string{}
	for _, path := range missing {
		all[path] = ""
	}
	for _, dir := range folders {
		if path := filepath.Join(dir, "commondir"); isGitFolder(dir) && !isPresent(path) {
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
		if now, _ := os.Readlink(path); was == now && (was != "" || !isPresent(path)) {
			continue
		}
		note := fmt.Sprintf("the command changed %s, by which programs are run without anyone asking", path)
		if isPresent(path) {
			aside, err := b.setAside(path)
			if err != nil {
				b.Notes = append(b.Notes, note+fmt.Sprintf("; it could not be renamed: %v", err))
				continue
			}
			note += "; what it made is " + aside + " now"
		}
		if was != "" {
			if err := b.restore(path, was); err != nil {
				note += fmt.Sprintf("; it could not be restored: %v", err)
			}
		}
		b.Notes = append(b.Notes, note)
	}
}

// setAside renames a path, and returns what it is called now.
func (b *Box) setAside(path string) (string, error) {
	root, name, err := b.in(path)
	if err != nil {
		return "", err
	}
	aside := name + untrusted
	for n := 2; ; n++ { // else a command could keep the name taken
		if _, err := root.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
		aside = fmt.Sprintf("%s%s.%d", name, untrusted, n)
	}
	err = root.Rename(name, aside)
	if errors.Is(err, fs.ErrPermission) { // the command made the folder read-only
		err = renameIn(root, name, aside)
	}
	return filepath.Join(strings.TrimSuffix(path, name), aside), err
}

// renameIn renames in a folder that its owner may not write.
func renameIn(root *os.Root, name, to string) error {
	dir := filepath.Dir(name)
	info, err := root.Stat(dir)
	if err == nil {
		err = root.Chmod(dir, info.Mode().Perm()|0o700)
	}
	if err == nil {
		err = errors.Join(root.Rename(name, to), root.Chmod(dir, info.Mode().Perm()))
	}
	return err
}

// restore makes a path the link again that it was.
func (b *Box) restore(path, was string) error {
	root, name, err := b.in(path)
	if err != nil {
		return err
	}
	return root.Symlink(was, name)
}
