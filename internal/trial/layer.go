package trial

import "errors"

// ErrUnavailable says that a command cannot be tried here: the system has no overlay, or
// not over these folders. The error that wraps it says which.
var ErrUnavailable = errors.New("a trial is not available here")

// A Layer is what a trial changed, kept apart from what lies underneath. Its zero value
// holds nothing.
type Layer struct {
	// Dir is the layer's own folder, 0700. It holds the stamp, and a folder for each root.
	Dir string `json:"dir"`
	// Roots are the folders that were covered, the outer before the inner.
	Roots []Root `json:"roots"`
	// Caches names, for [cache.Drop], the folder that took changes in caches, "" if the layer did.
	Caches string `json:"caches,omitempty"`
}

// A Root is one folder that the trial could write. Both paths are absolute and hold no
// links.
type Root struct {
	// Lower is the folder as it is.
	Lower string `json:"lower"`
	// Upper is the overlay's upper folder: what differs from Lower, and nothing else. It has
	// not been flushed to the disk: the kernel waits for nothing while the command runs.
	Upper string `json:"upper"`
	// Device and Inode name the folder that was covered. Another one may stand at Lower
	// by now.
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// stampFile is an empty file in a layer's folder, made before the command started. Its change
// time is the layer's start on the clock of its own file system.
const stampFile = "stamp"
