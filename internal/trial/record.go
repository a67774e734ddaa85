package trial

import (
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
)

// A RecordSpec says what a call is about to write, and where what stood there is remembered.
type RecordSpec struct {
	// State is umpire's own folder.
	State string
	// Roots are the folders of the workspace, the project's first.
	Roots []string
	// Paths are the files, links and folders that are about to be written, replaced or moved, absolute;
	// the folders above them are no links. They need not exist. What a moved folder holds is listed as well.
	Paths []string
	// InPlace says that the files may be written in place. Their contents are then copied, and the
	// copies need not survive a power loss. Otherwise the files are replaced, and the old ones only
	// get another name.
	InPlace bool
	// Later says that another program writes, in place, perhaps after this process has ended. It
	// waits for the copies, so fewer bytes are copied.
	Later bool
	// Vault seals what stands at paths that hold secrets; nil takes no path for one.
	Vault Vault
	// Call and Session name the call, and Command is what people are told of it.
	Call    umpire.CallID
	Session umpire.SessionID
	Command string
}

// A Vault knows the files that hold secrets, and encrypts what is remembered of them. The
// label binds a text to its place.
type Vault interface {
	IsSecret(path string) bool
	Seal(label string, plain []byte) ([]byte, error)
	Open(label string, sealed []byte) ([]byte, error)
}

// isSecret reports whether a path holds secrets.
func isSecret(v Vault, path string) bool { return v != nil && v.IsSecret(path) }

// vaultLabel is where a sealed file belongs.
func vaultLabel(record, path string) string { return fmt.Sprintf("undo:%q:%q", record, path) }

// sealedSuffix ends the name of a file in a record that is sealed.
const sealedSuffix = ".sealed"

// maxSealed bounds a file that is sealed: it is held in memory.
const maxSealed = 16 << 20

// How long another program may take to write: a record in which nothing has changed is then
// forgotten, and one of which nobody said that the call has ended is sealed.
const (
	laterUnchanged = 12 * time.Hour
	laterChanged   = time.Minute
)
