package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// knowsStart says that the start time of a process is known on this system.
const knowsStart = true

// Stat reads a process's parent and the time at which it began. The program's name is in
// brackets and may hold anything, even brackets.
func Stat(pid int) (parent int, started string, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, "", false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const stateField, parentField, threadsField, startedField = 0, 1, 17, 19 // of what follows the name
	if len(fields) <= startedField {
		return 0, "", false
	}
	// The state is that of the first thread: of a process that was killed another may still write.
	ended := strings.Contains("ZXx", fields[stateField])
	if threads, err := strconv.Atoi(fields[threadsField]); err != nil || ended && threads <= 1 {
		return 0, "", false // a zombie does not count
	}
	parent, err = strconv.Atoi(fields[parentField])
	return parent, fields[startedField], err == nil
}

// Running names the processes of this machine that can be looked at.
func Running() (names []string) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if name := NameOf(pid); err == nil && name != "" && environment(pid) != nil {
			names = append(names, name)
		}
	}
	return names
}

// arguments are the words that a process was started with, nil when they cannot be read.
func arguments(pid int) []string { return readList(pid, "cmdline") }

// environment is what a process was started with beside its arguments, nil when it cannot be read.
func environment(pid int) []string { return readList(pid, "environ") }

// readList reads a file of a process that holds texts, each ended by a zero byte.
func readList(pid int, name string) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// command is the short name of a process, which also shows for one of another user.
func command(pid int) string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(name), "\n")
}

// program is the executable of a process, "" when it cannot be told.
func program(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return path
}
