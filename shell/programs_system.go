package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// systemTools are the programs that query and control the system. The ones in this file only
// query, unless an option says otherwise.
var systemTools = []program{
	// safe: whoami
	// asks: id > /etc/x
	// safe: lsblk
	{names: "whoami id groups w tty uptime free vmstat mpstat lsblk lsmem lsipc lsns lsmod nproc getconf uuidgen " +
		"pidof pwdx numastat ipcs logname sw_vers vm_stat hostid lsb_release pstree cal ncal getopt", each: true,
		risk: umpire.Safe, why: "tells about the system", lax: true},
	// safe: iostat -x
	// asks: iostat -f /etc
	{names: "iostat", risk: umpire.Safe, why: "tells about the system", lax: true,
		opts: []option{{values: "-f", does: reads}}},
	// safe: lscpu
	// asks: lscpu -s /etc
	{names: "lscpu", risk: umpire.Safe, why: "tells about the system", lax: true,
		opts: []option{{values: "-s --sysroot", does: reads}}},
	// safe: acpi -b
	// asks: acpi -d /etc
	{names: "acpi", risk: umpire.Safe, why: "tells about the system", lax: true,
		opts: []option{{values: "-d --directory", does: reads}}},
	// safe: lsusb -t
	// asks: lsusb -D /etc/motd
	{names: "lsusb", risk: umpire.Safe, why: "tells about the system", about: "-V -h " + aboutItself, opts: []option{
		{flags: "-v -t --verbose --tree"}, {values: "-s -d", does: plain}, {values: "-D", does: reads},
	}},
	// safe: lspci -nn
	// asks: lspci -q
	{names: "lspci", risk: umpire.Safe, why: "tells about the system", about: aboutItself, opts: []option{
		{flags: "-m -n -t -v -k -x -D -P -b"}, {values: "-s -d", does: plain}, {values: "-i -p -F", does: reads},
	}},
	// safe: who
	// asks: who /etc/shadow
	{names: "users who", each: true, risk: umpire.Safe, why: "tells who is logged in", args: "read…", lax: true,
		about: aboutItself},
	// safe: last -n 5
	// asks: last -f /etc/motd
	{names: "last lastb", each: true, risk: umpire.Safe, why: "tells who was logged in", opts: []option{
		{flags: "-a -d -F -i -R -w -x -T -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --hostlast --dns --fulltimes --ip " +
			"--nohostname --fullnames --system --tab-separated"},
		{values: "-n --limit -p --present -s --since -t --until --time-format", does: plain},
		{values: "-f --file", does: reads},
	}, about: "-h -V " + aboutItself},
	// safe: dircolors -p
	// asks: dircolors /etc/motd
	{names: "dircolors", risk: umpire.Safe, why: "tells the colours of files", args: "read", opts: []option{
		{flags: "-b -c -p --sh --bourne-shell --csh --c-shell --print-database --print-ls-colors"},
	}, about: aboutItself},
	// safe: modinfo -F version ext4
	// asks: modinfo /etc/motd
	{names: "modinfo", risk: umpire.Safe, why: "tells about kernel modules", args: "read…", opts: []option{
		{flags: "-0 -a -d -l -p -n --null --author --description --license --parameters --filename"},
		{values: "-F --field -k --set-version", does: plain}, {values: "-b --basedir", does: reads},
	}, about: "-V -h " + aboutItself},
	// safe: lastlog
	// asks: lastlog --clear
	{names: "lastlog", risk: umpire.Safe, why: "tells about the system", args: "none", opts: []option{
		{flags: "-a --active", values: "-u --user -b --before -t --time", does: plain},
	}, about: aboutItself},
	// safe: pmap 1
	// asks: pmap -c rc 1
	{names: "pmap", risk: umpire.Safe, why: "tells about the system", args: "data…", about: aboutItself, opts: []option{
		{flags: "-x -X -d -q -p -k -r --extended --device --quiet --show-path", values: "-A --range", does: plain},
	}},
	// safe: tload --version
	// asks: tload /etc/x
	{names: "tload", risk: umpire.Safe, why: "draws the load on a terminal, or into the file that is named",
		args: "write…", about: aboutItself, opts: []option{{values: "-d --delay -s --scale", does: plain}}},
	// safe: units 1m ft
	// asks: units -f /etc/shadow
	{names: "units", risk: umpire.Safe, why: "converts units", args: "data…", about: aboutItself, opts: []option{
		{flags: "-q -s -v -t -1 -p -e -m -S --quiet --silent --strict --verbose --terse --one-line --exponential " +
			"--minus --product", values: "-d --digits -o --output-format", does: plain},
	}},
	// safe: getent passwd root
	// asks: getent shadow
	{
		names: "getent", risk: umpire.Safe, why: "looks up an entry of the system", args: "data…", check: checkGetent,
		about: aboutItself, opts: []option{
			{flags: "-i -A --no-idn --no-addrconfig"},
			{values: "-s --service", does: obeys, why: "loads the library of a service by its name"},
		},
	},
	// safe: nvidia-smi
	// asks: nvidia-smi -r
	{names: "nvidia-smi", risk: umpire.Safe, why: "tells about the system", style: words, args: "data…", opts: []option{
		{flags: "-L -q -x -a -B --list-gpus --query",
			values: "-i --id -d --display -l --loop -lms --query-gpu --query-compute-apps --format", does: plain},
		{values: "-f --filename", does: writes},
	}, about: "-h --help --version"},
	// safe: lshw -short
	// asks: lshw -dump db
	{names: "lshw", risk: umpire.Safe, why: "tells about the system", style: words, args: "none", opts: []option{
		{flags: "-short -json -html -xml -businfo -quiet -sanitize -numeric -notime",
			values: "-C -c -class -disable -enable", does: plain},
		{values: "-dump", does: writes},
	}, about: "-version -help"},
	// safe: ps aux
	// asks: ps e
	{names: "ps", risk: umpire.Safe, why: "lists processes", style: bare, check: checkPs},
	// safe: pgrep node
	// asks: pgrep x > ../y
	{names: "pgrep", risk: umpire.Safe, why: "lists processes", lax: true},
	// safe: sleep 1
	// asks: sleep 1 > ../x
	{names: "sleep usleep yes expr clear tput tabs", risk: umpire.Safe, why: "does nothing but print or wait",
		style: bare, args: "data…"},
	// safe: printenv HOME
	// asks: printenv
	{names: "printenv gprintenv", risk: umpire.Safe, why: "prints variables of the environment", lax: true,
		check: checkPrintenv, about: aboutItself},
	// safe: locale
	// asks: locale > ../x
	{names: "locale", risk: umpire.Safe, why: "prints how texts are written here", lax: true},
	// asks: setterm --reset
	{names: "setterm", risk: umpire.Medium, consequence: reversible,
		why: "sets up the terminal, and can write what it shows to a file", style: bare},
	// safe: stty -a
	// asks: stty > ../x
	{names: "stty reset", risk: umpire.Low, why: "sets up the terminal", style: bare},
	// safe: uname -a
	// asks: uname -S x
	{names: "uname", risk: umpire.Safe, why: "tells about the system", args: "none", lax: true,
		opts: []option{{values: "-S", does: harms, consequence: lost, why: "renames the machine"}}},
	// safe: date +%s
	// asks: date -s 2020-01-01
	{names: "date gdate", risk: umpire.Safe, why: "prints the time", check: checkDate, opts: []option{
		{flags: "-u -R -n -j --utc --universal --rfc-email --rfc-2822 --debug --resolution"},
		{values: "-d --date -v -z --rfc-3339", attached: "-I --iso-8601", does: plain},
		{values: "-r --reference -f --file", does: reads},
		{values: "-s --set", does: harms, consequence: lost, why: "sets the clock"},
	}, about: aboutItself},
	// asks: hwclock -w
	{names: "hwclock ntpdate rdate chronyc ntpd", risk: umpire.High, consequence: lost, why: "sets the clock",
		lax: true},
	// safe: hostname
	// asks: hostname x
	{
		names: "hostname domainname nisdomainname ypdomainname dnsdomainname", risk: umpire.Safe,
		why: "prints the machine's name", check: checkHostname, about: aboutItself, opts: []option{
			{flags: "-a -A -d -f -i -I -s -y --alias --all-fqdns --all-ip-addresses --domain --fqdn --long " +
				"--ip-address --short --yp --nis"},
			{flags: "-b --boot", values: "-F --file", does: harms, consequence: lost, why: "renames the machine"},
		},
	},
	// safe: lsof -i
	// asks: lsof -D b
	{names: "lsof", risk: umpire.Safe, why: "lists open files", check: checkLsof, about: "-h", opts: []option{
		{flags: "-a -b -C -l -M -n -N -O -P -R -t -U -v -V -w -X -E -K -x -Q"},
		{values: "-c -d -p -u -e", attached: "-F -g -i -L -o -r -s -S -T -z -f -Z", does: plain},
		{values: "-D -k -m -A", does: asks, consequence: lost, why: "writes or obeys a file"},
	}},
	// safe: fuser a
	// asks: fuser -k a
	{
		names: "fuser", risk: umpire.Safe, why: "lists the processes that use files", args: "read…", about: "-V --help",
		opts: []option{
			{flags: "-a -I -l -m -M -s -u -v -c -f -4 -6"}, {values: "-n", does: plain},
			{flags: "-k -i -w --kill", does: harms, consequence: lost, why: "kills the processes that use files"},
		},
	},
	// safe: top -b -n 1
	// asks: top
	{
		names: "top htop btop atop gtop glances iotop nmon", risk: umpire.Medium, consequence: reversible,
		why: "shows processes on the whole terminal, and can kill them", check: checkTop,
		about: "--help --version -h -v", opts: []option{
			{flags: "-b -c -i -H -S -E -e -1 -k", values: "-n -d -p -u -U -o -O -l -s", attached: "-w", does: plain},
		},
	},
	// safe: sysctl -a
	// asks: sysctl -w a=b
	{names: "sysctl", risk: umpire.Safe, why: "prints settings of the kernel", check: checkSysctl, opts: []option{
		{flags: "-a -A -n -N -e -q -b -X -x -h --all --values --names --ignore --quiet --binary --deprecated " +
			"--dry-run"},
		{values: "-r --pattern", does: plain},
		{flags: "-w --write", does: harms, consequence: lost, why: "changes settings of the kernel"},
		{flags: "--system", attached: "-p -f --load", does: harms, consequence: lost,
			why: "changes settings of the kernel"},
	}, about: aboutItself},
	// safe: journalctl -n 5
	// asks: journalctl --vacuum-size=1M
	{names: "journalctl", risk: umpire.Safe, why: "prints logs", args: "data…", about: aboutItself, opts: []option{
		{flags: "-a -e -f -F -k -l -m -N -q -r -x -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --all --follow --dmesg --full " +
			"--merge --quiet --reverse --catalog --pager-end --no-pager --no-full --no-tail --no-hostname --utc " +
			"--user --system --list-boots --list-catalog --disk-usage --header --fields --verify --truncate-newline",
			attached: "--boot -b --lines", does: plain},
		{flags: "--show-cursor", values: "-o --output --output-fields -p --priority -S --since -U --until -u --unit " +
			"--user-unit -t --identifier -T --facility -g --grep -c --cursor --after-cursor --field --interval " +
			"--verify-key --namespace -M --machine", attached: "-n --case-sensitive", does: plain},
		{values: "-D --directory -i --file --root --image", does: reads}, {values: "--cursor-file", does: writes},
		{flags: "--rotate --flush --sync --relinquish-var --smart-relinquish-var --setup-keys --update-catalog " +
			"--force --new-id128", values: "--vacuum-size --vacuum-time --vacuum-files", does: harms, consequence: lost,
			why: "removes or changes logs"},
	}},
	// safe: dmesg
	// asks: dmesg -C
	{names: "dmesg", risk: umpire.Safe, why: "prints the kernel's log", args: "none", opts: []option{
		{flags: "-H -T -L -k -r -u -x -w -W -t -e -d -P -S -p -a -0 --human --ctime --kernel --raw --userspace " +
			"--decode --follow --follow-new --notime --reltime --show-delta --nopager --syslog --json -J " +
			"--force-prefix --noescape", attached: "--color", does: plain},
		{values: "-l --level -f --facility -s --buffer-size --time-format --since --until", does: plain},
		{values: "-F --file -K --kmsg-file", does: reads},
		{flags: "-C --clear -c --read-clear -D --console-off -E --console-on", values: "-n --console-level",
			does: harms, consequence: lost, why: "changes the kernel's log"},
	}, about: aboutItself},
	// safe: ss -tlnp
	// asks: ss -K
	{names: "ss", risk: umpire.Safe, why: "lists connections", args: "data…", about: aboutItself, opts: []option{
		{flags: "-h -V -H -O -n -r -a -l -o -e -m -p -T -i -s -z -Z -b -E -M -t -u -d -w -x -S -4 -6 -0 -B -Q " +
			"--no-header --oneline --numeric --resolve --all --listening --options --extended --memory --processes " +
			"--threads --info --summary --context --contexts --bpf --events --ipv4 --ipv6 --packet --tcp --udp " +
			"--sctp --dccp --raw --unix --tipc --vsock --xdp --mptcp --tos --cgroup --inet-sockopt"},
		{values: "-f --family -A --query --socket -N --net", does: plain}, {values: "-F --filter", does: reads},
		{values: "-D --diag", does: writes},
		{flags: "-K --kill", does: harms, consequence: lost, why: "cuts connections"},
	}},
	// safe: netstat -an
	// asks: netstat > ../x
	{names: "netstat", risk: umpire.Safe, why: "lists connections", lax: true},
	// safe: nm a.o
	// asks: nm --plugin=./x a.o
	{
		names: "nm objdump readelf size otool dyldinfo llvm-nm llvm-objdump llvm-readelf llvm-size", risk: umpire.Safe,
		why: "reads object files", args: "read…", lax: true, check: checkObjects, opts: []option{
			{values: "--plugin", does: obeys, why: "loads code of others"},
			{values: "--target -b", attached: "--dwarf --debug-dump", does: plain},
		},
	},
	// safe: addr2line -e a.out 0x10
	// asks: addr2line @opts
	{
		names: "addr2line", risk: umpire.Safe, why: "tells the lines of addresses",
		about: "-h -H -v -V " + aboutItself, opts: []option{
			{flags: "-a -f -p -s -i -C -r --addresses --functions --pretty-print --basenames --inlines " +
				"--no-recurse-limit", attached: "--demangle", does: plain},
			{values: "-b --target -j --section", does: plain}, {values: "-e --exe", does: reads},
		},
		check: checkObjects,
	},
	// safe: c++filt _Z1fv
	// asks: c++filt @opts
	{
		names: "c++filt", risk: umpire.Safe, why: "makes names readable", about: "-h -v " + aboutItself, opts: []option{
			{flags: "-_ -n -i -p -t --strip-underscore --no-strip-underscore --no-params --no-verbose --types"},
			{values: "-s --format", does: plain},
		},
		check: checkObjects,
	},
	// safe: dwarfdump --all a.o
	// asks: dwarfdump /root/a.o
	{
		names: "dwarfdump llvm-dwarfdump", risk: umpire.Safe, why: "reads object files", args: "read…",
		check: checkObjects, about: aboutItself, opts: []option{
			{flags: "-a -b -c -f -F -g -G -i -I -l -m -o -p -r -R -s -S -v -w -y -x", does: asks, consequence: harmless,
				why: "means different things to different versions"},
			{flags: "--all --uuid -u --verify --statistics --show-children --show-parents",
				values:   "--arch --name --find --lookup",
				attached: "--debug-info --debug-line --debug-abbrev --debug-frame --eh-frame", does: plain},
		},
	},
	// asks: strip a.o
	{
		names: "strip llvm-strip", risk: umpire.Medium, consequence: reversible, why: "changes object files",
		args: "write…", check: checkObjects, about: aboutItself, opts: []option{
			{flags: "-s -g -S -d -x -X -D -U -p -v -w -M --strip-all --strip-debug --strip-unneeded --discard-all " +
				"--discard-locals --preserve-dates --verbose --wildcard --only-keep-debug --keep-file-symbols " +
				"--enable-deterministic-archives"},
			{values: "-K --keep-symbol -N --strip-symbol -R --remove-section -F --target -I -O", does: plain},
			{values: "-o", does: writes}, {values: "--plugin", does: obeys},
		},
	},
	// asks: ldd a
	{
		names: "ldd", risk: umpire.Medium, consequence: reversible,
		why: "lists libraries, and may start the program for it", args: "read…",
		about: aboutItself, opts: []option{{flags: "-v -u -d -r --verbose --unused --data-relocs --function-relocs"}},
	},
	// asks: ldconfig
	{
		names: "ldconfig", risk: umpire.High, consequence: lost, why: "changes where libraries are found", lax: true,
		check: func(u *use) {
			if len(u.rawArguments()) == 1 && u.rawArguments()[0].text == "-p" && u.rawArguments()[0].known() {
				lowerToLook(u, nil)
			}
		},
	},
	// asks: logger x
	{names: "logger", risk: umpire.Medium, consequence: reversible, why: "writes to the system's log", opts: []option{
		{flags: "-i -s", values: "-t --tag -p --priority", does: plain}, {values: "-f --file", does: reads},
	}, about: aboutItself},
}

// checkPs detects the letter e without a dash, which shows the environment of every process,
// including its secrets.
func checkPs(u *use) { processesShown(u, u.operands) }

// processesShown judges the arguments of a program that accepts those of ps.
func processesShown(u *use, args []word) {
	for i, operand := range args {
		valued := i > 0 && strings.HasPrefix(args[i-1].text, "-")
		plain := operand.text != "" && strings.Trim(operand.text, "AaCcefghjklmnOopqrSsTtUuvwXxZ") == "" && !valued
		if operand.text == "-E" || plain && strings.Contains(operand.text, "e") {
			u.askSecret("shows the environment of processes")
		}
	}
}

// checkGetent distinguishes public entries from passwords, and from names that are looked up on
// the network.
func checkGetent(u *use) {
	for i, operand := range u.operands {
		switch {
		case i == 0 && (!operand.known() || scan.HasField("shadow gshadow", operand.text)):
			u.raiseTo(umpire.High, harmless, "shows passwords")
		case i > 0 && scan.HasField("hosts ahosts ahostsv4 ahostsv6", u.operands[0].text):
			u.visit(operand, umpire.Medium, "asks a name server")
		}
	}
}

// checkDate judges `date MMDDhhmm`, which sets the clock: a format begins with a
// plus, and BSD's -j never sets.
func checkDate(u *use) {
	if !u.gave("-j") {
		for _, operand := range u.operands {
			if operand.text == "" || operand.text[0] != '+' {
				u.raise(umpire.High, "sets the clock")
			}
		}
	}
}

func checkHostname(u *use) {
	if len(u.operands) > 0 {
		u.raise(umpire.High, "renames the machine")
	}
}

// checkLsof treats the folder of `+D folder` as a folder, and a path as a file to look up.
func checkLsof(u *use) {
	for _, operand := range u.operands {
		switch {
		case strings.HasPrefix(operand.text, "+m"):
			u.raiseTo(umpire.Medium, reversible, "writes a file")
		case !strings.HasPrefix(operand.text, "+"):
			u.touch(umpire.KindRead, operand, accessOf{})
		}
	}
	u.operands = nil
}

// checkTop judges top -b, which prints and ends, as top -l does on macOS.
func checkTop(u *use) {
	for _, g := range u.given {
		if u.program0() == "top" && (g.name == "-b" || g.name == "-l") && len(u.unknown) == 0 {
			u.become(umpire.Safe, "lists processes")
		}
	}
}

func checkSysctl(u *use) {
	for _, operand := range u.operands {
		if strings.Contains(operand.text, "=") || operand.open {
			u.raise(umpire.High, "changes settings of the kernel")
		}
		if strings.Contains(operand.text, "..") || strings.HasPrefix(operand.text, "/") {
			u.touch(umpire.KindRead, word{text: "/proc/sys/" + operand.text, open: operand.open}, accessOf{})
		}
	}
}

// checkObjects refuses @file, which contains more options.
func checkObjects(u *use) {
	for _, operand := range u.operands {
		if strings.HasPrefix(operand.text, "@") {
			u.raise(umpire.Medium, umpire.Say("obeys the options in %s", operand.display()))
		}
	}
}
