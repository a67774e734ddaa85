package host

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// interpreters run their typed input.
var interpreters = []string{
	"sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "python", "python3", "node", "deno", "bun", "ruby", "irb",
	"perl", "lua", "php", "R", "psql", "mysql", "sqlite3", "gdb", "ssh", "tmux", "screen",
}

// opensUnseen reports whether a call types into a running program, or starts one that takes later
// input, in a host that does not ask about typed input. A program that gets its input from the line
// itself does not count.
func (e *Event) opensUnseen(d *umpire.Decision) bool {
	row, _ := e.Host.tool(e.ToolName)
	if row.Types || !e.Host.unseen || e.Call.Tool != "Bash" {
		return row.Types
	}
	if line, ok := CommandLine(e); ok && strings.Contains(line, "<") {
		return false
	}
	return slices.ContainsFunc(d.Accesses, func(a umpire.Access) bool {
		flag := func(arg string) bool { return strings.HasPrefix(arg, "-") && len(arg) > 1 }
		code := func(arg string) bool { return slices.Contains(codeFlags, arg) }
		return a.Kind == umpire.KindExec && slices.Contains(interpreters, a.Program) &&
			!slices.ContainsFunc(a.Args, func(arg string) bool { return !flag(arg) || code(arg) })
	})
}

// codeFlags are interpreter flags that keep it from waiting for input.
var codeFlags = []string{"-c", "-e", "-m", "-p", "-V", "-v", "-h", "--version", "--help", "-lc"}

const (
	unseenCause = "What is typed into a program that runs cannot be seen here, so none is started that waits for it"
	unseenStep  = "Give it a script, a command or its input on the same line"
)
