//go:build !linux

package trial

import "os"

// nextData treats the whole file as content.
func nextData(_ *os.File, from int64) int64 { return from }
