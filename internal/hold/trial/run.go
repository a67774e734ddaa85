package trial

import (
	"io"
	"os"
	"time"

	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
)

// A Spec describes the command to try, and where to run it.
type Spec struct {
	// Args are the command and its arguments, Env its whole environment and Dir its
	// working directory. The caller removes withheld variables from Env.
	Args []string
	Env  []string
	Dir  string
	// Stdin is the command's input, or nil. Signals are passed on to the command.
	Stdin   *os.File
	Signals <-chan os.Signal
	// Stdout and Stderr receive the command's output as it comes; nil discards it. They
	// may be the same.
	Stdout, Stderr io.Writer
	// Place says which folders are covered (Workspace) and hidden (Home, State). The command sees the caches, and its
	// changes to them are visible only to later tried commands. Changes by a command that may send something out are
	// visible only to other such commands, and to no other command if it has Seen. Scratch and Overlays are ignored.
	Place *sandbox.Place
	// Exit leads the command to destinations; nil leads to none. It serves one Run at a time.
	Exit *egress.Proxy
	// Seen are secrets that the command may read.
	Seen []string
	// Temporary receives the files that a kept trial leaves in /tmp.
	Temporary sandbox.TemporaryFolder
	// Ahead is a helper of the sandbox that has already started, or nil.
	Ahead *sandbox.Ahead
	// Again is called with the paths that changed below the command before it runs a
	// second time because of them. If nil, the command never runs twice.
	Again func(changed []string)
	// State is the folder for layers, private to the user. If its file system does not
	// support layers, a tmpfs is used.
	State string
	// Profile records the phases; it may be nil.
	Profile *process.Profile
	// Grace is how long the command may take to end after it is asked to; 0 means two seconds.
	Grace time.Duration

	limits   limits // limits of reading the effects
	maxLayer int64  // bytes that the command may write
}

// The default limits of one run.
const (
	maxOutput = 1 << 20
	maxLayer  = 16 << 30
	// maxMemory limits a layer on tmpfs, which uses the machine's memory.
	maxMemory = 2 << 30
	grace     = 2 * time.Second
)

// A Result is the outcome of a trial. Its layer exists until it is kept or discarded.
type Result struct {
	// Exit is the command's exit code, or 128 plus the number of the signal that ended it.
	Exit int
	// Output is the command's output on both streams, up to 1 MiB.
	Output  []byte
	Layer   Layer
	Effects Effects

	signalled bool
}

// A recording keeps the beginning of the output.
type recording struct{ text []byte }

func (r *recording) record(p []byte) {
	r.text = append(r.text, p[:min(len(p), maxOutput-len(r.text))]...)
}
