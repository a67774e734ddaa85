package process

import (
	"fmt"
	"os"
	"path"
	"slices"
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

// NameOf names a process. It returns "" when the process cannot be identified.
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

// ArgumentsOf are the words that a named process of this machine was started with. It reports
// false when it does not live, or they cannot be read.
func ArgumentsOf(name string) ([]string, bool) {
	pid, ok := pidOf(name)
	if !ok {
		return nil, false
	}
	args := arguments(pid)
	alive, _ := Alive(name)
	return args, alive && args != nil
}

// EnvironmentOf is the environment that a named process of this machine was started with. It
// reports false when it does not live, or that cannot be read.
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

// pidOf is the number in a name, if it names a process of this machine.
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

// smallHook is the program that may stand between.
const smallHook = "umpire-hook"

// maxShells bounds the shells that are passed over.
const maxShells = 8

// Host names the process that a hook works for, given the hook's parent: the nearest one
// above it that stays. Agents start a hook by `sh -c`; where that shell does not turn
// into the hook, as dash does not, it stands between and ends with it. So does our own small
// hook, where it has the large one answer.
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

// adopters are the programs that become the parent of processes whose own parent has ended.
var adopters = []string{
	"init", "systemd", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "runsvdir",
}

// Outermost is the process at which looking for agents ends; tests set it, since an agent may run them.
var Outermost int

// Agent is [Host], but returns "" if that process is only an adopter. The person's own programs run below one too.
func Agent(parent int) string {
	name := Host(parent)
	if pid, ok := pidOf(name); !ok || pid == Outermost || slices.Contains(adopters, command(pid)) {
		return ""
	}
	return name
}

// Above names the processes above one, the nearest first.
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

// maxAbove bounds the processes above one that are looked at.
const maxAbove = 16

// A Shell is the process that runs a command line for an agent.
type Shell struct {
	Program string // its executable
	Script  string // the text that it was started with
}

// ShellOf is the shell that a process is, and reports whether it is one that was started for
// one command.
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

// shells are the programs that agents start commands by.
var shells = []string{"sh", "dash", "bash", "ash", "busybox", "ksh", "mksh", "zsh"}

// startsOneCommand reports whether a process is a shell that was started for one command.
func startsOneCommand(pid int) bool {
	args := arguments(pid)
	if len(args) < 3 || !slices.Contains(shells, strings.TrimPrefix(path.Base(args[0]), "-")) {
		return false
	}
	for _, arg := range args[1:] {
		if !strings.HasPrefix(arg, "-") && arg != "sh" {
			return false // a script, whose name comes before its own arguments
		}
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c") {
			return true
		}
	}
	return false
}
