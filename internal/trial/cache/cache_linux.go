package cache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// Below the folder of layers each project has a folder, and in it one for each command that ran at a time.
const (
	parent       = "cache"
	projectFile  = "project.json"
	folderPrefix = "used-"
	gonePrefix   = "gone-"
	// lockFile is locked as long as a command uses the folder.
	lockFile = "lock"
	// doneFile is there as long as no command uses the folder. It is missing after a crash.
	doneFile = "done.json"
	// droppedFile says that no command uses the folder again.
	droppedFile = "dropped"
	// layersFolder is for the sandbox.
	layersFolder = "layers"
)

// maxFolders bounds how many commands of a project that run at a time leave something.
const maxFolders = 4

// crashAge is how old the folder of an interrupted command is when it is removed. Its last processes need a moment
// to end.
const crashAge = time.Hour

// errBusy says that other commands use all folders of the project.
var errBusy = errors.New("all caches of tried commands are in use")

// A Project names the commands that share folders. It is also the content of projectFile.
type Project struct {
	// Roots are the folders of the project, without links.
	Roots []string `json:"roots"`
	// Network is for commands with the network. They must not run code that a command without it has planted.
	Network bool `json:"network,omitempty"`
	// Max bounds the bytes of all folders.
	Max int64 `json:"max"`
}

// A state is the content of doneFile.
type state struct {
	Boot  string `json:"boot"`
	Bytes int64  `json:"bytes"` // at most
}

// A Lease is the right of one command to a folder.
type Lease struct {
	folder
	max   int64
	bytes int64  // that it held before
	free  uint64 // that the file system had then
	space func(dir string) (uint64, error)
}

// Open takes the folder that a command of a project used last and that none uses now. Layers is the folder
// of layers, without links.
func Open(layers string, p Project) (*Lease, error) {
	key, err := p.key()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(layers, parent, key)
	if err := p.writeTo(dir); err != nil {
		return nil, err
	}
	f, before, err := find(dir)
	if err != nil {
		return nil, err
	}
	l := &Lease{folder: *f, max: p.Max, bytes: before.Bytes, space: files.FreeBytes}
	if l.free, err = l.space(dir); err == nil {
		err = files.IgnoreMissing(os.Remove(filepath.Join(l.path, doneFile)))
	}
	if err == nil {
		err = os.MkdirAll(l.Dir(), 0o700)
	}
	if err != nil {
		l.unlock()
		return nil, err
	}
	return l, nil
}

// find locks the free folder with the latest use. Without a free one it makes a folder.
func find(dir string) (*folder, state, error) {
	all, err := listFolders(dir)
	if err != nil {
		return nil, state{}, err
	}
	used := 0
	for _, path := range all {
		f, err := lock(path)
		if errors.Is(err, unix.EWOULDBLOCK) {
			used++
		}
		if err != nil {
			continue
		}
		if s, err := f.state(); err == nil {
			return f, s, nil
		}
		f.unlock()
	}
	if used >= maxFolders {
		return nil, state{}, errBusy
	}
	path, err := os.MkdirTemp(dir, folderPrefix)
	if err != nil {
		return nil, state{}, err
	}
	f, err := lock(path)
	return f, state{}, err
}

// Dir is the folder for the cache layers, or "" if there is no lease.
func (l *Lease) Dir() string {
	if l == nil {
		return ""
	}
	return filepath.Join(l.path, layersFolder)
}

// Name names the folder for [Drop].
func (l *Lease) Name() string {
	if l == nil {
		return ""
	}
	return filepath.Join(filepath.Base(filepath.Dir(l.path)), filepath.Base(l.path))
}

// Drop removes a folder by its name, because a command that used it was rejected. If a command uses it now, no
// later one does.
func Drop(layers, name string) error {
	if name == "" {
		return nil
	}
	path := filepath.Join(layers, parent, name)
	if err := os.WriteFile(filepath.Join(path, droppedFile), nil, 0o600); err != nil {
		return files.IgnoreMissing(err)
	}
	f, err := lock(path)
	if err != nil {
		return nil // the next sweep removes it
	}
	defer f.unlock()
	return f.remove()
}

// Close frees the folder for the next command. Call it when all processes of the command have ended. It removes
// folders of the project if they are too large together.
func (l *Lease) Close() error {
	if l == nil {
		return nil
	}
	defer l.unlock()
	free, err := l.space(l.path)
	if err != nil {
		return err
	}
	// An estimate: measuring takes long. Other programs write to the file system, too.
	s := state{Bytes: l.bytes + max(0, int64(l.free)-int64(free))}
	if s.Bytes > l.max {
		s.Bytes = l.measure()
	}
	if s.Bytes > l.max {
		return l.remove()
	}
	if err := l.writeState(s); err != nil {
		return err
	}
	return trim(filepath.Dir(l.path), l.max-s.Bytes, l.path)
}

// trim removes the least recently used folders of a project beyond some bytes, but for one.
func trim(dir string, left int64, except string) error {
	all, err := listFolders(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range all {
		if path == except {
			continue
		}
		f, err := lock(path)
		if err != nil {
			continue // its own command trims later
		}
		if s, err := f.state(); err == nil {
			if s.Bytes > left {
				s.Bytes = f.measure()
			}
			if left -= s.Bytes; left < 0 {
				errs = append(errs, f.remove())
			}
		}
		f.unlock()
	}
	return errors.Join(errs...)
}

// key names the project. Another folder that takes the place of a root makes another one.
func (p *Project) key() (string, error) {
	all := []any{p.Network}
	for _, root := range p.Roots {
		var info unix.Stat_t
		if err := unix.Lstat(root, &info); err != nil {
			return "", umpire.Errorf("%s: %w", root, err)
		}
		all = append(all, []byte(root), info.Dev, info.Ino)
	}
	text, err := json.Marshal(all)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), err
}

func (p *Project) writeTo(dir string) error {
	c := *p
	c.Roots = slices.Clone(p.Roots)
	for i := range c.Roots {
		c.Roots[i] = umpire.EscapePath(c.Roots[i])
	}
	text, err := json.Marshal(&c)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, projectFile)
	if old, err := os.ReadFile(file); err == nil && string(old) == string(text) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return files.Replace(file, text, 0o600)
}

func readProject(dir string) (p Project, err error) {
	text, err := os.ReadFile(filepath.Join(dir, projectFile))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	for i := range p.Roots {
		if err == nil {
			p.Roots[i], err = umpire.UnescapePath(p.Roots[i])
		}
	}
	return p, err
}

// listFolders returns the folders of a project, the latest first.
func listFolders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	times := map[string]time.Time{}
	var all []string
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if info, err := os.Lstat(filepath.Join(path, doneFile)); err == nil {
			times[path] = info.ModTime()
		}
		all = append(all, path)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(times[b].Compare(times[a]), strings.Compare(a, b))
	})
	return all, files.IgnoreMissing(err)
}

// A folder is one that this process has locked.
type folder struct {
	path string
	file *os.File
}

// lock locks a folder, or returns EWOULDBLOCK if a command uses it.
func lock(path string) (*folder, error) {
	name := filepath.Join(path, lockFile)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	f := &folder{path, file}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	mine, err := file.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Lstat(name); err == nil && !os.SameFile(mine, there) {
			err = fs.ErrNotExist // it was removed before it was locked
		}
	}
	if err != nil {
		f.unlock()
		return nil, err
	}
	return f, nil
}

// unlock unlocks the folder. A process that is just being started has the file as well, so closing is not enough.
func (f *folder) unlock() {
	_ = unix.Flock(int(f.file.Fd()), unix.LOCK_UN)
	_ = f.file.Close() // nothing was written
}

// remove renames the folder first, so no command finds one half removed.
func (f *folder) remove() error {
	dir, name := filepath.Split(f.path)
	gone := filepath.Join(dir, gonePrefix+name)
	if err := os.Rename(f.path, gone); err != nil {
		return err
	}
	return files.RemoveTree(gone)
}

// state is how the last command left the folder: an error if that was interrupted or dropped, or if it ran before a
// reboot. The kernel writes layers of trials to the disk when it likes.
func (f *folder) state() (s state, err error) {
	if files.Exists(f.path, droppedFile) {
		return state{}, errors.New("dropped")
	}
	text, err := os.ReadFile(filepath.Join(f.path, doneFile))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return state{}, err
	}
	boot, err := bootID()
	if err == nil && s.Boot != boot {
		err = errors.New("written before a reboot")
	}
	return s, err
}

// writeState says that no command uses the folder any more.
func (f *folder) writeState(s state) (err error) {
	if s.Boot, err = bootID(); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.path, doneFile), text, 0o600)
}

// measure is how many bytes the folder takes on the disk, and more than any limit if that cannot be found out.
func (f *folder) measure() (bytes int64) {
	const tooMany = 1 << 62
	err := filepath.WalkDir(filepath.Join(f.path, layersFolder), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			bytes += s.Blocks * 512
		}
		return nil
	})
	if err != nil {
		return tooMany
	}
	return bytes
}

// bootID names the time since the machine has started.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}
