package egress

import (
	"cmp"
	"slices"
	"sync"

	"github.com/umpirehq/umpire"
)

// maxTargets bounds the destinations that a sum tells apart.
const maxTargets = 200

// Traffic sums up the connections of a command. Its methods may be called at the same time.
type Traffic struct {
	mu      sync.Mutex
	reached []umpire.TrialReach
	refused []umpire.TrialAttempt
	listed  int // connections in reached
}

// Note adds a connection, as [Proxy.Record] does. One that was refused, or cut, counts as a refused attempt.
func (t *Traffic) Note(c Connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	target := c.Destination.String()
	if c.Destination == (Destination{}) {
		target = unknownTarget
	}
	failed := c.Reason == NoAddress || c.Reason == Unreachable || c.Reason == Idle
	attempt := umpire.TrialAttempt{Kind: umpire.AttemptNetwork, Target: target}
	switch c.Reason { //nolint:exhaustive // all others refuse the destination
	case NotFetching:
		attempt.Kind = umpire.AttemptSend
	case NoHostKey:
		attempt.Kind = umpire.AttemptHostKey
	case MisplacedSecret:
		attempt = umpire.TrialAttempt{Kind: umpire.AttemptSecret, Target: c.Misplaced}
		if target != unknownTarget {
			attempt.Target += "@" + target
		}
	}
	if c.Reason != 0 && !failed && !slices.Contains(t.refused, attempt) && len(t.refused) < maxTargets {
		t.refused = append(t.refused, attempt)
	}
	if c.How == Refused {
		return
	}
	at := slices.IndexFunc(t.reached, func(r umpire.TrialReach) bool { return r.Target == target })
	if at < 0 {
		if at = len(t.reached); at == maxTargets {
			at--
			t.reached[at].Target = unknownTarget
		} else {
			t.reached = append(t.reached, umpire.TrialReach{Target: target, By: c.Entry.Text})
		}
	}
	r := &t.reached[at]
	one := umpire.TrialConnection{At: c.Began, Sent: c.Up, Got: c.Down, Millis: c.Lasted.Milliseconds()}
	if c.Address.IsValid() {
		one.Address = c.Address.String()
	}
	if c.Reason != 0 {
		one.Problem = c.Reason.Say(c.Destination)
		r.Problem = one.Problem
	}
	r.Address = cmp.Or(r.Address, one.Address)
	r.Times++
	r.Sent, r.Got, r.Millis = r.Sent+one.Sent, r.Got+one.Got, r.Millis+one.Millis
	if t.listed < umpire.MaxConnections {
		t.listed++
		r.Each = append(r.Each, one)
	}
	for _, u := range c.Uses {
		r.Secrets = addUse(r.Secrets, u)
	}
}

// unknownTarget stands for a destination that has no name, and for those beyond maxTargets.
const unknownTarget = "?"

// Sum returns the traffic by destination, and the refused attempts.
func (t *Traffic) Sum() (reached []umpire.TrialReach, refused []umpire.TrialAttempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.reached), slices.Clone(t.refused)
}
