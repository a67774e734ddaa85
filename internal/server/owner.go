package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/process"
)

// All agents share one credential. A session that names its runner is that process's own:
// an agent sees, prompts and ends it only from this process or from one that it started,
// as the system tells. One whose runner is gone is open to be continued, and to nothing
// else. One that names no runner, or one of a machine that cannot be asked, is open to
// every agent.

// A bond is how a peer stands to a session.
type bond uint8

const (
	bondForeign bond = iota // another process runs it
	bondOrphan              // its runner is gone
	bondUnknown             // nobody can tell who runs it
	bondOwn                 // the peer runs it, or was started by who does
)

// maxFamily bounds the walk from a sub-agent's session to those above it.
const maxFamily = 16

// bondOf tells how the peer stands to the process that a session names.
func (p *peer) bondOf(name string) bond {
	host, err := os.Hostname()
	if err != nil || !p.hasOrigin() || !tellsPeers {
		return bondUnknown
	}
	itself, ok := parseRunner(name, host)
	if !ok {
		return bondUnknown
	}
	p.once.Do(p.findOrigin)
	if slices.Contains(p.origin.itself, itself) || slices.Contains(p.origin.lineage, itself) {
		return bondOwn
	}
	alive, known := process.Alive(name)
	switch {
	case !known, !alive && p.origin.elsewhere:
		return bondUnknown
	case !alive:
		return bondOrphan
	}
	return bondForeign
}

// An ownership keeps an agent from the sessions of others.
type ownership struct{ gate umpire.Gate }

// checkOwn refuses an agent a session that is not its own.
func (o ownership) checkOwn(ctx context.Context, id umpire.SessionID) error {
	return o.checkBond(ctx, id, bondUnknown)
}

// checkFree refuses an agent a session that another process runs.
func (o ownership) checkFree(ctx context.Context, id umpire.SessionID) error {
	return o.checkBond(ctx, id, bondOrphan)
}

// checkBond refuses an agent a session to which it stands less than so. What belongs to the
// agent's own session, as a sub-agent's does, is its own.
func (o ownership) checkBond(ctx context.Context, id umpire.SessionID, least bond) error {
	x := exchangeOf(ctx)
	if x.role >= rolePerson || id == "" {
		return nil
	}
	session, err := o.gate.Session(ctx, id)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil // whoever is asked next says so
	}
	if err != nil {
		return err
	}
	if x.peer.bondOf(session.Runner) >= least {
		return nil
	}
	for above, n := session.Parent, 0; above != "" && n < maxFamily; n++ {
		parent, err := o.gate.Session(ctx, above)
		if err != nil {
			return err
		}
		if x.peer.bondOf(parent.Runner) == bondOwn {
			return nil
		}
		above = parent.Parent
	}
	return forbidden(fmt.Sprintf("session_id: session %q belongs to another agent", id))
}

// asItself refuses a runner that is not the process that says so, nor one that started it.
func asItself(ctx context.Context, name string) error {
	x := exchangeOf(ctx)
	if x.role >= rolePerson || name == "" {
		return nil
	}
	switch x.peer.bondOf(name) {
	case bondForeign, bondOrphan:
		return forbidden(fmt.Sprintf("runner: %q is not the process that asks, nor one that started it", name))
	case bondUnknown, bondOwn:
	}
	return nil
}
