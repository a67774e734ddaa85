package trial

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

// The writes of tried commands to build caches are kept for later tried commands of the same project:
//
//   - A folder serves one command at a time and only commands of one project. A concurrent command gets another
//     folder. Commands with network access have their own folders and never run code that a command without it
//     has planted.
//   - Nothing is ever copied from here to the user's caches. A build cache maps inputs to outputs, and a tried
//     command can write any output.
//   - A command never sees a folder whose last command was interrupted by a crash, or one from before a reboot,
//     because its files may be incomplete.
//   - A project has only a few folders with a limited total size. The least recently used are removed first.
//
// Each project has a folder below the folder of layers, and in it one folder per concurrent command.
const (
	cachesFolder     = "cache"
	cacheProjectFile = "project.json"
	cachePrefix      = "used-"
	goneCachePrefix  = "gone-"
	// cacheLockFile is locked while a command uses the folder.
	cacheLockFile = "lock"
	// idleFile exists while no command uses the folder. It is missing after a crash.
	idleFile = "done.json"
	// droppedCacheFile marks a folder that must not be used again.
	droppedCacheFile = "dropped"
	// cacheLayersFolder holds the sandbox's cache layers.
	cacheLayersFolder = "layers"
)

// maxCaches limits how many concurrent commands of a project leave a folder.
const maxCaches = 4

// cacheCrashAge is the age at which the folder of an interrupted command is removed. The
// command's last processes need a moment to end.
const cacheCrashAge = time.Hour

// errCachesBusy means that other commands use all folders of the project.
var errCachesBusy = errors.New("all caches of tried commands are in use")

// A cacheProject identifies the commands that share folders. It is also the content of cacheProjectFile.
type cacheProject struct {
	// Roots are the project's folders, with symbolic links resolved.
	Roots []string `json:"roots"`
	// Network marks commands that may send something out. They must not run code that any other command has planted.
	Network bool `json:"network,omitempty"`
	// Max limits the total bytes of all folders.
	Max int64 `json:"max"`
}

// A cacheState is the content of idleFile.
type cacheState struct {
	Boot  string `json:"boot"`
	Bytes int64  `json:"bytes"` // upper bound
}

// A cacheLease is one command's right to use a folder.
type cacheLease struct {
	cacheFolder
	max   int64
	bytes int64  // held before the lease
	free  uint64 // free space on the file system before the lease
	space func(dir string) (uint64, error)
}

// leaseCache leases the project's most recently used free folder. layers is the folder of
// layers, with symbolic links resolved.
func leaseCache(layers string, p cacheProject) (*cacheLease, error) {
	key, err := p.key()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(layers, cachesFolder, key)
	if err := p.writeTo(dir); err != nil {
		return nil, err
	}
	f, before, err := findCache(dir)
	if err != nil {
		return nil, err
	}
	l := &cacheLease{cacheFolder: *f, max: p.Max, bytes: before.Bytes, space: files.FreeBytes}
	if l.free, err = l.space(dir); err == nil {
		err = files.IgnoreMissing(os.Remove(filepath.Join(l.path, idleFile)))
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

// findCache locks the most recently used free folder, or makes a new one.
func findCache(dir string) (*cacheFolder, cacheState, error) {
	all, err := listCaches(dir)
	if err != nil {
		return nil, cacheState{}, err
	}
	used := 0
	for _, path := range all {
		f, err := lockCache(path)
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
	if used >= maxCaches {
		return nil, cacheState{}, errCachesBusy
	}
	path, err := os.MkdirTemp(dir, cachePrefix)
	if err != nil {
		return nil, cacheState{}, err
	}
	f, err := lockCache(path)
	return f, cacheState{}, err
}

// Dir returns the folder for the cache layers, or "" if there is no lease.
func (l *cacheLease) Dir() string {
	if l == nil {
		return ""
	}
	return filepath.Join(l.path, cacheLayersFolder)
}

// Name returns the folder's name for [Drop].
func (l *cacheLease) Name() string {
	if l == nil {
		return ""
	}
	return filepath.Join(filepath.Base(filepath.Dir(l.path)), filepath.Base(l.path))
}

// dropCache removes a folder by name because a command that used it was rejected. If a command
// is using the folder, no later command does.
func dropCache(layers, name string) error {
	if name == "" {
		return nil
	}
	path := filepath.Join(layers, cachesFolder, name)
	if err := os.WriteFile(filepath.Join(path, droppedCacheFile), nil, 0o600); err != nil {
		return files.IgnoreMissing(err)
	}
	f, err := lockCache(path)
	if err != nil {
		return nil // the next sweep removes it
	}
	defer f.unlock()
	return f.remove()
}

// Close releases the folder for the next command. Call it after all processes of the
// command have ended. It removes folders of the project if their total size is too large.
func (l *cacheLease) Close() error {
	if l == nil {
		return nil
	}
	defer l.unlock()
	free, err := l.space(l.path)
	if err != nil {
		return err
	}
	// An estimate: measuring takes long. Other programs write to the file system, too.
	s := cacheState{Bytes: l.bytes + max(0, int64(l.free)-int64(free))}
	if s.Bytes > l.max {
		s.Bytes = l.measure()
	}
	if s.Bytes > l.max {
		return l.remove()
	}
	if err := l.writeState(s); err != nil {
		return err
	}
	return trimCaches(filepath.Dir(l.path), l.max-s.Bytes, l.path)
}

// trimCaches removes a project's least recently used folders, except one, until at most left bytes remain.
func trimCaches(dir string, left int64, except string) error {
	all, err := listCaches(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range all {
		if path == except {
			continue
		}
		f, err := lockCache(path)
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
func (p *cacheProject) key() (string, error) {
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

func (p *cacheProject) writeTo(dir string) error {
	c := *p
	c.Roots = slices.Clone(p.Roots)
	for i := range c.Roots {
		c.Roots[i] = umpire.EscapePath(c.Roots[i])
	}
	text, err := json.Marshal(&c)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, cacheProjectFile)
	if old, err := os.ReadFile(file); err == nil && string(old) == string(text) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return files.Replace(file, text, 0o600)
}

func readCacheProject(dir string) (p cacheProject, err error) {
	text, err := os.ReadFile(filepath.Join(dir, cacheProjectFile))
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

// listCaches returns the folders of a project, most recent first.
func listCaches(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	times := map[string]time.Time{}
	var all []string
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), cachePrefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if info, err := os.Lstat(filepath.Join(path, idleFile)); err == nil {
			times[path] = info.ModTime()
		}
		all = append(all, path)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(times[b].Compare(times[a]), strings.Compare(a, b))
	})
	return all, files.IgnoreMissing(err)
}

// A cacheFolder is locked by this process.
type cacheFolder struct {
	path string
	file *os.File
}

// lockCache locks a folder, or returns EWOULDBLOCK if a command uses it.
func lockCache(path string) (*cacheFolder, error) {
	name := filepath.Join(path, cacheLockFile)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	f := &cacheFolder{path, file}
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
func (f *cacheFolder) unlock() {
	_ = unix.Flock(int(f.file.Fd()), unix.LOCK_UN)
	_ = f.file.Close() // nothing was written
}

// remove renames the folder first, so no command finds it half removed.
func (f *cacheFolder) remove() error {
	dir, name := filepath.Split(f.path)
	gone := filepath.Join(dir, goneCachePrefix+name)
	if err := os.Rename(f.path, gone); err != nil {
		return err
	}
	return files.RemoveTree(gone)
}

// state returns how the last command left the folder. It fails if that command was interrupted or
// dropped, or if it ran before a reboot: the kernel may not have flushed the layers to disk.
func (f *cacheFolder) state() (s cacheState, err error) {
	if files.Exists(f.path, droppedCacheFile) {
		return cacheState{}, errors.New("dropped")
	}
	text, err := os.ReadFile(filepath.Join(f.path, idleFile))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return cacheState{}, err
	}
	boot, err := bootID()
	if err == nil && s.Boot != boot {
		err = errors.New("written before a reboot")
	}
	return s, err
}

// writeState records that no command uses the folder any more.
func (f *cacheFolder) writeState(s cacheState) (err error) {
	if s.Boot, err = bootID(); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.path, idleFile), text, 0o600)
}

// measure returns the folder's size on disk, or more than any limit if it cannot be determined.
func (f *cacheFolder) measure() (bytes int64) {
	const tooMany = 1 << 62
	err := filepath.WalkDir(filepath.Join(f.path, cacheLayersFolder), func(_ string, d fs.DirEntry, err error) error {
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
