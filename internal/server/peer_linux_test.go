package server_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
)

// children are the functions of this test program when a test starts it again. All but
// one end up submitting a person's answer to the gate.
var children = map[string]func() int{
	"plain":           answerAsPerson,
	"no-new-privs":    func() int { return again(giveUpPrivileges) },
	"seccomp":         func() int { return again(giveUpPrivileges, filterNothing) },
	"seccomp-only":    func() int { return again(filterNothing) },
	"grandchild":      func() int { return parentOf("plain") },
	"pipe-grandkids":  func() int { return parentOf("grandchild") },
	"few-descriptors": serveFew,
}

func answerAsPerson() int {
	c, err := server.Dial(os.Getenv("UMPIRE_TEST_GATE"), credentials.Person)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if _, err := c.Pending(context.Background(), umpire.PendingQuery{}); err != nil {
		fmt.Println("may not list:", err)
		return 1
	}
	if _, err := c.Resolve(context.Background(), umpire.Answer{Request: "r1", Choice: umpire.Approve}); err != nil {
		fmt.Println("may not answer:", err)
		return 1
	}
	return 0
}

// again restricts this process and starts its program again, because a restriction
// applies to one thread and the programs that it starts.
func again(restrict ...func() error) int {
	runtime.LockOSThread()
	for _, f := range restrict {
		if err := f(); err != nil {
			fmt.Println("cannot restrict:", err)
			return 77
		}
	}
	err := os.Setenv("UMPIRE_TEST_CHILD", "plain")
	if err == nil {
		err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	fmt.Println(err)
	return 1
}

func giveUpPrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// filterNothing installs a seccomp filter that permits everything.
func filterNothing() error {
	const allow = 0x7fff0000
	filter := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: allow}}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

func parentOf(child string) int {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "UMPIRE_TEST_CHILD="+child)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return 1
	}
	return 0
}

// childTime limits a child: one that hangs fails its test, and not the whole run.
const childTime = time.Minute

// startChild runs this test program as a child and returns its output.
func startChild(t *testing.T, w *world, child string, attributes *syscall.SysProcAttr) (said string, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), childTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), "UMPIRE_TEST_CHILD="+child, "UMPIRE_TEST_GATE="+w.address)
	cmd.SysProcAttr = attributes
	out, err := cmd.CombinedOutput()
	if exit, isExit := errors.AsType[*exec.ExitError](err); isExit {
		if exit.ExitCode() == 77 {
			t.Skipf("this machine does not permit it: %s", out)
		}
	} else if err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
			t.Skipf("this machine does not permit it: %v", err)
		}
		t.Fatal(err)
	}
	return string(out), err == nil
}

func TestPersonsCredentialIsNotTakenFromASandbox(t *testing.T) {
	t.Parallel()
	namespaces := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	rows := []struct {
		name, child string
		attributes  *syscall.SysProcAttr
		want        string // in the refusal, or "" if it is accepted
	}{
		{"plain", "plain", nil, ""},
		{"grandchild", "grandchild", nil, ""},
		{"no new privileges", "no-new-privs", nil, "new privileges"},
		{"seccomp", "seccomp", nil, "new privileges"},
		{"seccomp alone", "seccomp-only", nil, "seccomp"},
		{"another pid namespace", "plain", namespaces, "pid namespace"},
	}
	for network, row := range onEveryNetwork(rows) {
		t.Run(network+" "+row.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, network, server.Config{})
			said, ok := startChild(t, w, row.child, row.attributes)
			if ok != (row.want == "") || !strings.Contains(said, row.want) || !ok && !strings.Contains(said, "may not list") {
				t.Errorf("the child said %q", said)
			}
			if answered := w.gate.answer != nil; answered != ok {
				t.Errorf("answered: %v", answered)
			}
		})
	}
}

// A process below a session's runner may read, but may not answer. The runner itself may,
// because the built-in agent has its person at the same terminal.
func TestPersonsCredentialIsNotTakenBelowARunner(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	me := fmt.Sprintf("%s:%d:%s", host, os.Getpid(), started(t))
	rows := []struct {
		name    string
		child   string
		session umpire.Session
		ok      bool
	}{
		{"child of a runner", "plain", umpire.Session{Runner: me}, false},
		{"grandchild of a runner", "grandchild", umpire.Session{Runner: me}, false},
		{"great-grandchild of a runner", "pipe-grandkids", umpire.Session{Runner: me}, false},
		{"child of a further runner", "plain", umpire.Session{Runner: "x" + me, Runners: []string{"y" + me, me}}, false},
		{"of one whose session has ended", "plain", umpire.Session{Runner: me, State: umpire.SessionOver}, true},
		{"of one of another host", "plain", umpire.Session{Runner: "x" + me}, true},
		{"of one that began at another time", "plain", umpire.Session{Runner: me + "0"}, true},
		{"of something else", "plain", umpire.Session{Runner: "runner 7"}, true},
	}
	for network, row := range onEveryNetwork(rows) {
		t.Run(network+" "+row.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, network, server.Config{Gate: runs(row.session)})
			said, ok := startChild(t, w, row.child, nil)
			if ok != row.ok || !ok && !strings.Contains(said, "may not answer") {
				t.Errorf("the child said %q", said)
			}
			if answered := w.gate.answer != nil; answered != ok {
				t.Errorf("answered: %v", answered)
			}
		})
	}
	t.Run("the runner itself", func(t *testing.T) {
		t.Parallel()
		w := serve(t, "unix", server.Config{Gate: runs(umpire.Session{Runner: me})})
		if _, err := w.client(t, credentials.Person).Resolve(t.Context(), umpire.Answer{Request: "r1", Choice: umpire.Refuse}); err != nil {
			t.Error(err)
		}
	})
}

// runs returns a gate with a session, which must exist before the server: a child's
// request is not synchronized with this process.
func runs(s umpire.Session) *fakeGate {
	gate := newFake()
	gate.runners = []umpire.Session{s}
	return gate
}

// onEveryNetwork yields each row for a unix socket and for TCP on this machine.
func onEveryNetwork[T any](rows []T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for network := range networks {
			for _, row := range rows {
				if !yield(network, row) {
					return
				}
			}
		}
	}
}

// started returns this process's start time, as reported by the kernel.
func started(t *testing.T) string {
	t.Helper()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.Fields(rest)[19]
}

// A gate that cannot determine the runners of sessions refuses all answers, and reports that.
func TestUnknownRunnersRefuse(t *testing.T) {
	t.Parallel()
	w := serve(t, "unix", server.Config{})
	w.gate.fails["Sessions"] = errors.New("disk")
	got := w.call(t, "GateService/Resolve", credentials.Person, `{"request_id":"r1","answer":"approve"}`)
	if got.status != http.StatusServiceUnavailable || !strings.Contains(string(got.body), `"not_recorded"`) || w.gate.answer != nil {
		t.Errorf("%d %s", got.status, got.body)
	}
}
