package trial

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// setAttributes sets the owner, mode and modification time of the file at a name. A
// symbolic link has no mode.
func setAttributes(folder int, name string, want Entry) error {
	now, _, err := statAt(folder, name)
	if err != nil {
		return err
	}
	if now.UID != want.UID || now.GID != want.GID {
		if err := unix.Fchownat(folder, name, want.UID, want.GID, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
	}
	if want.Type&fs.ModeSymlink == 0 { // changing the owner clears the set-id bits
		if err := setMode(folder, name, want.Type); err != nil {
			return err
		}
	}
	return setTimes(folder, name, want)
}

// setMode changes the permissions of a file or folder without following links.
func setMode(folder int, name string, mode fs.FileMode) error {
	fd, err := files.OpenBeneath(folder, name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return unix.Fchmodat(unix.AT_FDCWD, procPath(fd), permissionsOf(mode), 0)
}

// setTimes sets the modification time of the file at a name.
func setTimes(folder int, name string, want Entry) error {
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, timespecOf(want.ModTime)}
	return unix.UtimesNanoAt(folder, name, times, unix.AT_SYMLINK_NOFOLLOW)
}

func timespecOf(t time.Time) unix.Timespec {
	return unix.Timespec{Sec: t.Unix(), Nsec: int64(t.Nanosecond())}
}

// overlayNames are the prefixes of an overlay's own attributes.
var overlayNames = [...]string{"user.overlay.", "trusted.overlay."}

// dropOverlayNames removes the overlay's attributes from a file.
func dropOverlayNames(fd int) error {
	names, err := extendedNames(fd)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isOverlayName(name) {
			if err := unix.Fremovexattr(fd, name); err != nil && !errors.Is(err, unix.ENODATA) {
				return err
			}
		}
	}
	return nil
}

func isOverlayName(name string) bool {
	return strings.HasPrefix(name, overlayNames[0]) || strings.HasPrefix(name, overlayNames[1])
}

// maxExtended is the maximum size of a list of attributes, and of a value (xattr(7)).
const maxExtended = 1 << 16

// extendedNames returns the names of an open file's extended attributes, or nil if they are unsupported.
func extendedNames(fd int) ([]string, error) {
	list := make([]byte, maxExtended)
	size, err := unix.Flistxattr(fd, list)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil
	}
	return strings.FieldsFunc(string(list[:max(size, 0)]), func(r rune) bool { return r == 0 }), err
}

// copyExtended copies extended attributes and access lists, as far as permissions allow.
func copyExtended(from, to int) error {
	names, err := extendedNames(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isOverlayName(name) {
			continue
		}
		value := make([]byte, maxExtended)
		size, err := unix.Fgetxattr(from, name, value)
		if err != nil {
			return err
		}
		err = unix.Fsetxattr(to, name, value[:size], 0)
		if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
	}
	return nil
}
