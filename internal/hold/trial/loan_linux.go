package trial

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// A loan temporarily opens up our own files and folders whose modes keep us out. Root
// does not need it. If a mode cannot be changed, using the file reports the error.
type loan struct{ lent []lentFile }

// A lentFile is a file or folder whose mode was changed.
type lentFile struct {
	fd   int // its own descriptor, because the file may be moved
	mode uint32
}

// The permissions needed to read a file, to pass through a folder, and to list it.
const (
	mayRead = 0o400
	mayPass = 0o100
	mayList = 0o500
)

// open opens a folder below an open one without following links, and lends it and the folders on the way.
func (l *loan) open(folder int, path string) (int, error) {
	fd, err := files.OpenBeneath(folder, path, unix.O_PATH|unix.O_DIRECTORY)
	if errors.Is(err, unix.EACCES) {
		l.lendOnTheWay(folder, path)
		fd, err = files.OpenBeneath(folder, path, unix.O_PATH|unix.O_DIRECTORY)
	}
	if err == nil {
		l.lend(fd, mayPass)
	}
	return fd, err
}

// lendOnTheWay lends an open folder and the folders along a path, as far as possible.
func (l *loan) lendOnTheWay(folder int, path string) {
	l.lend(folder, mayPass)
	for i, r := range path {
		if r != filepath.Separator {
			continue
		}
		fd, err := files.OpenBeneath(folder, path[:i], unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return
		}
		l.lend(fd, mayPass)
		closeFD(fd)
	}
}

// lend lends an open file; folder is the permissions needed if it is a folder.
func (l *loan) lend(opened int, folder uint32) {
	var st unix.Stat_t
	me := os.Geteuid()
	if me == 0 || unix.Fstat(opened, &st) != nil || int(st.Uid) != me {
		return
	}
	rights := uint32(0)
	switch kindOf(&st) {
	case unix.S_IFDIR:
		rights = folder
	case unix.S_IFREG:
		rights = mayRead
	}
	if st.Mode&rights == rights {
		return
	}
	fd, err := unix.FcntlInt(uintptr(opened), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return
	}
	mode := st.Mode & 0o7777
	if unix.Fchmodat(unix.AT_FDCWD, procPath(fd), mode|rights, 0) != nil {
		closeFD(fd)
		return
	}
	l.lent = append(l.lent, lentFile{fd, mode})
}

// giveBack restores all modes.
func (l *loan) giveBack() {
	for _, f := range l.lent {
		_ = unix.Fchmodat(unix.AT_FDCWD, procPath(f.fd), f.mode, 0) // the mode could be changed before
		closeFD(f.fd)
	}
	l.lent = nil
}

// openLent opens a file or folder for reading, regardless of its mode if it belongs to us.
func openLent(folder int, name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK
	fd, err := files.OpenBeneath(folder, name, flags)
	if !errors.Is(err, unix.EACCES) {
		return fd, err
	}
	found, findErr := files.OpenBeneath(folder, name, unix.O_PATH)
	if findErr != nil {
		return -1, err
	}
	defer closeFD(found)
	var rights loan
	rights.lend(found, mayList)
	defer rights.giveBack()
	return files.OpenBeneath(folder, name, flags)
}
