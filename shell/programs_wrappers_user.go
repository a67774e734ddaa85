package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// privileges are the wrappers that run a command as another user or in another root. They do
// not make a command less harmful, not even chroot.
var privileges = []program{
	// asks: sudo ls
	{
		names: "sudo doas", risk: umpire.High, consequence: lost, why: "runs a command as another user", style: leading,
		args: "env command", check: checkSudo, about: "--help --version", opts: []option{
			{flags: "-A -n -S -k -K -H -P -b -B -N -E -L --askpass --non-interactive --stdin --reset-timestamp " +
				"--remove-timestamp --no-update --set-home --background --bell --preserve-groups",
				attached: "--preserve-env"},
			{values: "-u --user -g --group -p --prompt -C --close-from -h --host -T --command-timeout -U " +
				"--other-user -r --role -t --type -a -c"},
			{values: "-D --chdir", does: enters},
			{values: "-R --chroot", does: asks, consequence: lost, why: "changes the root"},
			{flags: "-i --login -s --shell"}, {flags: "-e --edit"}, {flags: "-l -v -V --list --validate"},
		},
	},
	{names: "sudoedit", risk: umpire.High, consequence: lost, why: "edits files as another user", args: "write…",
		opts: []option{{flags: "-A -n -S -k"}, {values: "-u -g -p -D"}}},
	// asks: su -c ls
	{
		names: "su", risk: umpire.High, consequence: lost, why: "runs a command as another user", check: checkSu,
		about: aboutItself, opts: []option{
			{flags: "-l -m -p -P -f -T --login --preserve-environment --pty --fast --no-pty"},
			{values: "-c --command --session-command", does: runs},
			{values: "-s --shell -g --group -G --supp-group -w --whitelist-environment"},
		},
	},
	// asks: runuser -u x ls
	{
		names: "runuser", risk: umpire.High, consequence: lost, why: "runs a command as another user", style: leading,
		check: checkRunuser, about: aboutItself, opts: []option{
			{flags: "-l -m -p -P -f -T --login --preserve-environment --pty --fast"}, {values: "-u --user"},
			{values: "-c --command --session-command", does: runs},
			{values: "-s --shell -g --group -G --supp-group -w"},
		},
	},
	{
		names: "pkexec", risk: umpire.High, consequence: lost, why: "runs a command as another user", style: leading,
		args: "command", about: aboutItself,
		opts: []option{{flags: "--disable-internal-agent --keep-cwd", values: "--user -u"}},
	},
	// asks: run0 ls
	{
		names: "run0", risk: umpire.High, consequence: lost, why: "runs a command as another user", style: leading,
		args: "command", about: aboutItself, opts: []option{
			{flags: "--no-ask-password --pty --pipe --slice-inherit", values: "--machine -M --property --description " +
				"--slice -u --user -g --group --nice --setenv --background --shell-prompt-prefix --unit"},
			{values: "-D --chdir", does: enters},
		},
	},
	{names: "gosu su-exec setuidgid chpst", risk: umpire.High, consequence: lost, why: "runs a command as another user",
		style: leading, args: "data command"},
	// asks: chroot . ls
	{
		names: "chroot", risk: umpire.High, consequence: lost, why: "runs a command in another root", style: leading,
		args:  "tree command",
		about: aboutItself, opts: []option{{flags: "--skip-chdir -n", values: "--groups --userspec -u -g -G"}},
	},
	// asks: unshare ls
	{
		names: "unshare", risk: umpire.High, consequence: lost, why: "runs a command in its own namespaces",
		style: leading, args: "command", check: startsShell, about: aboutItself, opts: []option{
			{flags: "-f -r -c --fork --map-root-user --map-current-user --map-auto --keep-caps --forward-signals",
				attached: "--kill-child -m --mount -u --uts -i --ipc -n --net -p --pid -U --user -C --cgroup -T " +
					"--time --mount-proc --mount-binfmt"},
			{values: "-S --setuid -G --setgid --map-user --map-group --map-users --map-groups --propagation " +
				"--setgroups --monotonic --boottime"},
			{values: "-R --root", does: reads}, {values: "-w --wd", does: enters},
			{values: "-l --load-interp", does: obeys},
		},
	},
	// asks: nsenter -t 1 ls
	{
		names: "nsenter", risk: umpire.High, consequence: lost, why: "runs a command in the world of another process",
		style: leading, args: "command", check: startsShell, about: aboutItself, opts: []option{
			{flags: "-a -e -F -Z -c --all --env --no-fork --follow-context --preserve-credentials --keep-caps " +
				"--user-parent --join-cgroup", attached: "-m --mount -u --uts -i --ipc -n --net -p --pid -U --user " +
				"-C --cgroup -T --time -r --root -w --wd"},
			{values: "-t --target -S --setuid -G --setgid -W --wdns --net-socket"},
		},
	},
	// asks: setpriv ls
	{
		names: "setpriv", risk: umpire.High, consequence: lost, why: "runs a command with other privileges",
		style: leading, args: "command", about: aboutItself, opts: []option{
			{flags: "-d --dump --no-new-privs --nnp --clear-groups --keep-groups --init-groups --reset-env " +
				"--list-caps"},
			{values: "--reuid --regid --ruid --euid --rgid --egid --groups --ambient-caps --inh-caps --bounding-set " +
				"--securebits --pdeathsig --selinux-label --apparmor-profile --landlock-access --landlock-rule " +
				"--ptracer"},
		},
	},
	{names: "capsh firejail bwrap proot fakeroot fakechroot start-stop-daemon daemonize aa-exec nsjail runc crun " +
		"systemd-nspawn", risk: umpire.High, consequence: lost,
		why: "runs a command as another user or in another root", style: leading, check: checkCaged},
	// asks: systemd-run ls
	{
		names: "systemd-run", risk: umpire.High, consequence: lost, why: "runs a command apart from this shell",
		style: leading, args: "command", about: aboutItself, opts: []option{
			{flags: "-t -P -q -d -r -G --user --system --scope --pty --pipe --wait --quiet --no-block " +
				"--remain-after-exit --same-dir --collect --send-sighup --slice-inherit --no-ask-password",
				values: "--service-type --expand-environment"},
			{values: "-u --unit -p --property --description --slice --uid --gid --nice -E --setenv --on-active " +
				"--on-boot --on-startup --on-calendar --on-unit-active --on-unit-inactive --timer-property " +
				"--path-property --socket-property --background -H --host -M --machine"},
			{values: "--working-directory", does: enters}, {flags: "-S --shell"},
		},
	},
}

// checkSudo judges sudo -s and -i, which pass their words to a shell, and sudo -e, which edits
// files.
func checkSudo(u *use) {
	operands := u.operands
	switch {
	case u.got("-e") != nil:
		u.operands = nil
		u.touchAll(umpire.KindWrite, operands, accessOf{})
	case u.got("-i") != nil && len(operands) == 0:
		u.why = "starts a shell as another user"
		walkStdinCode(u)
	case u.got("-i") != nil:
		u.walkRest("shell", operands)
	}
}

// checkSu judges su, which passes the words after the user to a shell. Without words it reads
// its code from the standard input.
func checkSu(u *use) {
	operands := u.takeOperands()
	if len(operands) > 0 && operands[0].text == "-" {
		operands = operands[1:]
	}
	if len(operands) > 1 {
		u.walkRest("command", append([]word{lit("sh")}, operands[1:]...))
		return
	}
	if u.got("-c") == nil && u.in.kind != flowNone {
		walkStdinCode(u)
	}
}

// checkRunuser judges runuser, which behaves like su unless -u is given.
func checkRunuser(u *use) {
	if u.got("-u") == nil {
		reparseArguments(u, u.rawArguments(), false)
		checkSu(u)
		return
	}
	u.walkRest("command", u.takeOperands())
}

// startsShell judges a wrapper that starts a shell if no command follows.
func startsShell(u *use) {
	if len(u.operands) == 0 {
		walkStdinCode(u)
	}
}

// checkCaged walks possible commands of a wrapper with many options: words that name programs,
// such values of options, and code after -c.
func checkCaged(u *use) {
	u.operands = nil
	args := u.rawArguments()
	words := make([]word, 0, len(args))
	for i, arg := range args {
		if _, value, ok := arg.after("="); ok && strings.HasPrefix(arg.text, "-") {
			arg = value
		}
		words = append(words, arg)
		if arg.text == "-c" && i+1 < len(args) {
			u.then(func() { u.w.walkCode(u.outsideState(), args[i+1], u.in) })
		}
	}
	if !walkSuspects(u, words) {
		u.doubt = "what it runs is not known"
	}
}
