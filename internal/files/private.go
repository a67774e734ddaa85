package files

import (
	"io"
	"runtime"

	"github.com/umpirehq/umpire"
)

// ReadPrivate reads a regular file of limit bytes at most that nobody but its owner can read.
func ReadPrivate(name string, limit int64) ([]byte, error) {
	f, err := OpenSmall(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, umpire.Errorf("%s can be read by others: chmod 600", f.Name())
	}
	return io.ReadAll(io.LimitReader(f, limit))
}
