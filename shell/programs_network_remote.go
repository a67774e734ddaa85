package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// sshOptions are options of OpenSSH's programs that only affect the connection.
const sshOptions = "stricthostkeychecking connecttimeout batchmode user port loglevel serveraliveinterval " +
	"serveralivecountmax identitiesonly passwordauthentication pubkeyauthentication preferredauthentications " +
	"compression addressfamily connectionattempts tcpkeepalive hostname hostkeyalgorithms requesttty"

// remoteTools are the programs that work on other machines over SSH.
var remoteTools = []program{
	// safe: ssh -V
	// asks: ssh example.com ls
	{
		names: "ssh autossh mosh", risk: umpire.High, consequence: sent, why: "runs commands on another machine",
		style: leading, args: "data…", check: checkSSH, out: fromNetwork, opts: []option{
			{flags: "-4 -6 -a -C -f -G -g -K -k -M -N -n -q -s -T -t -v -X -x -Y -y -A"},
			{values: "-c -e -l -m -O -p -P -o", does: plain},
			{values: "-b -B", does: routes},
			{values: "-I", does: reads | obeys, why: "loads code"},
			{flags: "-V", does: shows}, {values: "-Q", does: shows},
			{values: "-F", does: reads | obeys, why: "obeys another configuration, which can run programs"},
			{values: "-E", does: writes}, {values: "-i", does: reads, why: "uses the key"}, {values: "-S", does: reads},
			{values: "-L -R -D -W -w -J", does: harms, consequence: sent, why: "opens a way between networks"},
		},
	},
	// asks: scp a example.com:
	{
		names: "scp", risk: umpire.High, consequence: sent, why: "copies files from or to another machine",
		check: checkSCP, opts: []option{
			{flags: "-3 -4 -6 -A -B -C -O -p -q -R -s -T -v"}, {flags: "-r", does: walks},
			{values: "-c -l -P -X -o", does: plain},
			{values: "-J -D", does: harms, consequence: sent, why: otherRoute},
			{values: "-F", does: reads | obeys, why: "obeys another configuration, which can run programs"},
			{values: "-i", does: reads, why: "uses the key"},
			{values: "-S", does: runs | harms, consequence: lost, why: "runs a program"},
		},
	},
	// asks: sftp example.com
	{
		names: "sftp", risk: umpire.High, consequence: sent, why: "copies files from or to another machine",
		style: leading, check: checkSCP, opts: []option{
			{flags: "-4 -6 -A -a -C -f -N -p -q -r -v"}, {values: "-B -c -l -P -R -s -X -o", does: plain},
			{values: "-J -D", does: harms, consequence: sent, why: otherRoute}, {values: "-b", does: reads},
			{values: "-F", does: reads | obeys, why: "obeys another configuration, which can run programs"},
			{values: "-i", does: reads, why: "uses the key"},
			{values: "-S", does: runs | harms, consequence: lost, why: "runs a program"},
		},
	},
	// safe: ssh-add -V
	// asks: ssh-add -L
	{
		names: "ssh-add ssh-copy-id ssh-agent sshd sshfs sshpass pssh pdsh", risk: umpire.High, consequence: sent,
		why: "hands out keys or opens a way to another machine", lax: true, about: "-V --version",
	},
	// safe: ssh-keyscan -v
	// asks: ssh-keyscan example.com
	{names: "ssh-keyscan", risk: umpire.Safe, why: "asks hosts for their keys", check: visitsHosts, opts: []option{
		{flags: "-4 -6 -c -D -H -q -v"}, {values: "-p -t -T -O", does: plain},
		{values: "-f", does: reads | asks, consequence: lost, why: "asks the hosts that a file names"},
	}},
	// safe: ssh-keygen -lf a.pub
	// asks: ssh-keygen -f a
	{
		names: "ssh-keygen", risk: umpire.High, consequence: lost, why: "makes or changes keys", check: checkKeygen,
		lax: true, opts: []option{
			{flags: "-l -B -L -F -y -v -q"}, {values: "-E", does: plain}, {values: "-f", does: reads},
			{values: "-D -w", does: harms, consequence: lost, why: "loads code"},
		},
	},
}

// checkSSH judges the host and the command that runs there. It also walks the command to show
// it on the card.
func checkSSH(u *use) {
	judgeSSHOptions(u)
	words := u.takeOperands()
	if len(words) == 0 {
		return
	}
	u.visit(words[0], umpire.High, "runs commands on it")
	if len(words) > 1 {
		walkRemoteShell(u, joinWithBlanks(words[1:]))
	} else if u.in.kind == flowText {
		walkRemoteShell(u, lit(u.in.text))
	}
}

// walkRemoteShell walks code that a shell on another machine runs.
func walkRemoteShell(u *use, code word) {
	walkRemotely(u, func(s *state) { u.w.walkCode(s, code, flow{kind: flowForeign}) })
}

// judgeSSHOptions judges each -o Name=value.
func judgeSSHOptions(u *use) {
	for _, g := range u.given {
		if g.name != "-o" || !g.has {
			continue
		}
		name, value, found := g.value.after("=")
		if !found {
			name, value, _ = g.value.after(" ")
		}
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case scan.HasField("proxycommand localcommand knownhostscommand", name):
			u.raise(umpire.High, "runs a program")
			u.then(func() { u.w.walkCode(u.outsideState(), value, flow{}) })
		case name == "remotecommand":
			walkRemoteShell(u, value)
		case scan.HasField("identityfile userknownhostsfile globalknownhostsfile", name):
			u.touch(umpire.KindRead, value, accessOf{})
		case !scan.HasField(sshOptions, name):
			u.spoke = g.name
			u.raise(umpire.High, umpire.Say("the setting %s of ssh is not known", name))
		}
	}
}

// checkSCP distinguishes remote operands, host:path, from local ones.
func checkSCP(u *use) {
	judgeSSHOptions(u)
	operands := u.takeOperands()
	for i, operand := range operands {
		switch {
		case isRemote(operand) || u.program.name() == "sftp":
			u.visit(operand, umpire.High, u.program.why)
		case i == len(operands)-1:
			u.touch(umpire.KindWrite, operand, accessOf{tree: u.has(walks)})
		default:
			u.touch(umpire.KindRead, operand, accessOf{tree: u.has(walks)})
		}
	}
}

// isRemote reports whether a word is host:path or a URL.
func isRemote(wd word) bool {
	host, _, found := wd.after(":")
	return found && !strings.Contains(host, "/")
}

// checkKeygen lowers the risk of ssh-keygen if it only prints.
func checkKeygen(u *use) {
	u.operands = nil
	if len(u.given) == 0 || u.spoke != "" || u.doubtful {
		return
	}
	prints := false
	for _, arg := range u.words[1:] {
		switch {
		case arg.known() && scan.HasField("-l -lf -lvf -L -Lf", arg.text):
			prints = true
		case arg.open || strings.HasPrefix(arg.text, "-") && !scan.HasField("-f -v -E -q", arg.text):
			return
		}
	}
	if prints {
		u.become(umpire.Safe, "prints the fingerprint of a key")
	}
}
