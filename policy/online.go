package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// onlineWords begin command lines that are of no use without a network, and do not
// name the host that they reach. They say nothing about whether a call may run: only
// what it gets when it does.
var onlineWords = map[string]string{
	"npm":    "install i in add ci update up upgrade audit outdated view info show publish login whoami exec create init search ping pack",
	"pnpm":   "install i add update up upgrade fetch audit outdated publish dlx exec create import",
	"yarn":   "install add up upgrade audit outdated publish dlx create info",
	"bun":    "install i add update outdated publish create x",
	"npx":    "",
	"pip":    "install download search wheel index",
	"pip3":   "install download search wheel index",
	"pipx":   "install upgrade run inject",
	"uv":     "add sync lock pip tool run",
	"poetry": "add install update lock publish search",
	"gem":    "install update fetch push search",
	"bundle": "install update outdated add",
	"go":     "get install mod generate",
	"cargo":  "fetch add install update publish search build test run check",
	"mvn":    "", "gradle": "", "composer": "install require update create-project outdated",
	"git": "fetch pull push clone ls-remote submodule remote",
	"gh":  "", "ssh": "", "scp": "", "sftp": "", "rsync": "",
	"docker": "pull push login search", "apt": "", "apt-get": "", "brew": "", "dnf": "", "apk": "",
	"terraform": "init get", "helm": "pull push repo install upgrade", "dotnet": "restore add build",
}

// askingWords only ask a registry about packages.
var askingWords = []string{"view", "info", "show", "search", "outdated"}

// online reports whether a program reaches the network by itself. What is safe or low
// does without unless it only asks: it may run code of the project, and no person was
// asked about it.
func online(a *umpire.Access) bool {
	if a.Kind != umpire.KindExec || len(a.Words) == 0 {
		return false
	}
	verbs, known := onlineWords[a.Words[0]]
	if verbs == "" {
		return known && a.Risk.AtLeast(umpire.Medium)
	}
	return len(a.Words) > 1 && slices.Contains(strings.Fields(verbs), a.Words[1]) &&
		(a.Risk.AtLeast(umpire.Medium) || slices.Contains(askingWords, a.Words[1]))
}
