//go:build !unix

package host

import "io/fs"

// ownedByUser reports whether a file belongs to the user of this process, which is not
// told here.
func ownedByUser(fs.FileInfo) bool { return false }
