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
	"github.com/umpirehq/umpire/internal/hold/egress"
)

// A Box is the sandbox of one command. Close it when the command has ended or could not
// be started.
type Box struct {
	// Notes describe what Close found and changed, for the user and the model.
	Notes []string
	// Held describes other paths that a failed command could not write.
	Held string
	// Seen is the result of the observation, if it was requested.
	Seen Sight

	holdings // system-specific resources

	cmd     *exec.Cmd
	ahead   *Ahead              // the helper, if it was started ahead
	out     *egress.Exit        // nil if no connection leaves
	folders []string            // writable folders
	roots   map[string]*os.Root // by folder
	watched map[string]string   // by path that cannot be pinned: its link target, or "" if it must not exist
	slot    func()

	place   *Place
	sealed  []string // read-only folders that need no search
	allowed []string // paths that a person allowed by name
	verbs   []string // git subcommands that the command line itself runs
	counted bool     // counted as running
}

// in returns the writable folder that holds a path, and the path relative to it. Operations through
// the returned root stay in the folder, even if a running command replaces a parent with a link.
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
	return nil, "", umpire.Errorf("%s is not in a writable folder", path)
}

// Wrap changes a command to start in the sandbox. The command must not have been started
// or have ExtraFiles. With full access the command is not changed.
func (p *Place) Wrap(cmd *exec.Cmd, limits Limits) (*Box, error) {
	if limits.Mode == umpire.SandboxFullAccess {
		return &Box{}, nil
	}
	if len(cmd.ExtraFiles) > 0 {
		return nil, errors.New("a command with further files cannot be run in the sandbox")
	}
	b := &Box{cmd: cmd, place: p, ahead: limits.Ahead, out: limits.Exit}
	o, err := p.order(cmd, limits, limits.layers(), b)
	if err == nil {
		err = b.hand(cmd, o)
	}
	if err != nil {
		_ = b.Close(nil) // the first error matters more
		return nil, &SetupError{Step: "prepare", Reason: err.Error()}
	}
	return b, nil
}

// Close releases the sandbox's resources and returns the command's error: the one passed
// in, or a SetupError if the command did not start at all.
func (b *Box) Close(ended error) error {
	if b.slot != nil {
		b.slot()
	}
	b.takeAway()
	b.place.leave(b)
	err := b.letGo(ended)
	for _, root := range b.roots {
		_ = root.Close() // it was only read
	}
	return err
}

// listWatched lists the paths to check afterwards because nothing can be mounted on them:
// links, missing files from which git would read settings, and missing files that would
// redirect one git directory to another.
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

// untrusted is appended to the name of a file that replaced a watched path.
const untrusted = ".untrusted"

// takeAway renames files that replaced watched paths, and restores links.
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

// setAside renames a path and returns its new name.
func (b *Box) setAside(path string) (string, error) {
	root, name, err := b.in(path)
	if err != nil {
		return "", err
	}
	aside := name + untrusted
	for n := 2; ; n++ { // else a command could block the name
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

// renameIn renames in a folder that its owner may not write to.
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

// restore recreates a link.
func (b *Box) restore(path, was string) error {
	root, name, err := b.in(path)
	if err != nil {
		return err
	}
	return root.Symlink(was, name)
}
