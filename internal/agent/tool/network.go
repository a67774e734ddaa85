package tool

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/egress"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// leadOut replaces the whole network of an allowed command by the destinations that it names, if it names them all.
// Connections to others ask. end closes the connections, and records them in u.
func (s *Set) leadOut(
	ctx context.Context, u *use, cmd *exec.Cmd, l *sandbox.Limits, out io.Writer,
) (end func(), err error) {
	end = func() {}
	if !l.Network || s.options.Leave == nil || !sandbox.Available().Whole() || hasProxy(s.options.Env) {
		return end, nil
	}
	named := s.named(u)
	if named == nil {
		return end, nil
	}
	p, err := s.options.Leave(&u.call, named)
	if p == nil || err != nil {
		return end, err
	}
	var traffic egress.Traffic
	p.Record = traffic.Note
	ctx, cancel := context.WithCancel(ctx)
	l.Network, l.Observe, l.Exit = false, true, p.Exit(ctx)
	cmd.Env = append(cmd.Env, egress.Variables("")...)
	return func() {
		cancel()
		p.Wait()
		reached, refused := traffic.Sum()
		u.reached = reached
		for _, a := range refused {
			u.refused = append(u.refused, a.Target)
		}
		if len(u.refused) > 0 {
			fmt.Fprintf(out, "\n[umpire refused to connect this command to %s]\n", strings.Join(u.refused, ", "))
		}
	}, nil
}

// named returns the destinations that a command line names, or nil if it may need others. The line is read again,
// because a decision from the gate lacks parts of the facts. If the decision knows of more than the line says, such as
// a package's script, its destinations are unknown.
func (s *Set) named(u *use) []string {
	facts, err := policy.FactsOf(u.call, shell.Env{Home: s.options.Home})
	if err != nil {
		return nil
	}
	for i := range u.decision.Accesses {
		a := &u.decision.Accesses[i]
		said := slices.ContainsFunc(facts.Accesses, func(f umpire.Access) bool {
			return f.Kind == a.Kind && f.Program == a.Program && f.Target == a.Target
		})
		if !said && (a.Kind == umpire.KindNetwork || a.Kind == umpire.KindExec) {
			return nil
		}
	}
	return egress.NamedBy(facts.Accesses, policy.GoesOnline)
}

// hasProxy reports whether commands reach the network by another proxy, which umpire can't use.
func hasProxy(env []string) bool {
	return slices.ContainsFunc(env, func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		name = strings.ToLower(name)
		return value != "" && (name == "http_proxy" || name == "https_proxy" || name == "all_proxy")
	})
}
