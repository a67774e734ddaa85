package gate

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// openedWith marks the grants from a session's opening rules.
const openedWith = "--allowed-tools"

// openingGrants returns grants for the allow rules of a session's opening.
func (ss *sessions) openingGrants(s *umpire.Session, short []string) ([]store.GrantRow, error) {
	var rows []store.GrantRow
	for _, text := range short {
		r, err := policy.ParseShort(text)
		if err != nil {
			return nil, invalid("allowed_tools", "%v", err)
		}
		r.Action = umpire.Allow
		if err := policy.Validate(r); err != nil {
			return nil, invalid("allowed_tools", "%s: %v", text, err)
		}
		rows = append(rows, ss.newGrant(s, umpire.ScopeSession, openedWith, umpire.Grant{
			Standing: true, Tool: r.Tool, Match: r.Match, Cap: r.Cap,
		}))
	}
	return rows, nil
}

// addOpeningGrants stores the grants of a session's opening.
func (o *outcome) addOpeningGrants(rows []store.GrantRow) {
	for i := range rows {
		o.addWrite(func(tx *store.Tx) error { return tx.Grants.Insert(rows[i]) })
		status := o.grantStatus(&rows[i])
		o.append(umpire.Event{
			Kind: umpire.EventGrantCreated, Tool: rows[i].Grant.Tool, Scope: new(rows[i].Scope), Actor: openedWith,
		}, grantDetail(&status))
	}
}
