package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// limits returns the restrictions that a decision puts on a command. Of the paths outside the workspace
// and the guarded paths in it, it opens only those that a rule, a grant or a person allowed, and only
// for this command. In read-only mode it opens none of them.
func (s *Set) limits(u *use) sandbox.Limits {
	d := &u.decision
	l := sandbox.Limits{Mode: d.Obligations.Sandbox, Network: d.Obligations.Network, Weaker: s.options.Weaker}
	var patterns []string
	l.Git, patterns = lineFacts(u.call, s.options.Home)
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if a.Kind == umpire.KindExec && l.Network && s.options.Home != "" {
			for _, name := range shell.Credentials(a.Program) {
				l.Seen = append(l.Seen, filepath.Join(s.options.Home, name))
			}
		}
		l.Installs = l.Installs || a.Kind == umpire.KindExec && isInstall(a)
		path := a.Resolved
		if path == "" || !a.Paths() {
			continue
		}
		l.Seen = append(l.Seen, path) // writable paths are also readable
		if slices.Contains(patterns, a.Target) && wasAskedAbout(d, i, umpire.CodeSecret) {
			found, _ := filepath.Glob(path) // an invalid pattern matches nothing
			l.Seen = append(l.Seen, found...)
		}
		if a.Kind != umpire.KindRead && l.Mode == umpire.SandboxWorkspaceWrite && isLifted(d, i) &&
			(a.Place == umpire.PlaceOutside || wasAskedAbout(d, i, umpire.CodeControlFile)) {
			l.Open = append(l.Open, path)
		}
	}
	return l
}

// lineFacts returns the git subcommands that a command line runs itself, and its paths that are patterns. It
// parses the line again because a decision from the gate has neither.
func lineFacts(call umpire.Call, home string) (git, patterns []string) {
	facts, err := policy.FactsOf(call, shell.Env{Home: home})
	if err != nil {
		return nil, nil
	}
	for i := range facts.Accesses {
		a := &facts.Accesses[i]
		if a.Program == "git" && len(a.Words) > 1 {
			git = append(git, a.Words[1])
		}
		if a.Glob {
			patterns = append(patterns, a.Target)
		}
	}
	return git, patterns
}

// isLifted reports whether a rule, a grant or a standing answer allows an access. Bypass mode never
// asks, so it does not lift anything by itself: the next reason counts.
func isLifted(d *umpire.Decision, access int) bool {
	for i := range d.Reasons {
		if r := &d.Reasons[i]; r.Access == access && r.Code != umpire.CodeBypass {
			return r.Verdict == umpire.Allow
		}
	}
	return false
}

// errReadOnly refuses the tools that change files without a command in the sandbox.
var errReadOnly = errors.New("nothing was changed: this session is read-only, so running it again will not help")

// checkWrites rejects a call that changes files in read-only mode. For Bash, the sandbox does that.
func checkWrites(call *umpire.Call, d *umpire.Decision) error {
	if call.Tool == "Bash" || umpire.SandboxReadOnly.Tighter(d.Obligations.Sandbox) {
		return nil
	}
	for i := range d.Accesses {
		if a := &d.Accesses[i]; a.Changes() && (a.Paths() || a.Kind == umpire.KindExec) {
			return errReadOnly
		}
	}
	return nil
}

// NamedOutside lists the paths outside the project that a call names and that a trial of it sees:
// the allowed ones, or all of them if approved is true. Those that it writes are also in written.
func NamedOutside(d *umpire.Decision, approved bool) (seen, written []string) {
	asks := map[int]bool{}
	for i := range d.Reasons {
		r := &d.Reasons[i]
		if _, decided := asks[r.Access]; !decided {
			asks[r.Access] = r.Verdict != umpire.Allow // the first row decides
		}
	}
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if !a.Paths() || a.Resolved == "" || a.Place != umpire.PlaceOutside || asks[i] && !approved {
			continue
		}
		seen = append(seen, a.Resolved)
		if a.Kind == umpire.KindWrite {
			written = append(written, a.Resolved)
		}
	}
	return seen, written
}

// installers are the package managers that link files to a store in a home. They replace
// those files, and do not write to them.
const installers = "npm pnpm yarn bun pip pip3 uv poetry pdm"

// isInstall reports whether a command line runs a package manager to install or remove
// packages. Such a command is never safe by itself, so a person or a rule has allowed it.
func isInstall(a *umpire.Access) bool {
	return slices.Contains(strings.Fields(installers), a.Program) && a.Risk.AtLeast(umpire.High)
}

// approved tells the sandbox which guarded files a file tool's call may create while
// commands run in the background. Otherwise it would attribute them to those commands.
func (s *Set) approved(d *umpire.Decision) {
	for i := range d.Accesses {
		if a := &d.Accesses[i]; s.options.Sandbox != nil && a.Paths() && a.Resolved != "" &&
			wasAskedAbout(d, i, umpire.CodeControlFile) {
			s.options.Sandbox.Approve(a.Resolved)
		}
	}
}

// wasAskedAbout reports whether a person was asked about an access for a reason.
func wasAskedAbout(d *umpire.Decision, access int, code umpire.ReasonCode) bool {
	for _, r := range d.Reasons {
		if r.Access == access && r.Code == code {
			return true
		}
	}
	return false
}

// errNoSandbox means that a command was not started because there is no sandbox.
var errNoSandbox = errors.New("the command was not run: the decision requires a sandbox, and none is available")

// confined runs the command of a call in the sandbox with its limits. If a command may have failed
// because of the sandbox, it adds the sandbox's restrictions to the output.
func (s *Set) confined(ctx context.Context, u *use, cmd *exec.Cmd, out io.Writer) error {
	l := s.limits(u)
	if l.Mode == umpire.SandboxFullAccess {
		return runGroup(ctx, cmd, s.grace)
	}
	if s.options.Sandbox == nil {
		return errNoSandbox
	}
	cmd.Env = withoutSecrets(cmd.Env, s.options.EnvListed)
	watcher := &refusalWatcher{w: out}
	cmd.Stdout, cmd.Stderr = watcher, watcher
	closeNetwork, err := s.leadOut(ctx, u, cmd, &l, out)
	if err != nil {
		return err
	}
	defer closeNetwork()
	box, err := s.options.Sandbox.Wrap(cmd, l)
	if err != nil {
		return err
	}
	err = box.Close(runGroup(ctx, cmd, s.grace))
	for _, note := range box.Notes {
		fmt.Fprintf(out, "\n[sandbox: %s]\n", note)
	}
	if err != nil && watcher.refused {
		fmt.Fprintf(out, "\n[%s]\n", l)
		if box.Held != "" {
			fmt.Fprintf(out, "\n[sandbox: %s]\n", box.Held)
		}
	}
	return err
}

// refusals are the messages that programs print when the sandbox denies an operation,
// in lower case.
var refusals = []string{
	"read-only file system", "operation not permitted", "permission denied", "erofs", "eperm", "eacces",
	"resource busy",
	"could not resolve", "name resolution", "network is unreachable", "getaddrinfo", "no such host",
	"connection refused", "enetunreach", "econnrefused",
}

// A refusalWatcher forwards output and remembers whether it contained a refusal. It misses
// a refusal that is split over two writes, which only costs a hint.
type refusalWatcher struct {
	w       io.Writer
	refused bool
}

// Write forwards p after searching it for a refusal.
func (t *refusalWatcher) Write(p []byte) (int, error) {
	if !t.refused {
		said := strings.ToLower(string(p))
		t.refused = slices.ContainsFunc(refusals, func(text string) bool { return strings.Contains(said, text) }) ||
			// the sandbox has a private /tmp
			strings.Contains(said, "/tmp/") &&
				(strings.Contains(said, "no such file") || strings.Contains(said, "nonexistent"))
	}
	return t.w.Write(p)
}
