package trial

import (
	"io"
	"os"
	"time"

	"github.com/umpirehq/umpire/internal/sandbox"
)

// A Spec says what to try, and where.
type Spec struct {
	// Args are the command and its arguments, Env its whole environment and Dir where it
	// starts. The caller leaves out of Env what is to be withheld.
	Args []string
	Env  []string
	Dir  string
	// Stdin is the command's input, nil for none. Signals are passed on to it.
	Stdin   *os.File
	Signals <-chan os.Signal
	// Stdout and Stderr get what the command prints, as it comes; nil forgets it. They may be
	// the same.
	Stdout, Stderr io.Writer
	// Place says which folders are covered (Workspace), and what is hidden (Home, State). The
	// command sees its caches, which stay as they are; later ones see what it changes in them. A command with the
	// network shows that to such ones only, and not if it has Seen. Scratch and Overlays are not used.
	Place *sandbox.Place
	// Network gives the command the machine's network. Seen are secrets that it may read.
	Network bool
	Seen    []string
	// Ahead is a helper of the sandbox that has started already, nil for none.
	Ahead *sandbox.Ahead
	// Again is told which paths changed below the command when it runs a second time for that reason. Nil runs
	// nothing twice.
	Again func(changed []string)
	// State is the folder in which layers are made, private to the user. Where its file system
	// cannot carry one, a tmpfs is used.
	State string
	// Grace is how long the command has to end when it is asked to; 0 is two seconds.
	Grace time.Duration

	limits   limits // of reading the effects
	maxLayer int64  // what the command may write
}

// The limits of one run where nothing else is said.
const (
	maxOutput = 1 << 20
	maxLayer  = 16 << 30
	// maxMemory bounds a layer on tmpfs, which takes the machine's memory.
	maxMemory = 2 << 30
	grace     = 2 * time.Second
)

// A Result is how a trial went. Its layer is there until it is kept or discarded.
type Result struct {
	// Exit is the command's exit code; one that a signal ended has 128 and the signal's number.
	Exit int
	// Output is what the command printed on both streams, up to a mebibyte.
	Output  []byte
	Layer   Layer
	Effects Effects

	signalled bool
}

// A recording keeps the beginning of what is written to it.
type recording struct{ text []byte }

func (r *recording) record(p []byte) {
	r.text = append(r.text, p[:min(len(p), maxOutput-len(r.text))]...)
}
