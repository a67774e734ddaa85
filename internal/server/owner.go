package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/process"
)

// All agents share one credential. A session with a runner belongs to that process: an
// agent can see, prompt and end it only from this process or its descendants, as the
// system reports them. A session whose runner is gone can only be continued. A session
// without a runner, or with one on a machine that cannot be queried, is open to every
// agent.

// A bond is a client's relation to a session.
type bond uint8

const (
	bondForeign bond = iota // another process runs it
	bondOrphan              // its runner is gone
	bondUnknown             // its runner cannot be determined
	bondOwn                 // the client or its ancestor runs it
)

// maxFamily limits the walk from a sub-agent's session to its ancestors.
const maxFamily = 16

// bondOf returns the client's relation to a session's named process.
func (p *peer) bondOf(name string) bond {
	if !p.hasOrigin() || !tellsPeers {
		return bondUnknown
	}
	p.once.Do(p.findOrigin)
	if hasProcess(p.origin.itself, name) || hasProcess(p.origin.lineage, name) {
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

// bondTo returns the client's bond to a session with several runners. The client owns the session
// if it belongs to one of them. Otherwise one live runner is enough to make the session foreign.
func (p *peer) bondTo(s *umpire.Session) bond {
	runners := s.AllRunners()
	found := map[bond]bool{bondUnknown: len(runners) == 0}
	for _, name := range runners {
		found[p.bondOf(name)] = true
	}
	for _, b := range []bond{bondOwn, bondForeign, bondUnknown} {
		if found[b] {
			return b
		}
	}
	return bondOrphan
}

// An ownership protects sessions from other agents.
type ownership struct{ gate umpire.Gate }

// checkOwn refuses an agent a session that is not its own.
func (o ownership) checkOwn(ctx context.Context, id umpire.SessionID) error {
	_, err := o.checkBond(ctx, id, bondUnknown)
	return err
}

// checkFree refuses an agent a session that another process runs.
func (o ownership) checkFree(ctx context.Context, id umpire.SessionID) error {
	_, err := o.checkBond(ctx, id, bondOrphan)
	return err
}

// checkHook is checkFree for a hook. It adds the agent that the hook works for to the session's runners.
func (o ownership) checkHook(ctx context.Context, gate Backend, id umpire.SessionID, runner *string) error {
	s, err := o.checkBond(ctx, id, bondOrphan)
	if err != nil || *runner != "" && s.Runner == *runner {
		return err
	}
	*runner = exchangeOf(ctx).peer.runnerOf(*runner)
	return gate.AddRunner(ctx, &s, *runner)
}

// checkBond refuses an agent a session with a bond below least. Descendants of the
// agent's own session, such as a sub-agent's, count as its own.
//
// It returns the session if it has read it.
func (o ownership) checkBond(ctx context.Context, id umpire.SessionID, least bond) (s umpire.Session, err error) {
	x := exchangeOf(ctx)
	if x.role >= rolePerson || id == "" {
		return s, nil
	}
	s, err = o.gate.Sessions().Get(ctx, id)
	if errors.Is(err, umpire.ErrNotFound) {
		return umpire.Session{}, nil // the operation itself reports the error
	}
	if err != nil || x.peer.bondTo(&s) >= least {
		return s, err
	}
	for above, n := s.Parent, 0; above != "" && n < maxFamily; n++ {
		parent, err := o.gate.Sessions().Get(ctx, above)
		if err != nil {
			return s, err
		}
		if x.peer.bondTo(&parent) == bondOwn {
			return s, nil
		}
		above = parent.Parent
	}
	return s, forbidden(fmt.Sprintf("session_id: session %q belongs to another agent", id))
}

// asItself refuses a runner other than the calling process and its ancestors.
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

// asRunner refuses a runner other than the client or the agent that it works for. Processes below a
// runner may not answer, so an agent that could name the person's shell would lock the person out.
func asRunner(ctx context.Context, name string) error {
	x := exchangeOf(ctx)
	if err := asItself(ctx, name); err != nil || x.role >= rolePerson || name == "" || x.peer.runnerOf(name) == name {
		return err
	}
	return forbidden(fmt.Sprintf("runner: %q is not the process that asks, nor the agent that it works for", name))
}

// runnerOf returns the agent that the client works for: the client itself if it claims so, or else the process that
// started it, skipping shells that only start a hook. The claim is only a fallback if the gate cannot look.
func (p *peer) runnerOf(claim string) string {
	if !p.hasOrigin() || !tellsPeers {
		return claim
	}
	p.once.Do(p.findOrigin)
	switch from := &p.origin; {
	case len(from.itself) == 0, hasProcess(from.itself, claim):
		return claim
	case len(from.itself) > 1, len(from.lineage) == 0:
		return ""
	default:
		return process.Agent(from.lineage[0].pid)
	}
}
