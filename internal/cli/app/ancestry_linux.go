package app

import (
	"fmt"
	"os"
	"strings"

	"github.com/umpirehq/umpire/internal/process"
)

// maxAncestors bounds the walk up the process tree.
const maxAncestors = 64

// findAncestors returns the processes that this one descends from, the nearest first, up to
// but without the one that is the root; 0 is the system's first. A process that may not be
// read counts as unmarked.
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

// markedBy finds an agent's mark in the environment that a process was started
// with. Taking the mark away from a child does not take it away here.
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
