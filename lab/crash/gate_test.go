//go:build unix

package crash

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// A gate is one process of umpire serve.
type gate struct {
	pid  int
	up   chan struct{} // closed when it has reported that it is ready
	gone chan struct{} // closed when it has ended
}

// detach starts a program that does not descend from this process: an agent may run the
// tests, and an agent must not start a gate. Its parent is a shell that prints its
// process id, and kills it when this process closes the leash or exits.
const detach = `{
	"$@" 3>&- 4<&- & echo $! >&3
	exec 3>&- >/dev/null 2>&1
	read -r _ <&4
	kill -9 $!
	wait
} &`

// startGate starts umpire serve.
func startGate(h *home) (*gate, error) {
	log, err := os.OpenFile(h.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	var pipes [3]struct{ r, w *os.File } // its output, its process id, the leash
	for i := range pipes {
		if pipes[i].r, pipes[i].w, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	said, number, leash := pipes[0], pipes[1], pipes[2]
	cmd := exec.Command("sh", "-c", detach, "sh", program, "serve")
	cmd.Dir, cmd.Env = h.dir, h.env()
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = said.w, log, []*os.File{number.w, leash.r}
	err = errors.Join(cmd.Run(), said.w.Close(), number.w.Close(), leash.r.Close())
	line, readErr := bufio.NewReader(number.r).ReadString('\n')
	pid, numberErr := strconv.Atoi(strings.TrimSpace(line))
	if err := errors.Join(err, readErr, numberErr, number.r.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start the gate: %w", err), said.r.Close(), leash.w.Close())
	}
	g := &gate{pid: pid, up: make(chan struct{}), gone: make(chan struct{})}
	go g.awaitReady(said.r, leash.w)
	return g, nil
}

// log is the file of the gate's standard error.
func (h *home) log() string { return filepath.Join(h.dir, "gate.log") }

// awaitReady waits for the ready line and then for the end: only the gate holds the other
// end of the pipe.
func (g *gate) awaitReady(said, leash *os.File) {
	defer close(g.gone)
	defer leash.Close()
	defer said.Close()
	lines := bufio.NewReader(said)
	if line, err := lines.ReadString('\n'); err == nil && strings.HasPrefix(line, "umpire: ready on ") {
		close(g.up)
	}
	_, _ = io.Copy(io.Discard, lines) // it ends when the gate does
}

// signal sends the gate a signal, and reports whether it lived.
func (g *gate) signal(s syscall.Signal) bool {
	return !over(g.gone) && syscall.Kill(g.pid, s) == nil
}

// over waits for the gate's end.
func (g *gate) over(ctx context.Context) error {
	select {
	case <-g.gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A keeper keeps a gate running: one that was killed is replaced at once.
type keeper struct {
	home *home

	mu      sync.Mutex
	gate    *gate         // nil before the first
	changed chan struct{} // closed when there is a new gate
	ending  bool
	killed  map[*gate]bool

	done sync.WaitGroup
}

func newKeeper(h *home) *keeper {
	return &keeper{home: h, changed: make(chan struct{}), killed: map[*gate]bool{}}
}

// start keeps a gate running from now on. It calls fail if one ends by itself.
func (k *keeper) start(fail func(error)) {
	k.done.Go(func() {
		if err := k.keep(); err != nil {
			fail(err)
		}
	})
}

// keep starts gates until end. It returns when the last one has ended, with the error
// of a gate that ended by itself.
func (k *keeper) keep() error {
	for {
		g, err := startGate(k.home)
		if err != nil {
			return err
		}
		if !k.replace(g) {
			g.signal(syscall.SIGTERM)
		}
		<-g.gone
		k.mu.Lock()
		ending, killed := k.ending, k.killed[g]
		delete(k.killed, g)
		k.mu.Unlock()
		if ending {
			return nil
		}
		if !killed {
			return fmt.Errorf("the gate ended by itself: %s", lastLines(k.home.log()))
		}
	}
}

// replace makes another gate the current one. It reports whether it is wanted.
func (k *keeper) replace(g *gate) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gate = g
	close(k.changed)
	k.changed = make(chan struct{})
	return !k.ending
}

// current returns the current gate, which may be nil or dead, and a channel that is
// closed when there is a new one.
func (k *keeper) current() (*gate, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.gate, k.changed
}

// ready returns a gate that has reported that it is ready, and was alive a moment ago.
func (k *keeper) ready(ctx context.Context) (*gate, error) {
	for {
		g, changed := k.current()
		var up chan struct{}
		if g != nil && !over(g.gone) {
			up = g.up
		}
		select {
		case <-up:
			return g, nil
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// kill sends SIGKILL to the gate, and reports whether there was one.
func (k *keeper) kill() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gate == nil || k.killed[k.gate] || !k.gate.signal(syscall.SIGKILL) {
		return false
	}
	k.killed[k.gate] = true
	return true
}

// stay ends the gate by SIGKILL for good.
func (k *keeper) stay() {
	k.mu.Lock()
	k.ending = true
	k.mu.Unlock()
	k.kill()
	k.done.Wait()
}

// end ends the gate as a person would, and starts no other.
func (k *keeper) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ending = true
	if k.gate != nil {
		k.gate.signal(syscall.SIGTERM)
	}
}

// lastLines returns the end of a file, for a message.
func lastLines(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	const size = 2000
	return string(text[max(0, len(text)-size):])
}
