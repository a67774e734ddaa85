package interop

import "os"

// ordinaryUser returns the user to start agents as if this process is root, since some refuse their
// freest mode to root; 0 means this process's own user.
func ordinaryUser() int {
	if os.Getuid() != 0 {
		return 0
	}
	return 65534 // on most systems, a user without rights or files
}
