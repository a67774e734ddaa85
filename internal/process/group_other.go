//go:build !unix

package process

import (
	"os"
	"os/exec"
	"time"
)

// A Group is one program: this system has no process groups.
type Group struct {
	// Done yields once how the program ended.
	Done    chan error
	process *os.Process
}

// Own does nothing here.
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

// Stop ends the program. It takes what Done yields.
func (g *Group) Stop(time.Duration) {
	_ = g.process.Kill() // it may have ended already
	<-g.Done
}
