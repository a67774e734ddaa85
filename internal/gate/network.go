package gate

import (
	"context"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// If another agent's command fails in a trial for lack of network access, it has ended before a
// person answers, and only its agent can run it again. So the approval is stored: the next trial of
// exactly the same call in this session may connect to the destinations on the card, once.

// keepNetwork is the lifetime of such an approval.
const keepNetwork = 15 * time.Minute

// againText is the result of a call whose next run may use the network.
const againText = "A person lets this command reach the hosts it wanted, once: run the same command again."

// grantNetwork returns the grants for an answer about the network.
func (r *resolution) grantNetwork(g *Gate, call *umpire.Call, d *umpire.Decision) ([]store.GrantRow, error) {
	row := g.be.newGrant(&r.conditions.session, umpire.ScopeSession, r.answer.Actor, umpire.Grant{
		Tool: call.Tool, Network: true, Shown: shownDigest(call, d, readCode(d, g.be.maskText), nil),
		Reach: r.card.Trial.Effects.Wanted(), ExpiresAt: g.be.now().Add(keepNetwork),
	})
	row.Call, row.Request, row.MaxUses = call.ID, r.answer.Request, 1
	var err error
	row.Grant.Exact, err = g.be.keepExact(row.ID, policy.Exact(*call))
	return []store.GrantRow{row}, err
}

// findNetwork returns the grant that gives a call's trial network access, or nil.
func (l *pendingStart) findNetwork(ctx context.Context, g *Gate) (found *store.GrantRow, err error) {
	s, exact := &l.conditions.session, store.ShortForm(policy.Exact(l.judged.call))
	rows, err := readIn(ctx, g.be.view, func(tx *store.Tx) ([]store.GrantRow, error) {
		return tx.Grants.List(store.GrantQuery{Session: s.ID, Now: g.be.now()})
	})
	for i := range rows {
		grant := g.be.openGrant(&rows[i])
		if grant.Network && grant.Exact == exact && exact != "" && grant.Shown == l.base && rows[i].Session == s.ID {
			found = &rows[i]
		}
	}
	return found, err
}
