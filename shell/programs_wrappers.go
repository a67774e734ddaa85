package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// wrappers run another command. That command is walked as if it stood alone; the wrapper adds
// its own access, and never lowers the command's risk.
var wrappers = []program{
	// safe: env -u A ls
	// asks: env
	{
		names: "env genv", risk: umpire.Safe, why: "runs a command with other variables", style: leading,
		args: "env command", check: checkEnv, about: aboutItself, opts: []option{
			{flags: "-i -0 -v --ignore-environment --null --debug"}, {values: "-u --unset", does: plain},
			{values: "-a --argv0", does: asks, consequence: lost, why: "gives the program another name"},
			{values: "-C --chdir", does: enters}, {values: "-S --split-string", does: plain},
			{values: "-P", does: asks, consequence: lost, why: "looks for programs elsewhere"},
			{values: "-f --file", does: reads | obeys},
			{flags: "--list-signal-handling", attached: "--block-signal --default-signal --ignore-signal", does: plain},
		},
	},
	// safe: timeout 5 ls
	// asks: timeout 5 ./x
	{
		names: "timeout gtimeout", risk: umpire.Safe, why: "runs a command for a time", style: leading,
		args: "data command", about: aboutItself, opts: []option{
			{values: "-s --signal -k --kill-after", does: plain},
			{flags: "-v -p -f --verbose --foreground --preserve-status"},
		},
	},
	// safe: time ls
	// asks: time ./x
	{names: "time gtime", risk: umpire.Safe, why: "measures a command", style: leading, args: "command", opts: []option{
		{flags: "-p -v -a -q -V -l -h --portability --verbose --append --quiet"}, {values: "-f --format", does: plain},
		{values: "-o --output", does: writes, why: "writes its figures"},
	}, about: aboutItself},
	// safe: nice ls
	// asks: nice ./x
	{names: "nice gnice", risk: umpire.Safe, why: "runs a command with less priority", style: leading, args: "command",
		about: aboutItself,
		opts:  []option{{values: "-n --adjustment", does: plain}, {flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -+"}}},
	// safe: ionice -c 3 ls
	// asks: ionice -p 1
	{
		names: "ionice", risk: umpire.Safe, why: "runs a command with less priority", style: leading, args: "command",
		about: aboutItself, opts: []option{
			{values: "-c --class -n --classdata", does: plain}, {flags: "-t --ignore"},
			{values: "-p --pid -P --pgid -u --uid", does: asks, consequence: lost, why: "changes running processes"},
		},
	},
	// asks: chrt -f 1 ls
	{
		names: "chrt", risk: umpire.Medium, consequence: reversible, why: "runs a command with other priorities",
		style: leading, args: "data command", about: aboutItself, opts: []option{
			{flags: "-a -b -d -e -f -i -m -o -r -R -p -v --all-tasks --batch --deadline --ext --fifo --idle --max " +
				"--other --rr --reset-on-fork --pid --verbose"},
			{values: "-T --sched-runtime -P --sched-period -D --sched-deadline", does: plain},
		},
	},
	// safe: taskset -c 0 ls
	// asks: taskset -p 1
	{
		names: "taskset", risk: umpire.Low, why: "runs a command on some processors", style: leading,
		args: "data command", about: aboutItself, opts: []option{
			{flags: "-a -c --all-tasks --cpu-list"},
			{flags: "-p --pid", does: asks, consequence: lost, why: "changes running processes"},
		},
	},
	// safe: numactl -H
	// asks: numactl --shm x ls
	{
		names: "numactl", risk: umpire.Low, why: "runs a command on some processors", style: leading, args: "command",
		about: aboutItself, opts: []option{
			{flags: "-a -l -s -H -b --all --localalloc --show --hardware --balancing"},
			{values: "-i --interleave -m --membind -N --cpunodebind -C --physcpubind -p --preferred -P -w"},
			{values: "-f --file --shmid -S --shm", does: asks, consequence: lost, why: "changes shared memory"},
		},
	},
	// safe: nohup ls
	// asks: nohup ./x
	{names: "nohup", risk: umpire.Safe, why: "runs a command that outlives the terminal", style: leading,
		args: "command", about: aboutItself},
	// safe: setsid -w ls
	// asks: setsid ./evil
	{names: "setsid", risk: umpire.Safe, why: "runs a command that outlives the terminal", style: leading,
		args: "command", about: aboutItself, opts: []option{{flags: "-c -f -w --ctty --fork --wait"}}},
	// safe: stdbuf -oL ls
	// asks: stdbuf -oL ./x
	{
		names: "stdbuf gstdbuf", risk: umpire.Safe, why: "runs a command with other buffers", style: leading,
		args:  "command",
		about: aboutItself, opts: []option{{values: "-i -o -e --input --output --error", does: plain}},
	},
	// safe: unbuffer ls
	// asks: unbuffer ./x
	{names: "unbuffer", risk: umpire.Low, why: "runs a command as on a terminal", style: leading, args: "command",
		opts: []option{{flags: "-p"}}},
	// safe: rlwrap ls
	// asks: rlwrap -l out ls
	{
		names: "rlwrap", risk: umpire.Low, why: "runs a command with a line editor", style: leading, args: "command",
		about: "-v -h --version --help", opts: []option{
			{flags: "-c -i -n -r -R -N -o"},
			{values: "-l --logfile -H --history-filename", does: writes, why: "writes what is typed to a file"},
			{values: "-f --file", does: reads},
			{values: "-z --filter", does: runs, why: "runs a filter"},
		},
	},
	// safe: caffeinate -i ls
	// asks: caffeinate -l ./evil ls
	{names: "caffeinate", risk: umpire.Low, why: "runs a command while the machine stays awake", style: leading,
		args: "command", opts: []option{{flags: "-d -i -s -u -m"}, {values: "-t -w", does: plain}}},
	// safe: chronic ls
	// asks: chronic ./evil
	{names: "chronic", risk: umpire.Low, why: "runs a command and prints only what fails", style: leading,
		args: "command", opts: []option{{flags: "-v -e"}}},
	// safe: ifne -n cat
	// asks: ifne -n ./evil cat
	{names: "ifne", risk: umpire.Low, why: "runs a command if there is input", style: leading, args: "command",
		opts: []option{{flags: "-n"}}},
	// safe: setarch x86_64 -R ls
	// asks: setarch x86_64 -R ./evil ls
	{
		names: "setarch linux32 linux64 i386 x86_64", risk: umpire.Low, why: "runs a command as on another processor",
		style: leading, check: checkArch, about: "--list " + aboutItself, opts: []option{
			{flags: "-B -F -I -L -R -S -T -X -Z -v -3 --32bit --fdpic-funcptrs --short-inode --addr-compat-layout " +
				"--addr-no-randomize --whole-seconds --sticky-timeouts --read-implies-exec --mmap-page-zero --3gb " +
				"--4gb --uname-2.6 --verbose"},
		},
	},
	// safe: choom -n 5 -- ls
	// asks: choom -p 1
	{
		names: "choom", risk: umpire.Low, why: "runs a command that is ended sooner or later when memory is short",
		style: leading, args: "command", about: aboutItself, opts: []option{
			{values: "-n --adjust", does: plain},
			{values: "-p --pid", does: asks, consequence: lost, why: "changes running processes"},
		},
	},
	// safe: cpulimit -l 50 ls
	// asks: cpulimit -p 1
	{
		names: "cpulimit", risk: umpire.Low, why: "runs a command with less of a processor", style: leading,
		args: "command", about: "-h --help", opts: []option{
			{values: "-l --limit -c --cpu", does: plain},
			{flags: "-z -b -f -m -q -v --lazy --background --foreground --monitor-forks --quiet --verbose"},
			{flags: "-k --kill", values: "-p --pid -e --exe -P --path -s --signal", does: asks, consequence: lost,
				why: "slows or ends other processes"},
		},
	},
	// safe: softlimit -m 100 ls
	// asks: softlimit -m 100 ./evil
	{names: "softlimit", risk: umpire.Low, why: "runs a command with less memory", style: leading, args: "command",
		opts: []option{{values: "-a -c -d -f -l -m -o -p -r -s -t", does: plain}}},
	// safe: catchsegv ls
	// asks: eatmydata ./evil
	{names: "catchsegv eatmydata", risk: umpire.Low, why: "runs a command in its own manner", style: leading,
		args: "command"},
	// safe: faketime '2020-01-01' ls
	// asks: faketime ls vendor/evil
	{
		names: "faketime", risk: umpire.Low, why: "runs a command at another time", style: leading,
		args: "data command", about: "-h -v --help --version", opts: []option{
			{flags: "-m -f --exclude-monotonic"},
			{values: "-p", does: asks, consequence: lost, why: "changes running processes"},
		},
	},
	// safe: multitime -n 5 ls
	// asks: multitime -r ./evil ls
	{
		names: "multitime", risk: umpire.Low, why: "measures a command several times", style: leading, args: "command",
		opts: []option{
			{flags: "-l -q -v"}, {values: "-n -s -f -I", does: plain},
			{values: "-i -o -r", does: runs, why: "runs a command beside it"},
			{values: "-b", does: obeys, why: "runs what a file names"},
		},
	},
	// safe: arch
	// asks: arch ./x
	{
		names: "arch", risk: umpire.Safe, why: "tells the kind of processor, or on macOS runs a command for one",
		style: words, args: "command", about: aboutItself, opts: []option{
			{flags: "-arm64 -arm64e -x86_64 -x86_64h -i386 -32 -64"},
			{flags: "-c", values: "-e -d", does: asks, consequence: lost, why: "runs a command with other variables"},
		},
	},
	// asks: ld-linux.so.2 ./x
	{
		names: "ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux-armhf.so.3 " +
			"ld-musl-x86_64.so.1 ld-musl-aarch64.so.1",
		risk: umpire.Medium, consequence: lost, why: "starts a program by its file", style: leading, check: checkLoader,
		about: aboutItself,
	},
	// safe: watch ls
	// asks: watch ./x
	{
		names: "watch", risk: umpire.Safe, why: "runs a command again and again", style: leading, args: "shell",
		check: checkWatch, about: aboutItself, opts: []option{
			{values: "-n --interval -q --equexit", does: plain, why: "seconds"},
			{attached: "-d --differences", does: plain},
			{flags: "-t -b -e -g -c -C -p -r -w -f --no-title --beep --errexit --chgexit --color --no-color " +
				"--precise --no-wrap --no-linewrap --no-rerun --follow"},
			{flags: "-x --exec"}, {values: "-s --shotsdir", does: writes},
		},
	},
	// asks: umpire try -- ls
	// asks: umpire try --keep -- rm -rf src
	// asks: umpire status
	{
		names: "umpire", risk: umpire.Medium, consequence: lost, why: "umpire itself", style: leading,
		subs: []program{
			{
				names: "try", risk: umpire.Medium, consequence: lost, why: "runs a command in a trial", style: leading,
				args: "command", check: checkTry, about: aboutItself, opts: []option{
					{flags: "--keep --discard --diff --explain --network --list --json"},
					{values: "--cwd", does: enters},
				},
			},
		},
	},
	// safe: xargs -n 1 echo
	// asks: xargs rm
	{
		names: "xargs gxargs", risk: umpire.Safe, why: "runs a command on what it reads", style: leading,
		args: "command", check: checkXargs, out: runPrints, about: aboutItself, opts: []option{
			{flags: "-r -t -x -o --no-run-if-empty --verbose --exit --open-tty"}, {flags: "-p --interactive"},
			{flags: "-0 --null", values: "-d --delimiter", does: plain},
			{values: "-n --max-args -P --max-procs -s --max-chars -E -L", attached: "--max-lines -l -e --eof",
				does: plain},
			{values: "-I -J", attached: "-i --replace", does: plain}, {values: "-a --arg-file", does: reads},
			{values: "--process-slot-var", does: asks, consequence: lost, why: "sets a variable"},
			{values: "-R -S", does: plain}, {flags: "--show-limits"},
		},
	},
	// safe: parallel echo ::: a b
	// asks: parallel rm ::: a b
	{
		names: "parallel", risk: umpire.Low, why: "runs commands that it builds from what it reads", style: leading,
		check: checkParallel, about: aboutItself, opts: []option{
			{flags: "-0 -k -m -X -u -v -t -q -x -r --null --keep-order --xargs --ungroup --group --verbose --quote " +
				"--no-run-if-empty --bar --progress --eta --dry-run --dryrun --tag --line-buffer --linebuffer --lb " +
				"--files --will-cite --no-notice --shuf --link --xapply --plus --pipe --round-robin --resume " +
				"--resume-failed --color --color-failed --ctrlc --exit"},
			{flags: "--regexp", values: "-j --jobs -P --max-procs -n --max-args -N --max-replace-args -L -s " +
				"--max-chars -d --delimiter -C --colsep --halt --halt-on-error --timeout --delay --retries --nice " +
				"--tagstring --block --recstart --recend --header --load --memfree --trim -E --id",
				attached: "--max-lines -l", does: plain},
			{values: "--rpl --parens", does: asks, consequence: lost, why: "runs Perl code"},
			{values: "-I", does: plain}, {values: "-a --arg-file", does: reads},
			{values: "--joblog --results --tmpdir --res", does: writes},
			{values: "-S --sshlogin --slf --sshloginfile", does: reaches | harms, consequence: lost,
				why: "runs commands on other machines"},
			{values: "-J --profile -D --env", does: obeys}, {values: "--wd --workdir", does: enters},
		},
	},
	// asks: sem ls
	{
		names: "sem niceload", risk: umpire.Medium, consequence: reversible, why: "runs a command when there is room",
		style: leading, check: checkWrapped, about: aboutItself,
		opts: []option{{flags: "--fg --bg --wait"}, {values: "-j --id --jobs", does: plain}},
	},
	// safe: busybox ls
	// asks: busybox rm a
	{names: "busybox", risk: umpire.Safe, why: "runs one of its own programs", style: leading, args: "command",
		about: "--list --help"},
	// safe: toybox ls
	// asks: toybox sh -c ./evil
	{names: "toybox", risk: umpire.Safe, why: "runs one of its own programs", style: leading, args: "command",
		about: "--long --help --version"},
	// asks: flock a ls
	{
		names: "flock", risk: umpire.Medium, consequence: reversible, why: "runs a command under a lock",
		style: leading, check: checkFlock, about: aboutItself, opts: []option{
			{flags: "-s -x -e -u -n -o -F -v --shared --exclusive --unlock --nonblock --nb --close --no-fork " +
				"--verbose"},
			{values: "-w --timeout --wait -E --conflict-exit-code", does: plain},
			{values: "-c --command", does: runs},
		},
	},
	// safe: hyperfine ls
	// asks: hyperfine ./x
	{names: "hyperfine", risk: umpire.Safe, why: "measures commands", check: checkEachCode, opts: []option{
		{flags: "-i -N --show-output", attached: "--ignore-failure", does: plain},
		{values: "-w --warmup -m --min-runs -M --max-runs -r --runs -u --time-unit --style --sort -n --command-name " +
			"--reference-name", does: plain},
		{values: "-p --prepare -s --setup -c --cleanup --conclude --reference", does: runs, why: "runs a command"},
		{values: "-S --shell", does: runs, why: "runs commands in another shell", limits: &limits{except: "none"}},
		{values: "--output", does: writes, why: "writes what commands print to a file",
			limits: &limits{except: "null pipe inherit"}},
		{values: "--input", does: reads, limits: &limits{except: "null"}},
		{values: "--export-json --export-csv --export-markdown --export-asciidoc --export-orgmode", does: writes},
		{flags: aboutItself, does: shows}, {flags: "-h -V", does: shows},
	}},
	// asks: entr ./x
	// safe: entr ls
	{names: "entr", risk: umpire.Safe, why: "runs a command when files change", style: leading, args: "command",
		check: checkEntr, opts: []option{{flags: "-a -c -d -n -p -r -x -z"}, {flags: "-s"}}},
}

// checkWrapped walks the command of a wrapper with poorly known arguments: every operand that
// names a program may begin the command.
func checkWrapped(u *use) {
	words := u.takeOperands()
	if !walkSuspects(u, words) && len(words) > 0 {
		u.walkRest("command", words)
	}
}

// architectures are the operands of setarch before its command.
const architectures = "linux32 linux64 i386 i486 i586 i686 athlon x86 x86_64 uname26 ppc ppc32 ppc64 s390 s390x " +
	"sparc sparc32 sparc64 mips mips32 mips64 arm aarch64 riscv32 riscv64"

// checkArch judges setarch and its other names; without a command they start a shell.
func checkArch(u *use) {
	words := u.takeOperands()
	if u.program0() == "setarch" && len(words) > 0 && words[0].known() && scan.HasField(architectures, words[0].text) {
		reparseArguments(u, words[1:], true) // options may follow
		words = u.operands
		u.operands = nil
	}
	if len(words) == 0 {
		walkStdinCode(u)
		return
	}
	u.walkRest("command", words)
}

// checkLoader walks the program that the dynamic loader starts. Its options may load other code
// first.
func checkLoader(u *use) {
	u.operands = nil
	walkSuspects(u, u.rawArguments())
}

// maxGuesses is the maximum number of words of a line to walk on suspicion.
const maxGuesses = 16

// walkSuspects walks every word that names a program as a command with the words after it,
// because unknown options hide the beginning of the command. It reports whether there is one.
// Nested wrappers would make this exponential, so a line has a fixed number of guesses; the
// rest is in doubt.
func walkSuspects(u *use, words []word) bool {
	found := false
	in := u.in
	for i, wd := range words {
		if !wd.known() || wd.text == "" || strings.HasPrefix(wd.text, "-") ||
			u.w.knownProgram(wd.text) == nil && !strings.HasPrefix(wd.text, "./") {
			continue
		}
		found = true
		if u.w.guesses++; u.w.guesses > maxGuesses {
			u.w.limit("too many words may begin a command")
			return true
		}
		u.then(func() {
			defer u.w.openPart()()
			u.w.runWords(u.outsideState(), words[i:], in)
		})
	}
	return found
}

// maxSplits is the maximum nesting of env -S.
const maxSplits = 4

// checkEnv splits the string of env -S like env does, and parses the result together with the
// words after it.
func checkEnv(u *use) {
	for range maxSplits {
		split := u.got("-S")
		if split == nil || !split.has {
			envAlone(u)
			return
		}
		args := append(splitString(split.value), u.operands...)
		u.arguments = u.program.parseArguments(args, true)
		u.arguments.doubtful = false
		u.judgeOptions()
		u.operands = u.arguments.operands
	}
	u.doubt = "strings within strings"
}

// envAlone judges env without a command, which prints the environment of a command.
func envAlone(u *use) {
	for _, operand := range u.operands {
		if name, _, assigns := operand.after("="); !assigns || name == "" {
			return
		}
	}
	if !u.gave("-i") {
		u.askSecret(printsEnvironment)
	}
}

// splitString splits text at blanks outside of quotes. Text that env would expand is unknown.
func splitString(text word) []word {
	if !text.known() || strings.ContainsAny(text.text, "$#") {
		return []word{{text: strings.SplitN(text.text, "$", 2)[0], open: true}}
	}
	var out []word
	var quote byte
	current, started := "", false
	flush := func() {
		if started {
			out = append(out, lit(current))
		}
		current, started = "", false
	}
	for i := 0; i < len(text.text); i++ {
		c := text.text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(text.text):
			i++
			if text.text[i] == '_' || text.text[i] == 't' || text.text[i] == 'n' {
				flush()
				continue
			}
			current, started = current+text.text[i:i+1], true
		case quote == 0 && (c == '"' || c == '\''):
			quote, started = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			flush()
		default:
			current, started = current+text.text[i:i+1], true
		}
	}
	flush()
	return out
}

// checkWatch judges watch -x, which starts the command without a shell.
func checkWatch(u *use) {
	if u.got("-x") != nil {
		u.walkRest("command", u.takeOperands())
	}
}

// checkTry judges `umpire try 'code'`; several words are a program and its arguments.
func checkTry(u *use) {
	if len(u.operands) == 1 {
		u.walkRest("shell", u.takeOperands())
	}
}

// checkFlock judges `flock FILE command…` and `flock FILE -c code`.
func checkFlock(u *use) {
	operands := u.takeOperands()
	if len(operands) == 0 {
		return
	}
	if !operands[0].known() || strings.Trim(operands[0].text, "0123456789") != "" {
		u.touch(umpire.KindWrite, operands[0], accessOf{})
	}
	switch rest := operands[1:]; {
	case len(rest) == 0:
	case rest[0].text == "-c" || rest[0].text == "--command":
		u.walkRest("shell", rest[1:])
	default:
		u.walkRest("command", rest)
	}
}

// checkEachCode walks every operand as shell code.
func checkEachCode(u *use) {
	for _, operand := range u.operands {
		u.then(func() { u.w.walkCode(u.outsideState(), operand, flow{}) })
	}
	u.operands = nil
}

// checkEntr substitutes an unknown file for /_.
func checkEntr(u *use) {
	if u.got("-s") != nil {
		u.walkRest("shell", u.takeOperands())
		return
	}
	for i, wd := range u.operands {
		if wd.text == "/_" {
			u.operands[i] = word{open: true, dashless: true}
		}
	}
}

// checkXargs passes the words that xargs would read to its command.
func checkXargs(u *use) {
	if len(u.operands) == 0 {
		u.operands = []word{lit("echo")}
	}
	if marker := u.got("-I"); marker != nil {
		replaceMarker(u, marker, u.readInputLines())
		return
	}
	items := u.readInputWords()
	if u.got("-0") != nil && u.in.kind == flowText {
		items = []word{lit(strings.TrimRight(u.in.text, "\n")), {open: true, split: true}}
	}
	u.operands = append(slices.Clip(u.operands), items...)
}

// runPrints returns the output of xargs: names of files, if every use of its command prints
// names.
func runPrints(u *use, _ flow) flow {
	if u.ran == 1 && u.printed.kind == flowPaths {
		return u.printed
	}
	return u.printedFlow()
}

// readInputWords returns the words of the piped input, as far as they are known.
func (p *parsed) readInputWords() []word {
	switch p.in.kind {
	case flowText:
		var out []word
		for field := range strings.FieldsSeq(p.in.text) {
			out = append(out, lit(strings.Trim(field, `"'`)))
		}
		return out
	case flowPaths:
		var out []word
		for _, dir := range p.in.dirs {
			if dir.glob {
				out = append(out, word{text: dir.text, glob: true, dashless: true})
				continue
			}
			out = append(out, word{text: dir.text, open: true, under: true, dashless: dir.dashless || dir.text != "",
				picked: dir.picked, listed: dir.listed})
		}
		return out
	case flowForeign:
		if p.in.numbers {
			numbers := numberWord()
			numbers.split = true
			return []word{numbers}
		}
	case flowNone, flowRemote:
	}
	return []word{{open: true, split: true}}
}

// readInputLines returns the lines of the piped input, as far as they are known.
func (p *parsed) readInputLines() []word {
	if p.in.kind != flowText {
		return p.readInputWords()
	}
	var out []word
	for line := range strings.Lines(p.in.text) {
		out = append(out, lit(strings.Trim(strings.TrimSpace(line), `"'`)))
	}
	return out
}

// replaceMarker substitutes input for {}, with one command per item if the items are known and
// few.
func replaceMarker(u *use, marker *given, items []word) {
	name := "{}"
	if marker.has && marker.value.known() && marker.value.text != "" {
		name = marker.value.text
	}
	if len(items) == 0 || len(items) > maxRounds {
		items = []word{{open: true}}
	}
	command := u.operands
	if len(command) > 0 && !looksAtNames(u.w, command[0]) {
		revealTails(u, command, name, u.in.dirs)
	}
	for i, item := range items {
		item.split = false
		words := substituteWord(command, name, item)
		if i == len(items)-1 {
			u.operands = words
			return
		}
		u.walkRest("command", words)
	}
}

// substituteWord replaces name within words by item.
func substituteWord(words []word, name string, item word) []word {
	out := make([]word, 0, len(words))
	for _, wd := range words {
		before, rest, found := wd.after(name)
		switch {
		case !found:
			out = append(out, wd)
		case before == "" && rest.text == "" && !rest.open:
			out = append(out, item)
		case item.known():
			out = append(out, word{text: strings.ReplaceAll(wd.text, name, item.text), open: wd.open, glob: wd.glob})
		case before == "" && item.under && !strings.Contains(rest.text, ".."):
			out = append(out, word{text: item.text, open: true, under: true, dashless: item.dashless})
		case strings.HasSuffix(before, "/") && item.under && !strings.Contains(item.text+rest.text, ".."):
			out = append(out, word{text: before, open: true, under: true,
				listed: item.listed}) // below it, wherever the file is
		default:
			out = append(out, word{text: before, open: true})
		}
	}
	return out
}
