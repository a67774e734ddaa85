//go:build !linux

package digest

import "os"

// nextData takes all of a file for content.
func nextData(_ *os.File, from int64) int64 { return from }
