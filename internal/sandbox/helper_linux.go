package sandbox

import (
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire/internal/homeview"
)

// helperWord is the argument that makes this program the helper.
const helperWord = "__sandbox"

// The helper's files beside the three of the command.
const (
	orderFile  = 3
	reportFile = 4
)

// observedProcessors are those of a helper that observes: one for it, one for the names, one for the
// observer. Else it has one, which starts faster.
const observedProcessors = 3

// maxOrder bounds what the helper reads: an environment takes most of it.
const maxOrder = 16 << 20

// Main turns the process into the sandbox's helper when it was started as one, and
// does not return then. A program calls it first of all.
func Main() {
	called = true
	if len(os.Args) == 3 && os.Args[1] == proberWord {
		if err := runProbes(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) != 2 || os.Args[1] != helperWord {
		return
	}
	// What is given up below is given up by this thread, and by what it starts.
	runtime.LockOSThread()
	h := &helper{report: os.NewFile(reportFile, "report")}
	h.journal = newJournal(h.report)
	// The command gets none of this program's files, nor what the programs above umpire
	// have left open: a folder from outside would lead past all mounts.
	if err := unix.CloseRange(orderFile, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		h.fail("close files", err)
	}
	if err := h.readOrder(); err != nil {
		h.fail("read the order", err)
	}
	if h.Observe {
		// Two threads wait in system calls for as long as the command runs. Go would take a processor
		// away from each only after milliseconds, for which all else would wait.
		runtime.GOMAXPROCS(observedProcessors)
	}
	h.setUp()
	if h.Check {
		h.started()
		os.Exit(0)
	}
	os.Exit(h.run())
}

// called says that this program can be the helper: one that is not would start
// itself anew for ever.
var called bool

// A helper sets the sandbox up from inside, and is the first process in it.
type helper struct {
	order

	report *os.File
	over   []heldMount // the overlays of the workspace
	homes  []homeview.Real

	journal   *journal // of what is seen
	listeners chan int // to the observer, where there is one
	blind     bool     // there should be one, and cannot
}

func (h *helper) readOrder() error {
	f := os.NewFile(orderFile, "order")
	defer f.Close()
	return gob.NewDecoder(io.LimitReader(f, maxOrder)).Decode(&h.order)
}

// fail says what went wrong to whoever waits for it, and ends the sandbox. The
// report does not go to the command's own output, where it could be taken for what
// the command said.
func (h *helper) fail(step string, err error) {
	if e := json.NewEncoder(h.report).Encode(report{Step: step, Reason: err.Error()}); e != nil {
		fmt.Fprintf(os.Stderr, "umpire: sandbox: %s: %v\n", step, err)
	}
	os.Exit(exitSetup)
}

// started says that the set-up is done. Without it nobody believes that it was.
func (h *helper) started() {
	if err := json.NewEncoder(h.report).Encode(report{Started: true, Blind: h.blind}); err != nil {
		os.Exit(exitSetup)
	}
	if !h.Observe {
		_ = h.report.Close() // it has been said
	}
}

// A step is one part of the set-up. Its name is what a person reads when it fails.
type step struct {
	name  string
	layer layers
	do    func(*helper) error
}

// steps are in the order in which they have to be done: mounts first, since what
// follows forbids them, and the filter last, since what comes before it is forbidden
// by it.
var steps = []step{
	{"keep other processes out", 0, (*helper).undumpable},
	{"loopback", withNamespaces, (*helper).loopback},
	{stepOverlays, withNamespaces, (*helper).makeOverlays},
	{"mounts", withNamespaces, (*helper).mountAll},
	{"names", withNamespaces, (*helper).serveNames},
	{"working directory", 0, (*helper).enter},
	{"no new privileges", 0, (*helper).noNewPrivileges},
	{"landlock", withLandlock, (*helper).landlock},
	{"observer", withFilter, (*helper).startObserver},
	{"capabilities", 0, (*helper).dropCapabilities},
	{"system call filter", withFilter, (*helper).filter},
	{"look at the filter", withFilter, (*helper).checkFilter},
}

func (h *helper) setUp() {
	for _, s := range steps {
		if !h.Layers.has(s.layer) {
			continue
		}
		err := s.do(h)
		if h.Fault == s.name {
			err = errors.New("made to fail")
		}
		if err != nil {
			h.fail(s.name, err)
		}
	}
}

// undumpable keeps the command from looking into the helper, which has more rights
// than it for as long as it runs.
func (h *helper) undumpable() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// loopback switches the loopback of its own on. That takes a right which the helper has
// in its own network namespace only: should it stand in the machine's, it fails.
func (h *helper) loopback() error {
	if h.Reach != reachItself {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return switchOn(fd, "lo")
}

// switchOn switches an interface on, by any socket.
func switchOn(socket int, name string) error {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

// enter goes to the working directory by its name: the one that was inherited is a
// folder below what has been mounted since.
func (h *helper) enter() error {
	if err := os.Chdir(h.Dir); err != nil {
		return err
	}
	return syscall.Access(".", unix.X_OK)
}

func (h *helper) noNewPrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }
