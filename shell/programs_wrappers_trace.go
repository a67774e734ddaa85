package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// tracers run a command to observe it.
var tracers = []program{
	// safe: strace ls
	// asks: strace -o a ls
	{
		names: "strace", risk: umpire.Low, why: "runs a command and prints what it asks of the system", style: leading,
		args: "command", check: checkTrace, about: aboutItself, opts: []option{
			{flags: "-f -F -c -C -r -t -T -v -V -x -y -q -i -k -h -w -z -Z -d -D -A -Y -S -L --follow-forks " +
				"--summary --summary-only --verbose --decode-fds --quiet --instruction-pointer --stack-traces " +
				"--output-append-mode --output-separately --no-abbrev --successful-only --failed-only " +
				"--syscall-number --relative-timestamps --absolute-timestamps --syscall-times --daemonize " +
				"--seccomp-bpf --tips"},
			{values: "-e --trace --signal --status --abbrev -s --string-limit -a --columns -O -X -P --trace-path -I " +
				"--interruptible -b -U --inject --fault -l -n", does: plain},
			{values: "-o --output", does: plain},
			{values: "-p --attach", does: harms, consequence: lost, why: "looks into a running process"},
			{values: "-E --env", does: obeys},
			{values: "-u --user", does: harms, consequence: lost, why: "runs a command as another user"},
		},
	},
	// safe: ltrace -c ls
	// asks: ltrace -F ls ./evil
	{
		names: "ltrace", risk: umpire.Low, why: "runs a command and prints what it asks of its libraries",
		style: leading, args: "command", about: "-h -V --help --version", opts: []option{
			{flags: "-b -c -C -f -i -L -r -S -t -T --no-signals --demangle"},
			{values: "-a --align -e -l --library -n --indent -s -x -A -D --debug -w --where", does: plain},
			{values: "-F --config", does: obeys | reads}, {values: "-o --output", does: writes},
			{values: "-p -u", does: harms, consequence: lost, why: "traces other processes, or as another user"},
		},
	},
	// safe: valgrind --version
	// asks: valgrind ./x
	{
		names: "valgrind", risk: umpire.Low, why: "runs a command and checks its memory", style: leading,
		args: "command", about: aboutItself, opts: []option{
			{flags: "-q -v -s -d --quiet --verbose", values: "--leak-check --show-leak-kinds --track-origins " +
				"--error-exitcode --num-callers --trace-children --undef-value-errors --gen-suppressions " +
				"--time-stamp --child-silent-after-fork --show-reachable --errors-for-leak-kinds --leak-resolution " +
				"--read-var-info --track-fds --main-stacksize --xml --fair-sched --exit-on-first-error --vgdb",
				does: plain},
			{values: "--tool", does: asks, consequence: lost,
				limits: &limits{except: "memcheck helgrind drd none lackey"},
				why:    "loads a tool that writes what it measures"},
			{values: "--log-file --xml-file --callgrind-out-file --cachegrind-out-file --massif-out-file " +
				"--dhat-out-file", does: writes},
			{values: "--suppressions", does: reads},
		},
	},
	// asks: perf record ls
	{names: "perf", risk: umpire.Medium, consequence: reversible, why: "measures a command or the system",
		style: leading, check: checkWrapped, about: aboutItself},
	{
		names: "gdb lldb rr cgdb", risk: umpire.Medium, consequence: lost, why: "runs a command in a debugger",
		style: words, args: "command", check: checkDebugger, about: aboutItself, opts: []option{
			{values: "-ex -iex --eval-command --ex -x --command -o --one-line -s --source", does: asks,
				consequence: lost, why: "runs commands of the debugger"},
			{values: "-p --pid", does: harms, consequence: lost, why: "looks into a running process"},
			{flags: "-q -quiet -batch --batch --args -args -nx --nx -n"},
		},
	},
	// asks: script a
	{
		names: "script", risk: umpire.Medium, consequence: reversible, why: "runs a command and records the terminal",
		style: leading, check: checkTypescript, about: aboutItself, opts: []option{
			{flags: "-a -e -f -q -F -k -p -r -d -V --append --return --flush --force --quiet", values: "--echo -E",
				does: plain},
			{values: "-c --command", does: runs},
			{values: "--log-timing -T --log-out -O --log-in -I --log-io -B", attached: "-t --timing", does: writes},
			{values: "-o --output-limit -m --logging-format", does: plain},
		},
	},
	{names: "logsave", risk: umpire.Medium, consequence: reversible, why: "runs a command and records what it prints",
		style: leading, args: "write command", opts: []option{{flags: "-a -s -v"}}},
	// asks: scriptreplay a
	{names: "scriptreplay ts ttyrec ttyplay asciinema", risk: umpire.Medium, consequence: reversible,
		why: "records or replays a terminal", lax: true, args: "read…"},
	// asks: sponge a
	{names: "sponge", risk: umpire.Medium, consequence: reversible, why: "writes its input to a file", args: "write…",
		opts: []option{{flags: "-a"}}},
	{
		names: "torsocks torify proxychains proxychains4 tsocks", risk: umpire.High, consequence: lost,
		why: "runs a command whose network goes elsewhere", style: leading, check: checkWrapped,
		about: aboutItself, opts: []option{{flags: "-q -i -d"}, {values: "-f", does: obeys}},
	},
	{
		names: "dbus-run-session dbus-launch xvfb-run Xvfb xinit startx", risk: umpire.Medium, consequence: reversible,
		why: "runs a command in its own session", style: leading, check: checkWrapped,
		about: aboutItself, opts: []option{
			{flags: "-a --auto-servernum"},
			{values: "-s --server-args -n --server-num", does: plain, why: "options of the display"},
		},
	},
}

// checkTrace judges strace -o, whose value names a program after | or !.
func checkTrace(u *use) {
	if file := u.got("-o"); file != nil && file.has {
		if code, ok := strings.CutPrefix(strings.Replace(file.value.text, "!", "|", 1), "|"); ok {
			u.raise(umpire.Medium, "passes its output to a program")
			u.then(func() { u.w.walkCode(u.outsideState(), word{text: code, open: file.value.open}, flow{}) })
			return
		}
		u.raiseTo(umpire.Medium, reversible, "writes what it prints to a file")
		u.touch(umpire.KindWrite, file.value, accessOf{})
	}
}

// checkTypescript judges script in the styles of Linux (-c code, file last) and of BSD (the
// file, then the command).
func checkTypescript(u *use) {
	operands := u.takeOperands()
	if len(operands) == 0 {
		u.touch(umpire.KindWrite, lit("typescript"), accessOf{})
		if u.got("-c") == nil {
			walkStdinCode(u)
		}
		return
	}
	u.touch(umpire.KindWrite, operands[0], accessOf{})
	rest := operands[1:]
	for i, wd := range rest {
		if code, ok := strings.CutPrefix(wd.text, "--command="); ok {
			u.walkRest("shell", []word{{text: code, open: wd.open}})
		} else if strings.HasPrefix(wd.text, "-") && strings.HasSuffix(wd.text, "c") && i+1 < len(rest) {
			u.walkRest("shell", rest[i+1:i+2])
		}
	}
	switch {
	case len(rest) > 0:
		u.walkRest("command", rest)
	case u.got("-c") == nil:
		walkStdinCode(u)
	}
}
