package trial

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openRoots are the open folders with changes, and the most recently used folder below
// them. All operations use these descriptors, even if the paths lead elsewhere by now.
type openRoots struct {
	paths  []string
	roots  []int
	folder openFolder
}

// An openFolder is the most recently used folder. Its loan lasts while it is open.
type openFolder struct {
	root int
	path string
	fd   int
	loan loan
}

// openRoot opens a root, which must be the same folder as when the journal was made.
func (o *openRoots) openRoot(r *keptRoot) error {
	fd, err := openFolderAt(r.Path)
	if err != nil {
		return err
	}
	o.roots, o.paths = append(o.roots, fd), append(o.paths, r.Path)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Dev != r.Device || st.Ino != r.Inode {
		return &ConflictError{Paths: []string{r.Path}}
	}
	return nil
}

// parentOf opens the parent folder of a path in a root. It stays open until the next call.
func (o *openRoots) parentOf(root int, path string) (folder int, name string, err error) {
	dir, name := filepath.Split(strings.TrimPrefix(path, strings.TrimSuffix(o.paths[root], "/")+"/"))
	if path == o.paths[root] {
		o.forgetFolder()
		return o.roots[root], ".", nil
	}
	dir = cmp.Or(strings.TrimSuffix(dir, "/"), ".")
	if o.folder.fd >= 0 && o.folder.root == root && o.folder.path == dir {
		return o.folder.fd, name, nil
	}
	o.forgetFolder()
	var rights loan
	fd, err := rights.open(o.roots[root], dir)
	if err != nil {
		rights.giveBack()
		return -1, "", &fs.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	o.folder = openFolder{root, dir, fd, rights}
	return fd, name, nil
}

// forgetFolder closes the most recently used folder, because its path may lead to another one now.
func (o *openRoots) forgetFolder() {
	o.folder.loan.giveBack()
	if o.folder.fd >= 0 {
		_ = unix.Close(o.folder.fd) // opened for lookups only
	}
	o.folder = openFolder{fd: -1}
}
