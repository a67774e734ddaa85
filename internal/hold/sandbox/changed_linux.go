package sandbox

import (
	"io/fs"
	"syscall"
)

// changed returns a file's change time in nanoseconds. Programs cannot set it.
func changed(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return info.ModTime().UnixNano()
}
