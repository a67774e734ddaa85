package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// terminals are the multiplexers. Their programs outlive the shell, and keys sent to them reach
// an unknown shell.
var terminals = []program{
	// safe: tmux ls
	// asks: tmux new ./x
	{
		names: "tmux", risk: umpire.Medium, consequence: lost, why: "starts a terminal that stays", style: leading,
		check: checkTmux, about: "-V", opts: []option{
			{flags: "-2 -C -D -l -N -u -v -q"}, {values: "-L -S -T"},
			{values: "-f", does: reads | obeys, why: "obeys a file of commands"}, {values: "-c", does: runs},
		},
	},
	{
		names: "screen dtach abduco zellij byobu", risk: umpire.Medium, consequence: lost,
		why: "starts a terminal that stays", style: leading, check: checkScreen, about: aboutItself, opts: []option{
			{flags: "-d -D -R -r -x -m -q -U -A -L -O -a -i -l -n -N -E -0 -v"}, {values: "-S -p -t -h -T -e -s -z"},
			{values: "-c", does: reads | obeys, why: "obeys a file of commands"},
			{flags: "-X -Q", does: asks, consequence: lost, why: "gives a command to a running terminal"},
		},
	},
}

// checkTmux judges tmux by its commands, including those after `\;`.
func checkTmux(u *use) {
	words := u.takeOperands()
	looks := len(words) > 0
	for len(words) > 0 {
		end := 0
		for end < len(words) && words[end].text != ";" {
			end++
		}
		if end > 0 {
			looks = judgeTmux(u, words[0], words[1:end]) && looks
		}
		words = words[min(end+1, len(words)):]
	}
	if looks {
		lowerToLook(u, nil)
	}
}

// judgeTmux judges one command of tmux and reports whether it only looks.
func judgeTmux(u *use, command word, args []word) bool {
	const looking = "ls list-sessions list-windows lsw list-panes lsp list-clients lsc list-keys lsk list-commands " +
		"has-session has display-message display show-options show info capture-pane capturep"
	const starting = "new new-session new-window neww split-window splitw respawn-pane respawnp respawn-window " +
		"respawnw run-shell run if-shell if pipe-pane pipep send-keys send display-popup popup"
	if !command.known() {
		u.doubt = "the command of tmux is not known before it runs"
		return false
	}
	switch {
	case showsTerminal(command, args):
		u.askSecret("prints the content of a terminal, with everything typed there")
	case scan.HasField(looking, command.text):
		for _, arg := range args {
			if arg.open && arg.split || strings.Contains(arg.text, "#(") {
				u.doubt = "a format can run a program"
				return false
			}
		}
		return true
	case scan.HasField("show-buffer showb save-buffer saveb", command.text):
		u.askSecret(printsClipboard)
	case strings.HasPrefix(command.text, "kill-"):
		u.raise(umpire.High, "ends the programs that run in terminals")
	case scan.HasField(starting, command.text):
		walkTmuxCode(u, args)
	}
	return false
}

// walkTmuxCode walks the code that tmux would start: every word may be code for a shell, and
// the words after the options may be a command.
func walkTmuxCode(u *use, args []word) {
	for i, arg := range args {
		switch {
		case arg.open:
			u.doubt = "what runs in the terminal is not known before it runs"
		case strings.ContainsAny(arg.text, " ;|&$`"):
			u.then(func() { u.w.walkCode(u.outsideState(), arg, flow{kind: flowForeign}) })
		case u.w.knownProgram(arg.text) != nil:
			u.walkRest("command", args[i:])
			return
		}
	}
}

// checkScreen judges screen -ls, which lists, and otherwise walks the command.
func checkScreen(u *use) {
	args := u.rawArguments()
	if len(args) == 1 && args[0].known() && scan.HasField("-ls -list -v --version list-sessions", args[0].text) {
		u.become(umpire.Safe, "lists terminals")
		u.operands, u.spoke = nil, ""
		return
	}
	words := u.takeOperands()
	if u.got("-X") != nil {
		for _, wd := range words {
			u.then(func() { u.w.walkCode(u.outsideState(), wd, flow{}) })
		}
	}
	for _, wd := range words {
		if strings.ContainsAny(wd.text, " ;|&") && wd.known() {
			u.then(func() { u.w.walkCode(u.outsideState(), wd, flow{}) })
		}
	}
	if len(words) > 0 && !walkSuspects(u, words) {
		u.walkRest("command", words)
	}
}
