package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// IsNull reports whether an open file is /dev/null, under any name.
func IsNull(f *os.File) bool {
	var st, null unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && unix.Stat(os.DevNull, &null) == nil &&
		st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == null.Rdev
}
