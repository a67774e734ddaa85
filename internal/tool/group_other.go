//go:build !unix

package tool

import (
	"os"
	"os/exec"
	"time"
)

// A group is one command: groups of processes are not to be had here.
type group struct {
	process *os.Process
	done    chan error
}

func ownGroup(*exec.Cmd) {}

func startGroup(cmd *exec.Cmd) (*group, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{process: cmd.Process, done: make(chan error, 1)}
	go func() { g.done <- cmd.Wait() }()
	return g, nil
}

// stop ends the command.
func (g *group) stop(time.Duration) {
	_ = g.process.Kill() // it may have ended already
	<-g.done
}
