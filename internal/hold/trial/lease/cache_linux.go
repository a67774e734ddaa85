package lease

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

// Each project has a folder below the folder of layers, and in it one folder per concurrent command.
const (
	parent       = "cache"
	projectFile  = "project.json"
	folderPrefix = "used-"
	gonePrefix   = "gone-"
	// lockFile is locked while a command uses the folder.
	lockFile = "lock"
	// doneFile exists while no command uses the folder. It is missing after a crash.
	doneFile = "done.json"
	// droppedFile marks a folder that must not be used again.
	droppedFile = "dropped"
	// layersFolder holds the sandbox's cache layers.
	layersFolder = "layers"
)

// maxFolders limits how many concurrent commands of a project leave a folder.
const maxFolders = 4

// crashAge is the age at which the folder of an interrupted command is removed. The
// command's last processes need a moment to end.
const crashAge = time.Hour

// errBusy means that other commands use all folders of the project.
var errBusy = errors.New("all caches of tried commands are in use")

// A Project identifies the commands that share folders. It is also the content of projectFile.
type Project struct {
	// Roots are the project's folders, with symbolic links resolved.
	Roots []string `json:"roots"`
	// Network marks commands that may send something out. They must not run code that any other command has planted.
	Network bool `json:"network,omitempty"`
	// Max limits the total bytes of all folders.
	Max int64 `json:"max"`
}

// A state is the content of doneFile.
type state struct {
	Boot  string `json:"boot"`
	Bytes int64  `json:"bytes"` // upper bound
}

// A Cache is one command's right to use a folder.
type Cache struct {
	folder
	max   int64
	bytes int64  // held before the lease
	free  uint64 // free space on the file system before the lease
	space func(dir string) (uint64, error)
}

// OpenCache leases the project's most recently used free folder. layers is the folder of
// layers, with symbolic links resolved.
func OpenCache(layers string, p Project) (*Cache, error) {
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
	l := &Cache{folder: *f, max: p.Max, bytes: before.Bytes, space: files.FreeBytes}
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

// find locks the most recently used free folder, or makes a new one.
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

// Dir returns the folder for the cache layers, or "" if there is no lease.
func (l *Cache) Dir() string {
	if l == nil {
		return ""
	}
	return filepath.Join(l.path, layersFolder)
}

// Name returns the folder's name for [Drop].
func (l *Cache) Name() string {
	if l == nil {
		return ""
	}
	return filepath.Join(filepath.Base(filepath.Dir(l.path)), filepath.Base(l.path))
}

// DropCache removes a folder by name because a command that used it was rejected. If a command
// is using the folder, no later command does.
func DropCache(layers, name string) error {
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

// Close releases the folder for the next command. Call it after all processes of the
// command have ended. It removes folders of the project if their total size is too large.
func (l *Cache) Close() error {
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

// trim removes a project's least recently used folders, except one, until at most left bytes remain.
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

// key identifies the project. It changes if a root is replaced by another folder.
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

// listFolders returns the folders of a project, most recent first.
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

// A folder is locked by this process.
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

// unlock unlocks the folder. A process that is just starting may have inherited the file, so closing it is not enough.
func (f *folder) unlock() {
	_ = unix.Flock(int(f.file.Fd()), unix.LOCK_UN)
	_ = f.file.Close() // nothing was written
}

// remove renames the folder first, so no command finds it half removed.
func (f *folder) remove() error {
	dir, name := filepath.Split(f.path)
	gone := filepath.Join(dir, gonePrefix+name)
	if err := os.Rename(f.path, gone); err != nil {
		return err
	}
	return files.RemoveTree(gone)
}

// state returns how the last command left the folder. It fails if that command was interrupted or
// dropped, or if it ran before a reboot: the kernel may not have flushed the layers to disk.
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

// writeState records that no command uses the folder any more.
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

// measure returns the folder's size on disk, or more than any limit if it cannot be determined.
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

// bootID returns an identifier of the current boot.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}
