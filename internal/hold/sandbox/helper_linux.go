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
)

// helperWord is the argument that starts this program as the helper.
const helperWord = "__sandbox"

// The helper's files in addition to the command's three.
const (
	orderFile  = 3
	reportFile = 4
	exitFile   = 5 // only with an order for it
)

// observedProcessors is GOMAXPROCS for an observing helper: one for itself, one for the
// name server and one for the observer. Other helpers use one, which starts faster.
const observedProcessors = 3

// maxOrder limits the size of an order, which is mostly the environment.
const maxOrder = 16 << 20

// Main turns the process into the sandbox's helper if it was started as one, and does not
// return in that case. A program must call it first.
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
	// This thread and its children give up their rights below.
	runtime.LockOSThread()
	h := &helper{report: os.NewFile(reportFile, "report")}
	h.journal = newJournal(h.report)
	// The command must not inherit files of this program or its parents: an open folder
	// from outside would bypass all mounts.
	if err := unix.CloseRange(orderFile, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		h.fail("close files", err)
	}
	if err := h.readOrder(); err != nil {
		h.fail("read the order", err)
	}
	if h.Observe {
		// Two threads wait in system calls while the command runs. Go would take a
		// processor from each only after milliseconds, which would delay everything else.
		runtime.GOMAXPROCS(observedProcessors)
	}
	h.setUp()
	if h.Check {
		h.started()
		os.Exit(0)
	}
	os.Exit(h.run())
}

// called means that this program can be the helper. Otherwise it would start itself again
// forever.
var called bool

// A helper sets up the sandbox from inside, and is its first process.
type helper struct {
	order

	report *os.File
	over   []heldMount // overlays of the workspace
	homes  []realFolder

	journal   *journal // of observed operations
	listeners chan int // to the observer, if any
	blind     bool     // the observation is not possible
}

func (h *helper) readOrder() error {
	f := os.NewFile(orderFile, "order")
	defer f.Close()
	return gob.NewDecoder(io.LimitReader(f, maxOrder)).Decode(&h.order)
}

// fail reports an error and ends the sandbox. It does not use the command's own output,
// where the report could be mistaken for output of the command.
func (h *helper) fail(step string, err error) {
	if e := json.NewEncoder(h.report).Encode(report{Step: step, Reason: err.Error()}); e != nil {
		fmt.Fprintf(os.Stderr, "umpire: sandbox: %s: %v\n", step, err)
	}
	os.Exit(exitSetup)
}

// started reports that the setup is complete. Without this report, the setup counts as failed.
func (h *helper) started() {
	if err := json.NewEncoder(h.report).Encode(report{Started: true, Blind: h.blind}); err != nil {
		os.Exit(exitSetup)
	}
	if !h.Observe {
		_ = h.report.Close() // nothing more to report
	}
}

// A step is one part of the setup. Its name is shown to the user if it fails.
type step struct {
	name  string
	layer layers
	do    func(*helper) error
}

// steps are in their required order: mounts first, because later steps forbid them, and
// the filter last, because it forbids the other steps.
var steps = []step{
	{"keep other processes out", 0, (*helper).undumpable},
	{"loopback", withNamespaces, (*helper).loopback},
	{"way out", withNamespaces, (*helper).openExit},
	{stepOverlays, withNamespaces, (*helper).makeOverlays},
	{"mounts", withNamespaces, (*helper).mountAll},
	{"texts", withNamespaces, (*helper).replaceTexts},
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

// undumpable keeps the command from inspecting the helper, which has more rights while it
// runs.
func (h *helper) undumpable() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// loopback enables the private loopback. The helper has the required capability only in
// its own network namespace, so this fails in the machine's.
func (h *helper) loopback() error {
	if h.Reach != reachItself {
		return nil
	}
	return RaiseLoopback()
}

// RaiseLoopback enables the loopback of a new network namespace.
func RaiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// enter changes to the working directory by its path, because the inherited one is below
// newer mounts.
func (h *helper) enter() error {
	if err := os.Chdir(h.Dir); err != nil {
		return err
	}
	return syscall.Access(".", unix.X_OK)
}

func (h *helper) noNewPrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }
