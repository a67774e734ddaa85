package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// wrappers run another command. That command is walked as if it stood alone;
// the wrapper adds its own access, and never lowers what the command does.
var wrappers = []program{
	{names: "sudo doas", risk: umpire.High, why: "runs a command as another user", style: leading, args: "env command", opts: []option{
		{names: "-nSkKHPbB --non-interactive --stdin --background --set-home"}, {names: "-E --preserve-env?"},
		{names: "-u= --user= -g= --group= -p= --prompt= -C= -h= -T= -U= -r= -t="},
		{names: "-D= --chdir=", does: enters}, {names: "-R= --chroot=", does: asks, why: "changes the root"},
		{names: "-i --login -s --shell", why: "starts a shell"}, {names: "-e --edit", why: "edits a file as another user"},
		{names: "-l --list -v --validate -V"}, {names: "--help --version", does: shows},
	}},
	{names: "su runuser", risk: umpire.High, why: "runs a command as another user", style: short, check: checkSu, opts: []option{
		{names: "-c= --command= --session-command=", does: runs}, {names: "-l --login -m -p --preserve-environment -P --pty -f --fast"},
		{names: "-s= --shell= -g= --group= -G= -u= --user= -w="}, aboutItself,
	}},
	{names: "pkexec run0 gosu su-exec setpriv capsh chroot unshare nsenter firejail bwrap proot fakeroot start-stop-daemon", risk: umpire.High, why: "runs a command as another user or in another root", style: leading, check: checkWrapped},
	{names: "env", risk: umpire.Safe, why: "runs a command with other variables", style: leading, args: "env command", opts: []option{
		{names: "-i --ignore-environment -0 --null -v --debug"}, {names: "-u= --unset="},
		{names: "-C= --chdir=", does: enters}, {names: "-S= --split-string=", does: runs}, aboutItself,
		{names: "--block-signal? --default-signal? --ignore-signal? --list-signal-handling"},
	}},
	{names: "timeout gtimeout", risk: umpire.Safe, why: "runs a command for a time", style: leading, args: "data command", opts: []option{
		{names: "-s= --signal= -k= --kill-after="}, {names: "-v --verbose --foreground --preserve-status -p -f"}, aboutItself,
	}},
	{names: "time", risk: umpire.Safe, why: "measures a command", style: leading, args: "command", opts: []option{
		{names: "-pvaqV --portability --verbose --append --quiet"}, {names: "-f= --format="}, {names: "-o= --output=", does: writes, why: "writes its figures"}, aboutItself,
	}},
	{names: "nice", risk: umpire.Safe, why: "runs a command with less priority", style: leading, args: "command", opts: []option{{names: "-n= --adjustment="}, {names: "-0123456789"}, aboutItself}},
	{names: "ionice", risk: umpire.Safe, why: "runs a command with less priority", style: leading, args: "command", opts: []option{
		{names: "-c= --class= -n= --classdata="}, {names: "-t --ignore"}, {names: "-p= --pid= -P= --pgid= -u= --uid=", does: asks, why: "changes running processes"}, aboutItself,
	}},
	{names: "chrt taskset numactl", risk: umpire.Medium, why: "runs a command with other priorities", style: leading, check: checkWrapped, opts: []option{aboutItself}},
	{names: "nohup setsid", risk: umpire.Safe, why: "runs a command that outlives the terminal", style: leading, args: "command", opts: []option{{names: "-cfw --ctty --fork --wait"}, aboutItself}},
	{names: "stdbuf", risk: umpire.Safe, why: "runs a command with other buffers", style: leading, args: "command", opts: []option{{names: "-i= -o= -e= --input= --output= --error="}, aboutItself}},
	{names: "watch", risk: umpire.Safe, why: "runs a command again and again", style: leading, args: "shell", opts: []option{
		{names: "-n= --interval=", why: "seconds"}, {names: "-d? --differences?"}, {names: "-tbegcpxw --no-title --beep --errexit --chgexit --color --precise --exec --no-wrap"}, aboutItself,
	}},
	{names: "xargs", risk: umpire.Safe, why: "runs a command on what it reads", style: leading, args: "command", check: checkXargs, opts: []option{
		{names: "-0rtxo --null --no-run-if-empty --verbose --exit --open-tty"}, {names: "-p --interactive"},
		{names: "-n= --max-args= -P= --max-procs= -s= --max-chars= -d= --delimiter= -E= -L= --max-lines? -l? -e? --eof?"},
		{names: "-I= -i? --replace?"}, {names: "-a= --arg-file=", does: reads}, {names: "--process-slot-var=", does: asks, why: "sets a variable"},
		{names: "-J= -R= -S="}, {names: "--show-limits"}, aboutItself,
	}},
	{names: "parallel", risk: umpire.Medium, why: "runs commands that it builds from what it reads", style: leading, check: checkWrapped, opts: []option{aboutItself}},
	{names: "busybox toybox", risk: umpire.Safe, why: "runs one of its own programs", style: leading, args: "command", opts: []option{{names: "--list --help", does: shows}}},
	{names: "flock", risk: umpire.Medium, why: "runs a command under a lock", style: leading, args: "write command", opts: []option{
		{names: "-sxeunoF --shared --exclusive --unlock --nonblock --close --no-fork --verbose"}, {names: "-w= --timeout= -E= --conflict-exit-code="}, {names: "-c= --command=", does: runs}, aboutItself,
	}},
	{names: "strace ltrace gdb lldb valgrind perf rlwrap script scriptreplay logsave unbuffer caffeinate chronic ts ifne sponge daemonize dbus-run-session dbus-launch xvfb-run catchsegv setarch linux32 linux64 i386 x86_64 aa-exec choom cpulimit softlimit torsocks proxychains tsocks eatmydata faketime entr at batch crontab systemd-run nsjail screen tmux dtach abduco expect_unbuffer multitime hyperfine",
		risk: umpire.Medium, why: "runs another command", style: leading, check: checkWrapped, opts: []option{{names: "--version --help", does: shows}}},
}

// checkSu judges su: without -c it starts a shell.
func checkSu(u *use) {
	if u.in.kind == flowText {
		u.stdinCode()
	}
	u.operands = nil
}

// checkWrapped walks the command of a wrapper whose own options are not known:
// every operand that names a program may be where the command begins.
func checkWrapped(u *use) {
	words := u.operands
	u.operands = nil
	for i, wd := range words {
		if wd.known() && (u.w.lookup(base(wd.text)) != nil || strings.Contains(wd.text, "/")) {
			u.rest("command", words[i:])
			return
		}
	}
}

// checkXargs gives the command of xargs the words that it would read.
func checkXargs(u *use) {
	if len(u.operands) == 0 {
		u.operands = []word{lit("echo")}
	}
	items := u.inputWords()
	if marker := u.got("-I", "-i", "--replace"); marker != nil {
		u.replaceMarker(marker, items)
		return
	}
	u.operands = append(u.operands[:len(u.operands):len(u.operands)], items...)
}

// inputWords are the words that come through the pipe, as far as is known.
func (u *use) inputWords() []word {
	switch u.in.kind {
	case flowText:
		var out []word
		for _, field := range strings.Fields(u.in.text) {
			out = append(out, lit(strings.Trim(field, `"'`)))
		}
		return out
	case flowPaths:
		var out []word
		for _, dir := range u.in.dirs {
			out = append(out, word{text: dir.text, open: true, under: true, dashless: true})
		}
		return out
	case flowNone, flowForeign, flowRemote:
	}
	return []word{{open: true, split: true}}
}

// replaceMarker puts what is read in the place of {}.
func (u *use) replaceMarker(marker *given, items []word) {
	name := "{}"
	if marker.has && marker.value.known() && marker.value.text != "" {
		name = marker.value.text
	}
	item := word{open: true}
	if len(items) == 1 {
		item = items[0]
		item.split = false
	}
	u.operands = substitute(u.operands, name, item)
}

// substitute replaces name within words by item.
func substitute(words []word, name string, item word) []word {
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
			out = append(out, word{text: item.text, open: true, under: true, dashless: true})
		default:
			out = append(out, word{text: before, open: true})
		}
	}
	return out
}
