package sandbox

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// birthOf returns when a file was created, and whether it is this user's regular file with a single name.
func birthOf(path string) (born time.Time, own bool) {
	var st unix.Statx_t
	want := unix.STATX_BTIME | unix.STATX_TYPE | unix.STATX_UID | unix.STATX_NLINK
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, want, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 {
		return time.Time{}, false
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)), int(st.Uid) == os.Geteuid()
}
