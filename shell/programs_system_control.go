package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// controlTools change the services, users and network of the system. Their first operand
// usually tells whether they only look.
var controlTools = []program{
	// safe: kill -l
	// asks: kill 1
	// safe: kill -0 1234
	// asks: kill -0 -1
	// asks: kill -0 $P
	{names: "kill", risk: umpire.High, consequence: lost, why: "ends processes", style: bare, check: checkKill},
	{names: "killall5", risk: umpire.Critical, consequence: lost, why: "ends every process", lax: true},
	// asks: killall x
	{names: "killall pkill skill snice xkill tkill taskkill", risk: umpire.High, consequence: lost,
		why: "ends processes", lax: true, check: checkKillAll},
	// asks: renice 5 1
	{names: "renice", risk: umpire.Medium, consequence: reversible, why: "changes running processes", style: bare},
	// safe: systemctl status x
	// asks: systemctl stop x
	{
		names: "systemctl", risk: umpire.High, consequence: lost, why: "controls services", check: checkSystemctl,
		about: aboutItself, opts: []option{
			{flags: "-a -l -r -q -f -i --user --system --global --all --full --no-pager --no-legend --plain --quiet " +
				"--failed --value --reverse --after --before --now --force --no-block --wait --no-ask-password " +
				"--no-wall --recursive --with-dependencies --show-types --runtime --no-reload --dry-run --marked",
				values: "--message --timestamp --what --check-inhibitors --job-mode", attached: "--legend"},
			{values: "-t --type --state -p --property -P -n --lines -o --output -s --signal --kill-whom --kill-who " +
				"--preset-mode --drop-in"},
			{values: "-H --host", does: reaches},
			{values: "-M --machine -C --capsule --root --image", does: asks, consequence: sent,
				why: "works on another system"},
		},
	},
	{names: "service rc-service initctl rc-update chkconfig sv", risk: umpire.High, consequence: lost,
		why: "controls services", lax: true, check: checkService},
	// safe: loginctl --version
	// asks: loginctl kill-session 1
	{
		names: "loginctl machinectl", risk: umpire.High, consequence: lost, why: "controls sessions", lax: true,
		check: checkLoginctl, opts: []option{
			{values: "-H --host -M --machine", does: asks, consequence: sent, why: "works on another system"},
		},
	},
	// safe: timedatectl --version
	// asks: timedatectl set-time 10:00
	{
		names: "timedatectl hostnamectl localectl resolvectl networkctl nmcli coredumpctl busctl systemd-analyze",
		risk:  umpire.High, consequence: lost, why: "changes settings of the system", lax: true, opts: []option{
			{values: "-H --host -M --machine --root --image -D --directory --file --address", does: asks,
				consequence: sent, why: "works on another system, or what answers there"},
		},
		check: func(u *use) {
			if u.program0() == "busctl" && asksForPowerOff(u.operands) {
				u.raise(umpire.Critical, "powers the machine off")
			}
			if len(u.operands) == 0 || u.firstOperandIn("status show list list-timezones list-locales list-keymaps "+
				"timesync-status show-timesync statistics blame critical-chain time get-property tree dot general "+
				"device connection") && !changesNetwork(u.operands) {
				lowerToLook(u, nil)
			}
		},
	},
	{
		names: "dbus-send gdbus qdbus", each: true, risk: umpire.High, consequence: lost,
		why: "asks another program to act", style: bare,
		check: func(u *use) {
			if asksForPowerOff(u.operands) {
				u.raise(umpire.Critical, "powers the machine off")
			}
		},
	},
	// safe: systemd-detect-virt
	// asks: systemd-detect-virt > ../x
	{names: "systemd-detect-virt systemd-path systemd-escape systemd-cgls systemd-cgtop systemd-id128",
		risk: umpire.Safe, why: "tells about the system", lax: true},
	// safe: crontab -l
	// asks: crontab a
	{
		names: "crontab", risk: umpire.High, consequence: lost, why: "sets what runs later", args: "read",
		check: func(u *use) {
			if u.got("-l") != nil && u.got("-r", "-e") == nil && len(u.unknown) == 0 && len(u.operands) == 0 {
				u.become(umpire.Safe, "lists what runs later")
			}
		},
		opts: []option{{flags: "-l"}, {flags: "-r"}, {flags: "-e"}, {flags: "-i -T -n"}, {values: "-u"}},
	},
	// asks: at now
	{names: "at batch", risk: umpire.High, consequence: lost, why: "sets what runs later", check: checkAt,
		opts: []option{
			{flags: "-l"}, {flags: "-c"}, {flags: "-V -m -v -b -d -r", values: "-q -t"}, {values: "-f", does: reads},
		}},
	// safe: atq
	// asks: atq > ../x
	{names: "atq", risk: umpire.Safe, why: "lists what runs later", lax: true},
	{names: "atrm anacron run-parts", risk: umpire.High, consequence: lost, why: "changes what runs later", lax: true},
	{names: "useradd adduser usermod userdel deluser groupadd addgroup groupmod groupdel delgroup passwd chpasswd " +
		"gpasswd chage chfn chsh newusers vipw vigr visudo pwconv grpconv newgrp pw dseditgroup sysadminctl " +
		"faillock update-alternatives alternatives authselect pam-auth-update dpkg-reconfigure", risk: umpire.High,
		consequence: lost, why: "changes who may use the system, and how", lax: true, check: checkAccounts},
	// safe: sg -p 'foo($A)' -l js
	// safe: sg run -p 'foo($A)' src
	// asks: sg docker -c 'docker ps'
	// asks: sg run -p a -c x.yml
	// asks: sg docker 'docker run x'
	{names: "sg", risk: umpire.High, consequence: lost, why: "changes who may use the system, and how", lax: true,
		check: checkGroupOrSearch},
	// safe: mount
	// asks: mount /dev/sda1 /mnt
	{
		names: "mount", risk: umpire.High, consequence: lost, why: "mounts a file system", args: "data write…",
		lax: true,
		check: func(u *use) {
			if len(u.operands) == 0 &&
				(len(u.rawArguments()) == 0 ||
					len(u.rawArguments()) == 1 && scan.HasField("-l -v", u.rawArguments()[0].text) &&
						u.rawArguments()[0].known()) {
				lowerToLook(u, nil)
			}
		},
	},
	// asks: umount /mnt
	{
		names: "umount swapoff swapon fusermount fusermount3 pivot_root switch_root remount mount.nfs mount.cifs " +
			"quotaon quotaoff",
		risk: umpire.High, consequence: lost, why: "changes what is mounted", args: "read…", lax: true,
		check: func(u *use) {
			if u.program0() == "umount" && givesAny(u.rawArguments(), "-a --all") &&
				!givesAny(u.rawArguments(), "-t --types -O --test-opts") {
				u.raise(umpire.Critical, "unmounts every file system")
			}
		},
	},
	{names: "insmod rmmod modprobe depmod kmod dkms kextload kextunload", risk: umpire.High, consequence: lost,
		why: "changes the kernel", lax: true},
	// safe: iptables -L
	// asks: iptables -F
	{names: "iptables ip6tables ebtables arptables", risk: umpire.High, consequence: lost,
		why: "changes what may reach the machine", style: bare, check: checkIptables},
	// safe: iptables-save
	// asks: iptables-save -f /etc/x
	{
		names: "iptables-save ip6tables-save", risk: umpire.Safe, why: "prints what may reach the machine", lax: true,
		opts: []option{
			{values: "-f --file", does: writes},
			{values: "-M --modprobe", does: runs, why: "runs a program to load modules"},
		},
	},
	// safe: nft list ruleset
	// asks: nft flush ruleset
	{names: "nft ufw firewall-cmd pfctl iptables-restore ip6tables-restore ipset ipfw tc", risk: umpire.High,
		consequence: lost, why: "changes what may reach the machine", style: bare, check: checkFirewall},
	// safe: ip addr
	// asks: ip link set eth0 down
	{
		names: "ip", risk: umpire.High, consequence: lost, why: "changes how the machine is connected", style: words,
		check: checkIP, about: "-V -Version -help", opts: []option{
			{flags: "-4 -6 -B -M -0 -s -stats -statistics -d -details -r -resolve -o -oneline -br -brief -j -json -p " +
				"-pretty -t -timestamp -ts -tshort -a -all -h -human -human-readable -iec -c -color -N -Numeric -l " +
				"-loops", values: "-f -family -rc -rcvbuf"},
			{values: "-b -batch", does: reads | harms, consequence: lost, why: "obeys a file of commands"},
			{values: "-n -netns", does: asks, consequence: lost, why: "works in another network"},
		},
	},
	{names: "bridge ethtool iw iwconfig brctl vconfig ifup ifdown dhclient dhcpcd wpa_supplicant wpa_cli rfkill " +
		"ovs-vsctl networksetup", risk: umpire.High, consequence: lost, why: "changes how the machine is connected",
		lax: true},
	// safe: ifconfig
	// asks: ifconfig eth0 down
	{
		names: "ifconfig", risk: umpire.High, consequence: lost, why: "changes how the machine is connected",
		style: bare,
		check: func(u *use) {
			if fields := u.operands; len(fields) < 2 ||
				len(fields) == 2 && scan.HasField("-a -s -v -l", fields[0].text) && fields[1].known() {
				lowerToLook(u, nil)
			}
		},
	},
	// safe: route -n
	// asks: route add default gw 1.2.3.4
	{
		names: "route", risk: umpire.High, consequence: lost, why: "changes where packets go", style: bare,
		check: func(u *use) {
			if allListed(u.operands, "-n -e -ee -v -4 -6 -net -inet") || scan.HasField("get", secondWord(u.operands)) ||
				u.firstOperandIn("get print PRINT") {
				lowerToLook(u, nil)
			}
		},
	},
	// safe: arp -a
	// asks: arp -d x
	{
		names: "arp", risk: umpire.High, consequence: lost, why: "changes which machine is which", style: bare,
		check: func(u *use) {
			if allListed(u.operands, "-a -n -an -e -v -na") {
				lowerToLook(u, nil)
			}
		},
	},
	{names: "auditctl setenforce semanage setsebool apparmor_parser aa-enforce aa-complain aa-disable swaplabel " +
		"sysrq tuned-adm cpupower powerprofilesctl crash gcore prlimit ipcrm", risk: umpire.High, consequence: lost,
		why: "changes how the system protects itself or runs", lax: true},
	// safe: getenforce
	// asks: getenforce > ../x
	{names: "getenforce sestatus aa-status", risk: umpire.Safe, why: "tells about the system", lax: true},
}

// allListed reports whether all words are known and on a list.
func allListed(words []word, list string) bool {
	for _, wd := range words {
		if !wd.known() || !scan.HasField(list, wd.text) {
			return false
		}
	}
	return true
}

// asksForPowerOff reports whether a message tells the session manager to power off.
func asksForPowerOff(words []word) bool {
	for _, wd := range words {
		name := wd.text[strings.LastIndexByte(wd.text, '.')+1:]
		if scan.HasField("PowerOff Reboot Halt PowerOffWithFlags RebootWithFlags HaltWithFlags", name) {
			return true
		}
	}
	return false
}

// changesNetwork reports whether nmcli changes the network, as `nmcli device disconnect` does.
func changesNetwork(operands []word) bool {
	const nouns = "device connection general"
	return len(operands) > 1 && scan.HasField(nouns, operands[0].text) &&
		!scan.HasField("show status list", operands[1].text)
}

// checkKill judges kill -l, which lists signals.
func checkKill(u *use) {
	if u.firstOperandIn("-l -L --list --table") {
		lowerToLook(u, nil)
		return
	}
	signal, targets := splitKill(u.operands)
	groups := slices.ContainsFunc(targets, func(wd word) bool { return !wd.known() || strings.HasPrefix(wd.text, "-") })
	if signal == "0" && len(targets) > 0 && !groups {
		u.onlyShows("tells whether a process is there")
	}
	for _, target := range targets {
		switch {
		case signal == "0" || !target.known():
		case target.text == "-1":
			u.raise(umpire.Critical, "ends every process")
		case target.text == "1" && scan.HasField("9 15 KILL TERM SIGKILL SIGTERM", signal):
			u.raise(umpire.Critical, "ends the process that all others depend on")
		}
	}
}

// checkKillAll judges ending all processes of root.
func checkKillAll(u *use) {
	const valued = "-u -U --euid --uid --user -g -G -P -s -t -F -n --signal --group --parent --session --terminal " +
		"--pidfile --ns --nslist --older --younger -y -o -k"
	roots, named := false, false
	args := u.rawArguments()
	for i := 0; i < len(args); i++ {
		name, value, attached := args[i].after("=")
		if !strings.HasPrefix(name, "-") {
			named = true
			continue
		}
		if len(name) > 2 && scan.HasField("-u -U", name[:2]) {
			name, value, attached = name[:2], lit(name[2:]), true
		}
		if !attached && scan.HasField(valued, name) && i+1 < len(args) &&
			!(scan.HasField("-n -o", name) && u.program0() == "pkill") {
			i++
			value = args[i]
		}
		roots = roots || scan.HasField("-u -U --euid --uid --user", name) && scan.HasField("root 0", value.text)
	}
	if roots && !named {
		u.raise(umpire.Critical, "ends every process of the system's account")
	}
}

// splitKill splits the arguments of kill into a signal and the target processes.
func splitKill(args []word) (signal string, targets []word) {
	signal = "TERM"
	if len(args) == 0 || args[0].text == "" || args[0].text[0] != '-' {
		return signal, args
	}
	switch name, value, _ := args[0].after("="); {
	case args[0].text == "--":
		return signal, args[1:]
	case scan.HasField("-s -n --signal", name) && value.text == "" && len(args) > 1:
		signal, args = args[1].text, args[2:]
	case scan.HasField("-s -n --signal", name):
		signal, args = value.text, args[1:]
	default:
		signal, args = args[0].text[1:], args[1:]
	}
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	return strings.ToUpper(signal), args
}

// checkSystemctl judges systemctl by its verb.
func checkSystemctl(u *use) {
	const looking = "status show cat list-units list-unit-files list-timers list-sockets list-jobs list-dependencies " +
		"list-machines list-automounts list-paths is-active is-enabled is-failed is-system-running get-default help"
	switch {
	case u.firstOperandIn("poweroff reboot halt kexec soft-reboot exit switch-root") ||
		u.firstOperandIn("isolate start") && powersOff(u.operands[1:]):
		u.raise(umpire.Critical, "powers the machine off")
	case u.firstOperandIn("isolate") && len(u.operands) > 1 && scan.HasField("emergency emergency.target rescue "+
		"rescue.target runlevel1 runlevel1.target", u.operands[1].text):
		u.raise(umpire.Critical, "ends all services but one shell")
	case u.firstOperandIn("suspend hibernate hybrid-sleep sleep emergency rescue"):
		u.raise(umpire.High, "stops the machine")
	case (len(u.operands) == 0 || u.firstOperandIn(looking)) && len(u.unknown) == 0 && u.spoke == "":
		shows := u.firstOperandIn("show")
		lowerToLook(u, nil)
		if shows {
			judgeShownUnit(u)
		}
	}
}

func powersOff(units []word) bool {
	for _, unit := range units {
		name := strings.TrimSuffix(unit.text, ".target")
		if scan.HasField("poweroff reboot halt kexec shutdown runlevel0 runlevel6", name) && name != "" {
			return true
		}
	}
	return false
}

func checkService(u *use) {
	if len(u.rawArguments()) == 1 && u.rawArguments()[0].text == "--status-all" ||
		len(u.operands) == 2 && secondWord(u.operands) == "status" && !strings.Contains(u.operands[0].text, "/") &&
			u.operands[0].known() {
		lowerToLook(u, nil)
	}
}

func checkLoginctl(u *use) {
	switch {
	case u.firstOperandIn("poweroff reboot halt"):
		u.raise(umpire.Critical, "powers the machine off")
	case len(u.operands) == 0, u.firstOperandIn("list list-sessions list-users list-seats session-status " +
		"show-session user-status show-user seat-status show-seat status show list-images"):
		lowerToLook(u, nil)
	}
}

// checkAt walks the command that at will run, if the line contains it.
func checkAt(u *use) {
	if (u.got("-l") != nil || u.got("-c") != nil) && len(u.unknown) == 0 {
		lowerToLook(u, nil)
		return
	}
	u.operands = nil
	if u.in.kind != flowNone && u.got("-f") == nil {
		walkStdinCode(u)
	}
}

func checkIptables(u *use) {
	lists := false
	for _, operand := range u.operands {
		lists = lists || operand.known() &&
			scan.HasField("-L -S --list --list-rules -nL -nvL -Ln -vnL -Lnv -Lvn", operand.text)
		if operand.open || strings.HasPrefix(operand.text, "-") && !scan.HasField("-L -S --list --list-rules -nL "+
			"-nvL -Ln -vnL -Lnv -Lvn -n -v -nv -vn -t --line-numbers -x --exact --verbose --numeric --table -w",
			operand.text) {
			return
		}
	}
	if lists {
		lowerToLook(u, nil)
	}
}

func checkFirewall(u *use) {
	operands := u.operands
	for len(operands) > 0 && operands[0].known() &&
		scan.HasField("-a -n -nn -j -s -y -t --handle --json --numeric --stateless", operands[0].text) {
		operands = operands[1:]
	}
	if len(operands) > 0 && operands[0].known() && scan.HasField("list status show --state --list-all "+
		"--get-active-zones --list-ports --list-services -sr", operands[0].text) {
		for _, operand := range operands {
			if operand.open || strings.Contains(operand.text, ";") {
				return
			}
		}
		lowerToLook(u, nil)
	}
}

// checkIP judges ip by its verb, and walks the command of `ip netns exec`.
func checkIP(u *use) {
	operands := u.takeOperands()
	for i, arg := range u.rawArguments() {
		if arg.text == "exec" && i > 0 && i+2 < len(u.rawArguments()) {
			u.walkRest("command", u.rawArguments()[i+2:])
			return
		}
	}
	verb := ""
	if len(operands) > 1 {
		verb = operands[1].text
	}
	known := len(operands) < 2 || operands[1].known()
	looks := known && (verb == "" || scan.HasField("show s sh sho list ls lst l li lis get g help", verb)) ||
		len(operands) > 0 && operands[0].text == "monitor" && verb != "file"
	if looks && len(u.unknown) == 0 && u.spoke == "" && !u.doubtful {
		lowerToLook(u, nil)
	}
}

// checkGroupOrSearch judges sg, which is ast-grep, or on some systems runs a command as a member
// of a group. That one has neither a pattern nor, as a group, run or scan.
func checkGroupOrSearch(u *use) {
	args := u.rawArguments()
	searches := len(args) > 0 && scan.HasField("-p --pattern run scan", args[0].text)
	for _, arg := range args {
		searches = searches && arg.known() && !strings.HasPrefix(arg.text, "-c")
	}
	if searches {
		u.become(umpire.Safe, checksByRules)
		walkInFreshShell(u, append([]word{lit("ast-grep")}, args...))
	}
	u.operands = nil
}
