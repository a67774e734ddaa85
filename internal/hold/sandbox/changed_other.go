//go:build !linux

package sandbox

import "io/fs"

// changed returns a file's modification time in nanoseconds.
func changed(info fs.FileInfo) int64 { return info.ModTime().UnixNano() }
