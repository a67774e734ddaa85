package server

import (
	"context"

	"github.com/umpirehq/umpire"
)

// Rules returns the keeper of the rule files.
func (c *Client) Rules() umpire.RuleKeeper { return rules{c} }

// rules are the procedures about rules.
type rules struct{ client *Client }

// List lists the rules in force in the project of a folder, with their locations.
func (c rules) List(ctx context.Context, dir string) ([]umpire.Rule, error) {
	out, err := call[ruleList](ctx, c.client, "RuleService/List", ruleRequest{Dir: dir})
	if err != nil {
		return nil, err
	}
	list := make([]umpire.Rule, len(out.Rules))
	for i, r := range out.Rules {
		list[i] = r.Rule
		list[i].Source, list[i].File, list[i].Line = r.Source, r.File, r.Line
	}
	return list, nil
}

// Add writes a rule into the file of a scope. The gate itself records the author: an actor does
// not travel.
func (c rules) Add(
	ctx context.Context, dir string, scope umpire.Scope, r umpire.Rule, _ umpire.Actor,
) (umpire.RuleID, error) {
	out, err := call[ruleAdded](ctx, c.client, "RuleService/Add", ruleRequest{Dir: dir, Scope: scope, Rule: r})
	return out.ID, err
}

// Remove removes a rule from the file of a scope.
func (c rules) Remove(
	ctx context.Context, dir string, scope umpire.Scope, id umpire.RuleID, _ umpire.Actor,
) error {
	_, err := call[nothing](ctx, c.client, "RuleService/Remove", ruleRequest{Dir: dir, Scope: scope, ID: id})
	return err
}

// Status returns the rule files in force in the project of a folder.
func (c rules) Status(ctx context.Context, dir string) (umpire.RuleStatus, error) {
	return call[umpire.RuleStatus](ctx, c.client, "RuleService/Status", ruleRequest{Dir: dir})
}

// Trust grants or revokes trust in a project's rule files or code, and returns the files concerned.
// The gate itself records the author.
func (c rules) Trust(ctx context.Context, t umpire.TrustChange) ([]string, error) {
	out, err := call[trusted](ctx, c.client, "RuleService/Trust", t)
	return out.Files, err
}

// Grants returns the keeper of the approvals that are not rules.
func (c *Client) Grants() umpire.GrantKeeper { return grants{c} }

// grants are the procedures about grants.
type grants struct{ client *Client }

// List lists the grants in the project of a folder, oldest first.
func (c grants) List(ctx context.Context, dir string) ([]umpire.GrantStatus, error) {
	out, err := call[grantList](ctx, c.client, "GrantService/List", ruleRequest{Dir: dir})
	return out.Grants, err
}

// ApproveTask approves a task for a session. The gate itself records the author.
func (c grants) ApproveTask(ctx context.Context, a umpire.TaskApproval) ([]umpire.GrantStatus, error) {
	out, err := call[grantList](ctx, c.client, "GrantService/ApproveTask", a)
	return out.Grants, err
}

// Revoke revokes grants, and returns them.
func (c grants) Revoke(ctx context.Context, r umpire.Revocation) ([]umpire.GrantStatus, error) {
	out, err := call[grantList](ctx, c.client, "GrantService/Revoke", r)
	return out.Grants, err
}

// RecordLease records that a person leased a secret, or ended the lease. The gate itself records the author.
func (c grants) RecordLease(ctx context.Context, l umpire.SecretLease) error {
	_, err := call[nothing](ctx, c.client, "GrantService/RecordLease", l)
	return err
}

// RecordUse records uses of leased secrets.
func (c grants) RecordUse(ctx context.Context, u umpire.SecretUses) error {
	_, err := call[nothing](ctx, c.client, "GrantService/RecordUse", u)
	return err
}
