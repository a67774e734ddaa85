//go:build !linux

package sandbox

import "io/fs"

// changed is when a file was last written.
func changed(info fs.FileInfo) int64 { return info.ModTime().UnixNano() }
