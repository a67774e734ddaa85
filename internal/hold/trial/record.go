package trial

import (
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
)

// A RecordSpec describes the planned writes of a call and where to save the old content.
type RecordSpec struct {
	// State is umpire's own folder.
	State string
	// Roots are the folders of the workspace, the project's first.
	Roots []string
	// Paths are the absolute paths of files, links and folders about to be written, replaced or moved. Their
	// parent folders must not be links. They need not exist. Entries of a moved folder are listed as well.
	Paths []string
	// InPlace means that the files may be written in place. Their contents are then
	// copied, and the copies need not survive a power loss. Otherwise the files are
	// replaced, and the old ones only get another name.
	InPlace bool
	// Later means that another program writes in place, possibly after this process has
	// ended. It waits for the copies, so fewer bytes are copied.
	Later bool
	// Vault seals the old content of paths that hold secrets. If nil, no path counts as secret.
	Vault Vault
	// Call and Session identify the call, and Command describes it for display.
	Call    umpire.CallID
	Session umpire.SessionID
	Command string
}

// A Vault recognizes files with secrets and encrypts their saved content. The label binds
// a text to its place.
type Vault interface {
	IsSecret(path string) bool
	Seal(label string, plain []byte) ([]byte, error)
	Open(label string, sealed []byte) ([]byte, error)
}

// isSecret reports whether a path holds secrets.
func isSecret(v Vault, path string) bool { return v != nil && v.IsSecret(path) }

// vaultLabel returns the label that binds a sealed file to its record and path.
func vaultLabel(record, path string) string { return fmt.Sprintf("undo:%q:%q", record, path) }

// sealedSuffix ends the name of a sealed file in a record.
const sealedSuffix = ".sealed"

// maxSealed limits the size of a sealed file, which is held in memory.
const maxSealed = 16 << 20

// The time that another program has to write. Afterwards a record without changes is
// forgotten, and a record with changes whose end was not reported is sealed.
const (
	laterUnchanged = 12 * time.Hour
	laterChanged   = time.Minute
)
