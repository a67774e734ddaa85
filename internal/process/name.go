// Package runner names the processes that run sessions, so that a later process
// of the same number is not taken for one of them.
//
//	name := runner.Of(os.Getpid())     // "host:4711:8823410"
//	alive, known := runner.Alive(name)
//
// Only Linux tells when a process began; elsewhere no process has a name.
package runner

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Name is how sessions name a process of this machine that began when started
// says; "" when the machine has no name.
func Name(pid int, started string) string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s:%d:%s", host, pid, started)
}

// NameOf names a process; "" when it cannot be told.
func NameOf(pid int) string {
	_, started, ok := Stat(pid)
	if !ok {
		return ""
	}
	return Name(pid, started)
}

// Alive reports whether the named process still lives; of one that ran on another
// machine that is not known.
func Alive(name string) (alive, known bool) {
	pid, ok := pidOf(name)
	return ok && NameOf(pid) == name, ok
}

// pidOf is the number in a name, if it names a process of this machine.
func pidOf(name string) (pid int, ok bool) {
	if !told {
		return 0, false
	}
	host, err := os.Hostname()
	rest, ours := strings.CutPrefix(name, host+":")
	number, _, whole := strings.Cut(rest, ":")
	if err != nil || !ours || !whole {
		return 0, false
	}
	pid, err = strconv.Atoi(number)
	return pid, err == nil && pid > 0
}
