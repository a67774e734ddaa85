package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/sandbox"
)

// limits are what a decision obliges a command to. What was allowed although it lies
// outside of the workspace, or is guarded in it, is opened for just this command: a
// person or a rule has said so.
func (s *Set) limits(d *umpire.Decision) sandbox.Limits {
	l := sandbox.Limits{Mode: d.Obligations.Sandbox, Network: d.Obligations.Network, Weaker: s.options.Weaker}
	for i := range d.Accesses {
		a := &d.Accesses[i]
		path := a.Resolved
		if path == "" || !a.Paths() {
			continue
		}
		switch {
		case a.Kind == umpire.KindRead:
			l.Seen = append(l.Seen, path)
		case a.Place == umpire.PlaceOutside || wasGuarded(d, i):
			l.Open = append(l.Open, path)
		}
	}
	return l
}

// wasGuarded reports whether an access is to a control file.
func wasGuarded(d *umpire.Decision, access int) bool {
	for _, r := range d.Reasons {
		if r.Access == access && r.Code == umpire.CodeControlFile {
			return true
		}
	}
	return false
}

// errNoSandbox says that a command was not started, since nothing would hold it.
var errNoSandbox = errors.New("the command was not run: the decision wants a sandbox, and there is none here")

// confined runs a command in the sandbox that its limits ask for. A command that
// fails gets told what the sandbox keeps it from, if that may be why.
func (s *Set) confined(ctx context.Context, cmd *exec.Cmd, l sandbox.Limits, out io.Writer) error {
	if l.Mode == umpire.SandboxFullAccess {
		return s.runGroup(ctx, cmd)
	}
	if s.options.Sandbox == nil {
		return errNoSandbox
	}
	told := &teller{w: out}
	cmd.Stdout, cmd.Stderr = told, told
	box, err := s.options.Sandbox.Wrap(cmd, l)
	if err != nil {
		return err
	}
	err = box.Close(s.runGroup(ctx, cmd))
	for _, note := range box.Notes {
		fmt.Fprintf(out, "\n[sandbox: %s]\n", note)
	}
	if err != nil && told.refused {
		fmt.Fprintf(out, "\n[%s]\n", l)
	}
	return err
}

// refusals are what programs print when the sandbox refuses them something, in small
// letters.
var refusals = []string{
	"read-only file system", "operation not permitted", "permission denied", "erofs", "eperm", "eacces", "resource busy",
	"could not resolve", "name resolution", "network is unreachable", "getaddrinfo", "no such host", "connection refused", "enetunreach", "econnrefused",
}

// A teller passes on what is written, and remembers whether a refusal was in it. One
// that is cut in two by two writes is missed, which costs a hint and no more.
type teller struct {
	w       io.Writer
	refused bool
}

// Write passes it on.
func (t *teller) Write(p []byte) (int, error) {
	if !t.refused {
		said := strings.ToLower(string(p))
		t.refused = slices.ContainsFunc(refusals, func(text string) bool { return strings.Contains(said, text) }) ||
			strings.Contains(said, "/tmp/") && (strings.Contains(said, "no such file") || strings.Contains(said, "nonexistent")) // it has a /tmp of its own
	}
	return t.w.Write(p)
}
