package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// layersOver plans the layers over caches; their writes are stored below at. One layer
// over a whole home serves all caches in it, because mounting a layer takes longer than
// the rest of the setup. once means that no other command writes below at meanwhile. Then
// an empty cache needs no layer until something is written to it.
func layersOver(home string, folders []string, at string, once bool) ([]caches, error) {
	over := func(folder string) caches {
		sum := sha256.Sum256([]byte(folder))
		dir := filepath.Join(at, hex.EncodeToString(sum[:8]))
		return caches{
			Folder: folder, Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work"), Volatile: once,
		}
	}
	shared := over(home)
	shared.At = filepath.Join(at, "seen")
	var all []caches
	for _, folder := range folders {
		if name, inside := strings.CutPrefix(folder, home+"/"); inside && home != "" && sameMount(folder, home) &&
			!files.Within(home, at) {
			shared.Inside = append(shared.Inside, name)
			continue
		}
		c := over(folder)
		if once && isEmptyFolder(folder) && !holdsAnything(c.Upper) {
			c.Work, c.Volatile = "", false
		}
		all = append(all, c)
	}
	if len(shared.Inside) > 0 {
		all = append(all, shared)
	}
	for _, c := range all {
		if c.Volatile { // the kernel refuses a used work folder
			if err := files.RemoveTree(c.Work); err != nil {
				return nil, err
			}
		}
		for _, dir := range []string{c.Upper, c.Work, c.At} {
			if dir == "" {
				continue
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// holdsAnything reports whether a folder may have entries.
func holdsAnything(path string) bool { return isPresent(path) && !isEmptyFolder(path) }

// isEmptyFolder reports whether a folder is certainly empty.
func isEmptyFolder(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// sameMount reports whether two folders are on the same mount: a layer over one does not
// show mounts inside it.
func sameMount(a, b string) bool {
	var one, two unix.Statx_t
	for path, into := range map[string]*unix.Statx_t{a: &one, b: &two} {
		if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_MNT_ID, into); err != nil ||
			into.Mask&unix.STATX_MNT_ID == 0 {
			return false
		}
	}
	return one.Mnt_id == two.Mnt_id
}

// hold makes the layer and opens its visible folders.
func (c *caches) hold() ([]heldMount, error) {
	whole, err := c.layer()
	if err != nil || len(c.Inside) == 0 {
		return []heldMount{whole}, err
	}
	defer closeFD(whole.fd)
	if err := attachMount(whole.fd, c.At); err != nil {
		return nil, err
	}
	var all []heldMount
	for i, path := range c.shown() {
		m, err := grabMount(filepath.Join(c.At, c.Inside[i]))
		if err != nil {
			return nil, err
		}
		m.path = path
		all = append(all, m)
	}
	return all, unix.Unmount(c.At, unix.MNT_DETACH)
}

// layer makes a writable view of a folder whose writes are stored elsewhere.
func (c *caches) layer() (heldMount, error) {
	if c.Work == "" {
		m, err := grabMount(c.Upper)
		m.path = c.Folder
		return m, err
	}
	at, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return heldMount{}, err
	}
	defer closeFD(at)
	for _, option := range [][2]string{{"lowerdir", c.Folder}, {"upperdir", c.Upper}, {"workdir", c.Work}} {
		dir, err := openFolder(option[1])
		if err != nil {
			return heldMount{}, umpire.Errorf("%s: %w", option[1], err)
		}
		defer closeFD(dir)
		if err := c.expect(dir, option[1]); err != nil {
			return heldMount{}, err
		}
		// The descriptor names the opened folder, regardless of special characters in its path.
		if err := unix.FsconfigSetString(at, option[0], fmt.Sprintf("/proc/self/fd/%d", dir)); err != nil {
			return heldMount{}, err
		}
	}
	// An index would show a change to one hard link under the file's other names, which
	// are not in the upper folder. Some kernels enable it by default.
	if err := unix.FsconfigSetString(at, "index", "off"); err != nil {
		return heldMount{}, err
	}
	flags := []string{"userxattr"}
	if c.Volatile {
		flags = append(flags, "volatile")
	}
	for _, flag := range flags {
		if err := unix.FsconfigSetFlag(at, flag); err != nil {
			return heldMount{}, err
		}
	}
	if err := unix.FsconfigCreate(at); err != nil {
		return heldMount{}, err
	}
	fd, err := unix.Fsmount(at, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	return heldMount{fd: fd, path: c.Folder}, err
}

// expect returns an error unless the folder is the one that was checked.
func (c *caches) expect(dir int, path string) error {
	if path != c.Folder || c.Inode == 0 {
		return nil
	}
	var info unix.Stat_t
	if err := unix.Fstat(dir, &info); err != nil {
		return err
	}
	if info.Dev != c.Device || info.Ino != c.Inode {
		return umpire.Errorf("%s has become a different folder", path)
	}
	return nil
}

// openFolder opens a folder by a path without symbolic links.
func openFolder(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
}
