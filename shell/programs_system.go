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
		opts: []option{{names: "-f=", does: reads}}},
	// safe: lscpu
	// asks: lscpu -s /etc
	{names: "lscpu", risk: umpire.Safe, why: "tells about the system", lax: true,
		opts: []option{{names: "-s= --sysroot=", does: reads}}},
	// safe: acpi -b
	// asks: acpi -d /etc
	{names: "acpi", risk: umpire.Safe, why: "tells about the system", lax: true,
		opts: []option{{names: "-d= --directory=", does: reads}}},
	// safe: lsusb -t
	// asks: lsusb -D /etc/motd
	{names: "lsusb", risk: umpire.Safe, why: "tells about the system", about: "-V -h " + aboutItself, opts: []option{
		{names: "-vt --verbose --tree"}, {names: "-s= -d=", does: plain}, {names: "-D=", does: reads},
	}},
	// safe: lspci -nn
	// asks: lspci -q
	{names: "lspci", risk: umpire.Safe, why: "tells about the system", about: aboutItself, opts: []option{
		{names: "-mntvkxDPb"}, {names: "-s= -d=", does: plain}, {names: "-i= -p= -F=", does: reads},
	}},
	// safe: who
	// asks: who /etc/shadow
	{names: "users who", each: true, risk: umpire.Safe, why: "tells who is logged in", args: "read…", lax: true,
		about: aboutItself},
	// safe: last -n 5
	// asks: last -f /etc/motd
	{names: "last lastb", each: true, risk: umpire.Safe, why: "tells who was logged in", opts: []option{
		{names: "-adFiRwxT0123456789 --hostlast --dns --fulltimes --ip --nohostname --fullnames --system " +
			"--tab-separated"},
		{names: "-n= --limit= -p= --present= -s= --since= -t= --until= --time-format=", does: plain},
		{names: "-f= --file=", does: reads},
	}, about: "-h -V " + aboutItself},
	// safe: dircolors -p
	// asks: dircolors /etc/motd
	{names: "dircolors", risk: umpire.Safe, why: "tells the colours of files", args: "read", opts: []option{
		{names: "-bcp --sh --bourne-shell --csh --c-shell --print-database --print-ls-colors"},
	}, about: aboutItself},
	// safe: modinfo -F version ext4
	// asks: modinfo /etc/motd
	{names: "modinfo", risk: umpire.Safe, why: "tells about kernel modules", args: "read…", opts: []option{
		{names: "-0adlpn --null --author --description --license --parameters --filename"},
		{names: "-F= --field= -k= --set-version=", does: plain}, {names: "-b= --basedir=", does: reads},
	}, about: "-V -h " + aboutItself},
	// safe: lastlog
	// asks: lastlog --clear
	{names: "lastlog", risk: umpire.Safe, why: "tells about the system", args: "none", opts: []option{
		{names: "-u= --user= -b= --before= -t= --time= -a --active", does: plain},
	}, about: aboutItself},
	// safe: pmap 1
	// asks: pmap -c rc 1
	{names: "pmap", risk: umpire.Safe, why: "tells about the system", args: "data…", about: aboutItself, opts: []option{
		{names: "-xXdqpkr -A= --extended --device --quiet --show-path --range=", does: plain},
	}},
	// safe: tload --version
	// asks: tload /etc/x
	{names: "tload", risk: umpire.Safe, why: "draws the load on a terminal, or into the file that is named",
		args: "write…", about: aboutItself, opts: []option{{names: "-d= --delay= -s= --scale=", does: plain}}},
	// safe: units 1m ft
	// asks: units -f /etc/shadow
	{names: "units", risk: umpire.Safe, why: "converts units", args: "data…", about: aboutItself, opts: []option{
		{names: "-qsvt1pemS --quiet --silent --strict --verbose --terse --one-line --exponential --minus --product " +
			"-d= --digits= -o= --output-format=", does: plain},
	}},
	// safe: getent passwd root
	// asks: getent shadow
	{
		names: "getent", risk: umpire.Safe, why: "looks up an entry of the system", args: "data…", check: checkGetent,
		about: aboutItself, opts: []option{
			{names: "-iA --no-idn --no-addrconfig"},
			{names: "-s= --service=", does: obeys, why: "loads the library of a service by its name"},
		},
	},
	// safe: nvidia-smi
	// asks: nvidia-smi -r
	{names: "nvidia-smi", risk: umpire.Safe, why: "tells about the system", style: words, args: "data…", opts: []option{
		{names: "-L -q -x -a -B --list-gpus --query -i= --id= -d= --display= -l= --loop= -lms= --query-gpu= " +
			"--query-compute-apps= --format=", does: plain},
		{names: "-f= --filename=", does: writes},
	}, about: "-h --help --version"},
	// safe: lshw -short
	// asks: lshw -dump db
	{names: "lshw", risk: umpire.Safe, why: "tells about the system", style: words, args: "none", opts: []option{
		{names: "-short -json -html -xml -businfo -quiet -sanitize -numeric -notime -C= -c= -class= -disable= " +
			"-enable=", does: plain},
		{names: "-dump=", does: writes},
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
		opts: []option{{names: "-S=", does: harms, consequence: lost, why: "renames the machine"}}},
	// safe: date +%s
	// asks: date -s 2020-01-01
	{names: "date gdate", risk: umpire.Safe, why: "prints the time", check: checkDate, opts: []option{
		{names: "-uRnj --utc --universal --rfc-email --rfc-2822 --debug --resolution"},
		{names: "-d= --date= -v= -z= -I? --iso-8601? --rfc-3339=", does: plain},
		{names: "-r= --reference= -f= --file=", does: reads},
		{names: "-s= --set=", does: harms, consequence: lost, why: "sets the clock"},
	}, about: aboutItself},
	// asks: hwclock -w
	{names: "hwclock ntpdate rdate chronyc ntpd", risk: umpire.High, consequence: lost, why: "sets the clock",
		lax: true},
	// safe: hostname
	// asks: hostname x
	{
		names: "hostname domainname nisdomainname ypdomainname dnsdomainname", risk: umpire.Safe,
		why: "prints the machine's name", check: checkHostname, about: aboutItself, opts: []option{
			{names: "-aAdfiIsy --alias --all-fqdns --all-ip-addresses --domain --fqdn --long --ip-address --short " +
				"--yp --nis"},
			{names: "-F= --file= -b --boot", does: harms, consequence: lost, why: "renames the machine"},
		},
	},
	// safe: lsof -i
	// asks: lsof -D b
	{names: "lsof", risk: umpire.Safe, why: "lists open files", check: checkLsof, about: "-h", opts: []option{
		{names: "-abClMnNOPRtUvVwXEKxQ"},
		{names: "-c= -d= -F? -g? -i? -L? -o? -p= -r? -s? -S? -T? -u= -z? -f? -Z? -e=", does: plain},
		{names: "-D= -k= -m= -A=", does: asks, consequence: lost, why: "writes or obeys a file"},
	}},
	// safe: fuser a
	// asks: fuser -k a
	{names: "fuser", risk: umpire.Safe, why: "lists who uses files", args: "read…", about: "-V --help", opts: []option{
		{names: "-aIlmMsuvcf46"}, {names: "-n=", does: plain},
		{names: "-kiw --kill", does: harms, consequence: lost, why: "kills who uses files"},
	}},
	// safe: top -b -n 1
	// asks: top
	{
		names: "top htop btop atop gtop glances iotop nmon", risk: umpire.Medium, consequence: reversible,
		why: "shows processes on the whole terminal, and can kill them", check: checkTop,
		about: "--help --version -h -v", opts: []option{
			{names: "-bciHSEe1k -n= -d= -p= -u= -U= -w? -o= -O= -l= -s=", does: plain},
		},
	},
	// safe: sysctl -a
	// asks: sysctl -w a=b
	{names: "sysctl", risk: umpire.Safe, why: "prints settings of the kernel", check: checkSysctl, opts: []option{
		{names: "-aAnNeqbXxh --all --values --names --ignore --quiet --binary --deprecated --dry-run"},
		{names: "-r= --pattern=", does: plain},
		{names: "-w --write", does: harms, consequence: lost, why: "changes settings of the kernel"},
		{names: "-p? -f? --load? --system", does: harms, consequence: lost, why: "changes settings of the kernel"},
	}, about: aboutItself},
	// safe: journalctl -n 5
	// asks: journalctl --vacuum-size=1M
	{names: "journalctl", risk: umpire.Safe, why: "prints logs", args: "data…", about: aboutItself, opts: []option{
		{names: "-aefFklmNqrx0123456789 --all --follow --dmesg --full --merge --quiet --reverse --catalog " +
			"--pager-end --no-pager --no-full --no-tail --no-hostname --utc --user --system --list-boots " +
			"--list-catalog --disk-usage --header --fields --verify --boot? -b? --lines? --truncate-newline",
			does: plain},
		{names: "-n? -o= --output= --output-fields= -p= --priority= -S= --since= -U= --until= -u= --unit= " +
			"--user-unit= -t= --identifier= -T= --facility= -g= --grep= --case-sensitive? -c= --cursor= " +
			"--after-cursor= --show-cursor --field= --interval= --verify-key= --namespace= -M= --machine=",
			does: plain},
		{names: "-D= --directory= -i= --file= --root= --image=", does: reads}, {names: "--cursor-file=", does: writes},
		{names: "--vacuum-size= --vacuum-time= --vacuum-files= --rotate --flush --sync --relinquish-var " +
			"--smart-relinquish-var --setup-keys --update-catalog --force --new-id128", does: harms, consequence: lost,
			why: "removes or changes logs"},
	}},
	// safe: dmesg
	// asks: dmesg -C
	{names: "dmesg", risk: umpire.Safe, why: "prints the kernel's log", args: "none", opts: []option{
		{names: "-HTLkruxwWtedPSpa0 --human --ctime --color? --kernel --raw --userspace --decode --follow " +
			"--follow-new --notime --reltime --show-delta --nopager --syslog --json -J --force-prefix --noescape",
			does: plain},
		{names: "-l= --level= -f= --facility= -s= --buffer-size= --time-format= --since= --until=", does: plain},
		{names: "-F= --file= -K= --kmsg-file=", does: reads},
		{names: "-C --clear -c --read-clear -D --console-off -E --console-on -n= --console-level=", does: harms,
			consequence: lost, why: "changes the kernel's log"},
	}, about: aboutItself},
	// safe: ss -tlnp
	// asks: ss -K
	{names: "ss", risk: umpire.Safe, why: "lists connections", args: "data…", about: aboutItself, opts: []option{
		{names: "-hVHOnraloempTiszZbEMtudwxS460BQ --no-header --oneline --numeric --resolve --all --listening " +
			"--options --extended --memory --processes --threads --info --summary --context --contexts --bpf " +
			"--events --ipv4 --ipv6 --packet --tcp --udp --sctp --dccp --raw --unix --tipc --vsock --xdp --mptcp " +
			"--tos --cgroup --inet-sockopt"},
		{names: "-f= --family= -A= --query= --socket= -N= --net=", does: plain}, {names: "-F= --filter=", does: reads},
		{names: "-D= --diag=", does: writes},
		{names: "-K --kill", does: harms, consequence: lost, why: "cuts connections"},
	}},
	// safe: netstat -an
	// asks: netstat > ../x
	{names: "netstat", risk: umpire.Safe, why: "lists connections", lax: true},
	// safe: nm a.o
	// asks: nm --plugin=./x a.o
	{
		names: "nm objdump readelf size otool dyldinfo llvm-nm llvm-objdump llvm-readelf llvm-size", risk: umpire.Safe,
		why: "reads object files", args: "read…", lax: true, check: checkObjects, opts: []option{
			{names: "--plugin=", does: obeys, why: "loads code of others"},
			{names: "--dwarf? --debug-dump? --target= -b=", does: plain},
		},
	},
	// safe: addr2line -e a.out 0x10
	// asks: addr2line @opts
	{
		names: "addr2line", risk: umpire.Safe, why: "tells the lines of addresses",
		about: "-hHvV " + aboutItself, opts: []option{
			{names: "-afpsiCr --addresses --functions --pretty-print --basenames --inlines --demangle? " +
				"--no-recurse-limit", does: plain},
			{names: "-b= --target= -j= --section=", does: plain}, {names: "-e= --exe=", does: reads},
		},
		check: checkObjects,
	},
	// safe: c++filt _Z1fv
	// asks: c++filt @opts
	{
		names: "c++filt", risk: umpire.Safe, why: "makes names readable", about: "-hv " + aboutItself, opts: []option{
			{names: "-_nipt --strip-underscore --no-strip-underscore --no-params --no-verbose --types"},
			{names: "-s= --format=", does: plain},
		},
		check: checkObjects,
	},
	// safe: dwarfdump --all a.o
	// asks: dwarfdump /root/a.o
	{
		names: "dwarfdump llvm-dwarfdump", risk: umpire.Safe, why: "reads object files", args: "read…",
		check: checkObjects, about: aboutItself, opts: []option{
			{names: "-abcfFgGiIlmoprRsSvwyx", does: asks, consequence: harmless,
				why: "means different things to different versions"},
			{names: "--debug-info? --debug-line? --debug-abbrev? --debug-frame? --eh-frame? --all --uuid -u --arch= " +
				"--verify --statistics --show-children --show-parents --name= --find= --lookup=", does: plain},
		},
	},
	// asks: strip a.o
	{
		names: "strip llvm-strip", risk: umpire.Medium, consequence: reversible, why: "changes object files",
		args: "write…", check: checkObjects, about: aboutItself, opts: []option{
			{names: "-sgSdxXDUpvwM --strip-all --strip-debug --strip-unneeded --discard-all --discard-locals " +
				"--preserve-dates --verbose --wildcard --only-keep-debug --keep-file-symbols " +
				"--enable-deterministic-archives"},
			{names: "-K= --keep-symbol= -N= --strip-symbol= -R= --remove-section= -F= --target= -I= -O=", does: plain},
			{names: "-o=", does: writes}, {names: "--plugin=", does: obeys},
		},
	},
	// asks: ldd a
	{
		names: "ldd", risk: umpire.Medium, consequence: reversible,
		why: "lists libraries, and may start the program for it", args: "read…",
		about: aboutItself, opts: []option{{names: "-vudr --verbose --unused --data-relocs --function-relocs"}},
	},
	// asks: ldconfig
	{
		names: "ldconfig", risk: umpire.High, consequence: lost, why: "changes where libraries are found", lax: true,
		check: func(u *use) {
			if len(argumentsOf(u)) == 1 && argumentsOf(u)[0].text == "-p" && argumentsOf(u)[0].known() {
				lowerToLook(u, nil)
			}
		},
	},
	// asks: logger x
	{names: "logger", risk: umpire.Medium, consequence: reversible, why: "writes to the system's log", opts: []option{
		{names: "-is -t= --tag= -p= --priority=", does: plain}, {names: "-f= --file=", does: reads},
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
	if u.got("-j") == nil {
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
