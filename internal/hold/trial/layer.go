package trial

import (
	"errors"

	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// ErrUnavailable means that a command cannot be tried here, because the system has no
// overlay or cannot cover these folders. The wrapping error tells which.
var ErrUnavailable = errors.New("a trial is not available here")

// A Layer holds the changes of a trial, separate from the folders below it. Its zero
// value is empty.
type Layer struct {
	// Dir is the layer's own folder, mode 0700. It holds the stamp and a folder for each root.
	Dir string `json:"dir"`
	// Roots are the covered folders, outer before inner.
	Roots []Root `json:"roots"`
	// Caches identifies, for [dropCache], the folder with the changes to caches. It is "" if the layer has them.
	Caches string `json:"caches,omitempty"`
	// Temporary receives the files in /tmp when the layer is kept.
	Temporary sandbox.TemporaryFolder `json:"temporary,omitzero"`
}

// A Root is one folder that the trial could write. Both paths are absolute and contain no
// symbolic links.
type Root struct {
	// Lower is the real folder.
	Lower string `json:"lower"`
	// Upper is the overlay's upper folder. It holds only the differences from Lower. It
	// has not been flushed to the disk.
	Upper string `json:"upper"`
	// Device and Inode identify the covered folder. Another folder may have replaced it
	// at Lower.
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// stampFile is an empty file in a layer's folder, made before the command started. Its
// change time is the layer's start on the clock of its own file system.
const stampFile = "stamp"
