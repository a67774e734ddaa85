package hosts

import (
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/process"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// childGrace is how long a program may take to end by itself once its input has ended, and
// then again when it is asked to.
const childGrace = 2 * time.Second

// A child is the program behind a proxy.
type child struct {
	program string
	peer    *jsonrpc.Peer
	group   *process.Group
	input   io.Closer
	ended   chan struct{} // closed when it has ended
	err     error         // how; read it after ended is closed
}

// startChild starts the program behind a proxy, in the folder and environment of umpire.
func startChild(a *app.App, words []string) (*child, error) {
	cmd := exec.Command(words[0], words[1:]...) //nolint:noctx // it ends as a group, by stop
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = a.Dir, a.Stderr, childGrace
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, app.Failed(err)
	}
	// Do not use exec's pipe: it is closed when the process ends, and unread output is lost.
	output, write, err := os.Pipe()
	if err != nil {
		return nil, app.Failed(err)
	}
	cmd.Stdout = write
	process.Own(cmd)
	group, err := process.Start(cmd)
	write.Close() //nolint:errcheck // the program has its own
	if err != nil {
		return nil, app.Failed(umpire.Errorf("start %s: %w", words[0], err))
	}
	c := &child{program: words[0], group: group, input: input, ended: make(chan struct{}),
		peer: jsonrpc.NewPeer(output, input)}
	go func() {
		c.err = <-group.Done
		close(c.ended)
		group.Done <- c.err // for Stop
	}()
	return c, nil
}

// hangUp asks the program to end, by the end of its input.
func (c *child) hangUp() { c.input.Close() } //nolint:errcheck // it may have ended already

// awaitEnd waits for the program to end, and returns how.
func (c *child) awaitEnd() error {
	timer := time.NewTimer(childGrace)
	defer timer.Stop()
	select {
	case <-c.ended:
		return c.err
	case <-timer.C:
		return nil
	}
}

// stop ends the program and all processes that it started. It does nothing if c is nil.
func (c *child) stop() {
	if c == nil {
		return
	}
	c.hangUp()
	_ = c.awaitEnd() // its exit status does not matter
	c.group.Stop(childGrace)
}
