package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// onlineWords begin command lines that are useless without a network but do not name the host
// that they reach. They do not affect whether a call may run, only whether it gets the network.
var onlineWords = map[string]string{
	"npm": "install i in add ci update up upgrade audit outdated view info show publish login whoami exec create " +
		"init search ping pack",
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

// needsNetwork reports whether a call gets the network: it reaches a host, or starts a program
// that contacts one. A program of safe or low risk gets none unless it only looks something up
// at a server that the project cannot choose, or a person is asked about its use of the
// network. A look-up gets none if project code runs beside it.
func needsNetwork(accesses []umpire.Access) bool {
	looksUp, code := false, false
	for i := range accesses {
		a := &accesses[i]
		if a.Kind == umpire.KindNetwork || a.Kind == umpire.KindExec && GoesOnline(a) {
			return true
		}
		looksUp, code = looksUp || a.Online, code || a.Code
	}
	return looksUp && !code
}

// GoesOnline reports whether a program goes online and a person is asked about it.
func GoesOnline(a *umpire.Access) bool {
	if len(a.Words) == 0 || !a.Risk.AtLeast(umpire.Medium) && a.Asks == "" {
		return false
	}
	verbs, known := onlineWords[a.Words[0]]
	return known && (verbs == "" || len(a.Words) > 1 && slices.Contains(strings.Fields(verbs), a.Words[1]))
}

// fetches reports whether a program finds what it needs at the servers that a trial leads to.
func (s *Settings) fetches(a *umpire.Access) bool {
	return a.Kind == umpire.KindExec && s.Autonomy.Network != umpire.NetworkAsk &&
		slices.Contains(s.Fetchers, a.Program)
}

// worksOffline reports whether a program may succeed in a trial without a network: it contacts a server only
// for files that this machine lacks, its remote is a folder, or it is project code and gets no network anyway.
func worksOffline(a umpire.Access) bool {
	pulls := []string{"fetch", "pull", "submodule"}
	return len(a.Words) > 1 && a.Words[0] == "git" && slices.Contains(pulls, a.Words[1]) ||
		a.Reason.Is(shell.RunsCodeOf) ||
		len(a.Words) > 1 && a.Words[0] == "go" && (a.Words[1] == "generate" ||
			len(a.Words) > 2 && a.Words[1] == "mod" && slices.Contains([]string{"tidy", "vendor"}, a.Words[2]))
}
