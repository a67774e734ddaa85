package sandbox

import (
	"io/fs"
	"syscall"
)

// changed is when a file was last changed in any way. No program can set it.
func changed(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return info.ModTime().UnixNano()
}
