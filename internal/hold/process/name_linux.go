package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// knowsStart means that this system reports the start time of a process.
const knowsStart = true

// Stat returns a process's parent and start time. The program's name is in brackets and
// may contain anything, even brackets.
func Stat(pid int) (parent int, started string, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, "", false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const stateField, parentField, threadsField, startedField = 0, 1, 17, 19 // after the name
	if len(fields) <= startedField {
		return 0, "", false
	}
	// The state is that of the first thread: in a killed process, another thread may still write.
	ended := strings.Contains("ZXx", fields[stateField])
	if threads, err := strconv.Atoi(fields[threadsField]); err != nil || ended && threads <= 1 {
		return 0, "", false // a zombie does not count
	}
	parent, err = strconv.Atoi(fields[parentField])
	return parent, fields[startedField], err == nil
}

// age returns the time since this process was started. The kernel rounds the start down to 10 ms.
func age() (passed time.Duration, known bool) {
	_, started, ok := Stat(os.Getpid())
	ticks, err := strconv.ParseInt(started, 10, 64)
	var now unix.Timespec // since the boot, as the start is
	if !ok || err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0, false
	}
	return time.Duration(now.Nano()) - time.Duration(ticks)*10*time.Millisecond, true
}

// Running names the inspectable processes of this machine.
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

// arguments returns a process's arguments, or nil if they cannot be read.
func arguments(pid int) []string { return readList(pid, "cmdline") }

// environment returns a process's initial environment, or nil if it cannot be read.
func environment(pid int) []string { return readList(pid, "environ") }

// readList reads a file of a process with zero-terminated texts.
func readList(pid int, name string) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// command returns the short name of a process, even if it belongs to another user.
func command(pid int) string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(name), "\n")
}

// program returns the executable of a process, or "" if it cannot be determined.
func program(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return path
}
