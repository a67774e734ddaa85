package trial

import (
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
	// InPlace says that the files may be written in place, so that what stands there is copied.
	// Else they are replaced, and what stands there only gets another name.
	InPlace bool
	// Call and Session name the call, and Command is what people are told of it.
	Call    umpire.CallID
	Session umpire.SessionID
	Command string
}

// maxPreimage bounds a file that is copied before it is written. A larger one is remembered
// where it needs no copy, and else its call has no record.
const maxPreimage = 256 << 20
