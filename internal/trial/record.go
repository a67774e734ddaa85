package trial

import (
	"time"

	"github.com/umpirehq/umpire"
)

// A RecordSpec says what a call is about to write, and where what stood there is remembered.
type RecordSpec struct {
	// State is umpire's own folder.
	State string
	// Roots are the folders of the workspace, the project's first.
	Roots []string
	// Paths are the files that are about to be written, absolute and without links. They and
	// their folders need not exist.
	Paths []string
	// Later says that another program writes, perhaps in place and when this process has ended:
	// what stands there is copied. Else the files are replaced, and what stands there only gets
	// another name. What is remembered for later does not outlast a power loss.
	Later bool
	// Call and Session name the call, and Command is what people are told of it.
	Call    umpire.CallID
	Session umpire.SessionID
	Command string
}

// maxPreimage bounds a file that is copied before it is written. A larger one is remembered
// where it needs no copy, and else its call has no record.
const maxPreimage = 256 << 20

// maxPreimageLater is the same bound while another program waits for it.
const maxPreimageLater = 16 << 20

// How long another program may take to write: a record in which nothing has changed is then
// forgotten, and one of which nobody said that the call has ended is sealed.
const (
	laterUnchanged = 12 * time.Hour
	laterChanged   = time.Minute
)
