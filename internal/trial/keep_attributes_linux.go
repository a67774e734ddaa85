package trial

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/files"
)

// setAttributes gives what stands at a name the owner, mode and modification time of an
// entry. A link has no mode.
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
	if want.Type&fs.ModeSymlink == 0 { // changing the owner takes set-id bits away
		if err := setMode(folder, name, want.Type); err != nil {
			return err
		}
	}
	return setTimes(folder, name, want)
}

// setMode changes the permissions of a file or folder, of which none is followed to.
func setMode(folder int, name string, mode fs.FileMode) error {
	fd, err := files.OpenBeneath(folder, name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return unix.Fchmodat(unix.AT_FDCWD, procPath(fd), permissionsOf(mode), 0)
}

// setTimes gives what stands at a name the modification time of an entry.
func setTimes(folder int, name string, want Entry) error {
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, timespecOf(want.ModTime)}
	return unix.UtimesNanoAt(folder, name, times, unix.AT_SYMLINK_NOFOLLOW)
}

func timespecOf(t time.Time) unix.Timespec {
	return unix.Timespec{Sec: t.Unix(), Nsec: int64(t.Nanosecond())}
}

// overlayNames begin the attributes in which an overlay keeps what is its own.
var overlayNames = [...]string{"user.overlay.", "trusted.overlay."}

// dropOverlayNames takes off a file what the overlay noted on it.
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

// extendedNames are the extended attributes of what is open, none where there cannot be any.
func extendedNames(fd int) ([]string, error) {
	for {
		size, err := unix.Flistxattr(fd, nil)
		if errors.Is(err, unix.EOPNOTSUPP) || err == nil && size == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		list := make([]byte, size)
		size, err = unix.Flistxattr(fd, list)
		if errors.Is(err, unix.ERANGE) { // there are more of them by now
			continue
		}
		if err != nil {
			return nil, err
		}
		return strings.FieldsFunc(string(list[:size]), func(r rune) bool { return r == 0 }), nil
	}
}

// copyExtended copies extended attributes and access lists, as far as they may be set.
func copyExtended(from, to int) error {
	names, err := extendedNames(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if isOverlayName(name) {
			continue
		}
		size, err := unix.Fgetxattr(from, name, nil)
		if err != nil {
			return err
		}
		value := make([]byte, size)
		if size, err = unix.Fgetxattr(from, name, value); err != nil {
			return err
		}
		err = unix.Fsetxattr(to, name, value[:size], 0)
		if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
	}
	return nil
}
