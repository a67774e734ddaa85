//go:build !unix

package process

import (
	"os"
	"os/exec"
	"time"
)

// A Group is a single program because this system has no process groups.
type Group struct {
	// Done receives the program's error once.
	Done    chan error
	process *os.Process
}

// Own does nothing on this system.
func Own(*exec.Cmd) {}

// Start starts a command.
func Start(cmd *exec.Cmd) (*Group, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &Group{process: cmd.Process, Done: make(chan error, 1)}
	go func() { g.Done <- cmd.Wait() }()
	return g, nil
}

// Stop kills the program. It receives from Done.
func (g *Group) Stop(time.Duration) {
	_ = g.process.Kill() // it may already have ended
	<-g.Done
}
