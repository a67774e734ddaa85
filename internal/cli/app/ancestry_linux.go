package app

import (
	"fmt"
	"os"
	"strings"

	"github.com/umpirehq/umpire/internal/hold/process"
)

// maxAncestors bounds the walk up the process tree.
const maxAncestors = 64

// findAncestors returns the ancestors of this process, the nearest first, up to but without
// root; 0 is the system's first process. An unreadable process counts as unmarked.
func findAncestors(root int) []ancestor {
	var all []ancestor
	for pid := os.Getppid(); pid > 1 && pid != root && len(all) < maxAncestors; {
		parent, started, ok := process.Stat(pid)
		if !ok {
			break
		}
		all = append(all, ancestor{pid: pid, runner: process.Name(pid, started), marker: markedBy(pid)})
		pid = parent
	}
	return all
}

// markedBy finds an agent's mark in the initial environment of a process. Removing the
// mark from a child's environment does not hide it here.
func markedBy(pid int) *agentMarker {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil
	}
	env := map[string]string{}
	for pair := range strings.SplitSeq(string(data), "\x00") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	return findMarker(func(name string) string { return env[name] })
}
