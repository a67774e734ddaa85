package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// networkTools are the programs that look at the network.
var networkTools = []program{
	// safe: ping --help
	// asks: ping -c 1 example.com
	{
		names: "ping ping6 fping arping", risk: umpire.Safe, why: "sends packets to a host", check: visitsHosts,
		about: aboutItself, opts: []option{
			{values: "-c -i -W -w -s -t -I -M -p -l -Q -S --count --interval --timeout", does: plain},
			{flags: "-4 -6 -a -A -b -B -C -D -d -h -L -n -O -o -q -r -R -U -v -V"},
			{flags: "-f --flood", does: harms, consequence: sent, why: "floods a host"},
		},
	},
	// safe: traceroute --version
	// asks: traceroute example.com
	{
		names: "traceroute traceroute6 tracepath", risk: umpire.Safe, why: "sends packets to the hosts on the way",
		check: visitsHosts, about: aboutItself, opts: []option{
			{flags: "-4 -6 -b -n -r -I -T -U -F -d -e -a --tcp --udp"},
			{values: "-m -q -w -p -i -f -s -N -z", does: plain},
		},
	},
	// safe: mtr --version
	// asks: mtr example.com
	{names: "mtr", risk: umpire.Safe, why: "sends packets to the hosts on the way", check: visitsHosts, opts: []option{
		{flags: "-4 -6 -b -n -r -w -e -z -a -t -j -l -c -T -u --report --report-wide --no-dns --show-ips --tcp --udp " +
			"--json --csv --raw"},
		{values: "-m -i -s --report-cycles --max-ttl --interval", does: plain},
	}, about: aboutItself},
	// safe: dig -v
	// asks: dig example.com
	{names: "dig delv kdig", risk: umpire.Safe, why: "asks a name server", style: bare, check: checkDig},
	// safe: nslookup --version
	// asks: nslookup example.com
	{names: "nslookup", risk: umpire.Safe, why: "asks a name server", style: words, check: visitsHosts, opts: []option{
		{flags: "-debug -vc -norecurse", values: "-type -query -q -t -class -port -timeout -retry", does: plain},
	}, about: aboutItself},
	// safe: host --version
	// asks: host example.com
	{names: "host dog doggo", risk: umpire.Safe, why: "asks a name server", check: visitsHosts, opts: []option{
		{flags: "-a -d -l -n -r -s -T -U -v -V -w -C -4 -6 -A"}, {values: "-c -N -R -t -W", does: plain},
	}, about: aboutItself},
	// safe: whois --version
	// asks: whois example.com
	{names: "whois", risk: umpire.Safe, why: "asks who owns a name", check: visitsHosts, opts: []option{
		{flags: "-H -I -a -r -l -Q"},
		{values: "-h --host -p --port", does: asks, consequence: sent, why: "asks another server"},
	}, about: aboutItself},
	// safe: nmap --version
	// asks: nmap example.com
	{
		names: "nmap masscan zmap hping3 nikto sqlmap hydra", risk: umpire.High, consequence: sent, why: "scans hosts",
		args: "host…", style: words, lax: true, about: "--version -V --help -h", opts: []option{
			{values: "-oN -oX -oG -oA", does: writes},
			{values: "-iL --excludefile --resume", does: reads}, {values: "-p --top-ports -e", does: plain},
			{values: "--script", does: harms, consequence: lost, why: "runs scripts"},
		},
	},
	// safe: tcpdump --version
	// asks: tcpdump -i any
	{
		names: "tcpdump tshark dumpcap wireshark ngrep", risk: umpire.High, consequence: reversible,
		why: "listens to the network", lax: true, about: "--version --help -h", opts: []option{
			{values: "-w", does: writes}, {values: "-r -F", does: reads},
			{values: "-z --postrotate-command", does: runs | harms, consequence: lost,
				why: "runs a program on what it saved"},
		},
	},
	// safe: nc --version
	// asks: nc example.com 80
	{
		names: "nc ncat netcat", risk: umpire.High, consequence: sent, why: "opens a connection", lax: true,
		check: checkNetcat, out: fromNetwork, about: "--version --help -h", opts: []option{
			{flags: "-z -v -n -4 -6 -l --listen -k --keep-open"},
			{values: "-e --exec -c --sh-exec", does: runs | harms, consequence: lost,
				why: "gives a connection to a program"},
			{values: "--lua-exec", does: reads | harms, consequence: lost, why: "runs a script"},
			{values: "-o --output -x --hex-dump", does: writes},
			{values: "-p -s -w -i -q -X -T -O -I", does: plain},
		},
	},
	// safe: socat -V
	// asks: socat - TCP:example.com:80
	{
		names: "socat", risk: umpire.High, consequence: sent, why: "connects files, programs and the network",
		lax: true, check: checkSocat, out: fromNetwork, about: "-V -h", opts: []option{
			{values: "-b -t -T -l -L -W", does: plain}, {values: "-r -R", does: writes},
		},
	},
	{
		names: "telnet ftp lftp tftp ncftp ftpget ftpput rlogin rsh rexec", risk: umpire.High, consequence: sent,
		why: "opens a connection", lax: true, check: reachesFirst, out: fromNetwork,
		about: "--version --help", opts: []option{
			{values: "-e -c", does: asks, consequence: lost, why: "runs its own commands"},
			{values: "-f", does: reads},
		},
	},
	{names: "mail mailx mutt sendmail msmtp swaks", risk: umpire.High, consequence: sent, why: "sends mail", lax: true,
		opts: []option{{values: "-a -A --attach", does: reads, why: "sends it"}}},
	{
		names: "ngrok cloudflared localtunnel bore frpc tailscale zerotier-cli wg wg-quick openvpn", risk: umpire.High,
		consequence: sent, why: "opens this machine to a network", lax: true, about: "--version --help",
	},
	{
		names: "nginx apache2 httpd caddy lighttpd darkhttpd miniserve http-server serve live-server webfsd",
		risk:  umpire.High, consequence: sent, why: "serves files or a configuration to the network", lax: true,
		about: "--version --help -v -V",
	},
}

// fromNetwork returns the output of a program that passes on data from the network.
func fromNetwork(*use, flow) flow { return flow{kind: flowRemote} }

// visit records that a host or URL is reached, as a separate access.
func (u *use) visit(target word, risk umpire.Risk, why umpire.Phrase) {
	a := umpire.Access{Kind: umpire.KindNetwork, Target: target.display(), Risk: risk, Reason: why, Table: u.table}
	if target.open && !hostKnown(target.text) {
		a.Doubt = "the host is not known before it runs"
	}
	u.then(func() { u.w.emit(a) })
}

// hostKnown reports whether the known beginning of a URL contains its whole host.
func hostKnown(url string) bool {
	_, rest, found := strings.Cut(url, "://")
	return found && strings.ContainsAny(rest, "/?#")
}

// visitsHosts treats every operand as a host that is reached. It asks, because queries to a
// name server or a host can carry data.
func visitsHosts(u *use) {
	for _, operand := range u.operands {
		u.visit(operand, umpire.Medium, u.program.why)
	}
	u.operands = nil
}

// reachesFirst treats the first operand as the host that is reached.
func reachesFirst(u *use) {
	if len(u.operands) > 0 {
		u.visit(u.operands[0], umpire.High, u.program.why)
	}
	u.operands = nil
}

// checkDig judges dig's arguments: @server, +option, -f file, names.
func checkDig(u *use) {
	words := u.takeOperands()
	if len(words) == 1 && (words[0].text == "-v" || words[0].text == "-h") {
		return
	}
	for i := 0; i < len(words); i++ {
		wd := words[i]
		switch {
		case wd.text == "-f" || wd.text == "-k":
			u.raiseTo(umpire.Medium, sent, "asks about what a file holds")
			if i+1 < len(words) {
				u.touch(umpire.KindRead, words[i+1], accessOf{})
			}
			i++
		case strings.HasPrefix(wd.text, "-f"), strings.HasPrefix(wd.text, "-k"):
			u.raiseTo(umpire.Medium, sent, "asks about what a file holds")
			u.touch(umpire.KindRead, wd.cut(len("-f")), accessOf{})
		case strings.HasPrefix(wd.text, "+"), strings.HasPrefix(wd.text, "-"):
		default:
			u.visit(wd, umpire.Medium, "asks a name server")
		}
	}
	if len(words) == 0 {
		u.raiseTo(umpire.Medium, sent, "asks a name server")
	}
}

// checkSocat judges socat's two addresses.
func checkSocat(u *use) {
	for _, operand := range u.operands {
		kind, rest, found := operand.after(":")
		if !found {
			kind = strings.ToLower(operand.text)
		}
		judgeSocatAddress(u, strings.ToLower(kind), rest, operand)
	}
	u.operands = nil
}

func judgeSocatAddress(u *use, kind string, rest, whole word) {
	address, _, cut := rest.after(",")
	target := rest
	if cut {
		target = lit(address)
	}
	switch kind {
	case "-", "stdin", "stdout", "stdio", "stderr", "pty", "fd", "readline":
	case "exec", "system", "shell":
		s := u.outsideState()
		u.then(func() { u.w.walkCode(s, target, flow{kind: flowRemote}) })
	case "open", "file", "gopen", "create", "creat", "pipe", "fifo":
		u.touch(umpire.KindRead, target, accessOf{})
		u.touch(umpire.KindWrite, target, accessOf{})
	default:
		u.visit(whole, umpire.High, "opens a connection")
	}
}
