package process

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Name returns the name that sessions use for a process of this machine with the given
// start time, or "" if the machine has no host name.
func Name(pid int, started string) string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s:%d:%s", host, pid, started)
}

// NameOf returns the name of a process, or "" if the process cannot be identified.
func NameOf(pid int) string {
	_, started, ok := Stat(pid)
	if !ok {
		return ""
	}
	return Name(pid, started)
}

// Alive reports whether the named process is still running. known is false for processes
// on other machines.
func Alive(name string) (alive, known bool) {
	pid, ok := pidOf(name)
	return ok && NameOf(pid) == name, ok
}

// ArgumentsOf returns the arguments of a named process of this machine, including the
// program. ok is false if it is not running or they cannot be read.
func ArgumentsOf(name string) ([]string, bool) {
	pid, ok := pidOf(name)
	if !ok {
		return nil, false
	}
	args := arguments(pid)
	alive, _ := Alive(name)
	return args, alive && args != nil
}

// EnvironmentOf returns the initial environment of a named process of this machine. ok is
// false if it is not running or the environment cannot be read.
func EnvironmentOf(name string) (getenv func(string) string, ok bool) {
	pid, ok := pidOf(name)
	if !ok {
		return nil, false
	}
	pairs := environment(pid)
	alive, _ := Alive(name)
	return func(variable string) string {
		for _, pair := range pairs {
			if value, is := strings.CutPrefix(pair, variable+"="); is {
				return value
			}
		}
		return ""
	}, alive && pairs != nil
}

// pidOf returns the process id in a name, if it names a process of this machine.
func pidOf(name string) (pid int, ok bool) {
	if !knowsStart {
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

// smallHook is our small hook program, which may run between an agent and the large one.
const smallHook = "umpire-hook"

// maxShells limits how many shells are skipped.
const maxShells = 8

// Host names the process that a hook works for, given the hook's parent: its nearest
// lasting ancestor. Agents start a hook with `sh -c`. A shell that does not exec the
// hook, such as dash, stays in between and ends with it. So does our small hook if it
// uses the large one.
func Host(parent int) string {
	pid := parent
	for range maxShells {
		if !startsOneCommand(pid) && path.Base(program(pid)) != smallHook {
			return NameOf(pid)
		}
		above, _, ok := Stat(pid)
		if !ok || above <= 1 {
			break
		}
		pid = above
	}
	return NameOf(parent)
}

// adopters are the programs that become the parent of orphaned processes.
var adopters = []string{
	"init", "systemd", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "runsvdir",
}

// Outermost is the process at which the search for agents ends. Tests set it, because an agent may run them.
var Outermost int

// Agent is [Host], but returns "" if that process is only an adopter. The person's own programs run below one too.
func Agent(parent int) string {
	name := Host(parent)
	if pid, ok := pidOf(name); !ok || pid == Outermost || slices.Contains(adopters, command(pid)) {
		return ""
	}
	return name
}

// Above names the ancestors of a process, nearest first.
func Above(pid int) []string {
	var names []string
	for range maxAbove {
		above, _, ok := Stat(pid)
		if !ok || above <= 1 {
			break
		}
		if name := NameOf(above); name != "" {
			names = append(names, name)
		}
		pid = above
	}
	return names
}

// maxAbove limits the number of ancestors.
const maxAbove = 16

// A Shell is the process that runs a command line for an agent.
type Shell struct {
	Program string // its executable
	Script  string // the text passed to it
}

// ShellOf returns the shell that a process is, and whether it was started for a single
// command.
func ShellOf(pid int) (Shell, bool) {
	args := arguments(pid)
	if !startsOneCommand(pid) {
		return Shell{}, false
	}
	for _, arg := range args[1:] {
		if !strings.HasPrefix(arg, "-") {
			return Shell{Program: program(pid), Script: arg}, true
		}
	}
	return Shell{}, false
}

// shells are the programs with which agents start commands.
var shells = []string{"sh", "dash", "bash", "ash", "busybox", "ksh", "mksh", "zsh"}

// startsOneCommand reports whether a process is a shell that was started for one command.
func startsOneCommand(pid int) bool {
	args := arguments(pid)
	if len(args) < 3 || !slices.Contains(shells, strings.TrimPrefix(path.Base(args[0]), "-")) {
		return false
	}
	for _, arg := range args[1:] {
		if !strings.HasPrefix(arg, "-") && arg != "sh" {
			return false // a script, followed by its own arguments
		}
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c") {
			return true
		}
	}
	return false
}
