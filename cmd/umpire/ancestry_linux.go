package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// maxAncestors bounds the walk up: nobody sits that deep.
const maxAncestors = 64

// ancestors returns the processes that this one descends from, the nearest
// first, up to but without the one that is the root; 0 is the system's first.
// What may not be looked at counts as unmarked.
func ancestors(root int) []ancestor {
	var all []ancestor
	for pid := os.Getppid(); pid > 1 && pid != root && len(all) < maxAncestors; {
		parent, started, ok := procStat(pid)
		if !ok {
			break
		}
		all = append(all, ancestor{pid: pid, runner: runnerName(pid, started), marker: markedBy(pid)})
		pid = parent
	}
	return all
}

// procStat reads a process's parent and the time at which it started. The
// program's name stands in brackets and may hold anything, brackets too.
func procStat(pid int) (parent int, started string, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "", false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const stateField, parentField, startedField = 0, 1, 19 // of what follows the name
	if len(fields) <= startedField || strings.Contains("ZXx", fields[stateField]) {
		return 0, "", false // one that has ended and was not waited for is no process
	}
	parent, err = strconv.Atoi(fields[parentField])
	return parent, fields[startedField], err == nil
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
	return marked(func(name string) string { return env[name] })
}

// runnerOf names a process the way that runners of sessions are named; "" when
// it cannot be told.
func runnerOf(pid int) string {
	_, started, ok := procStat(pid)
	if !ok {
		return ""
	}
	return runnerName(pid, started)
}

// runnerAlive reports whether a runner of this machine still lives; what runs on
// another one is not known.
func runnerAlive(runner string) (alive, known bool) {
	pid, ok := runnerPID(runner)
	return ok && runnerOf(pid) == runner, ok
}
