package client

import (
	"context"

	"github.com/umpirehq/umpire"
)

type ruleRequest struct {
	Dir   string        `json:"working_dir"`
	Scope *umpire.Scope `json:"scope,omitempty"`
	Rule  *umpire.Rule  `json:"rule,omitempty"`
	ID    umpire.RuleID `json:"rule_id,omitempty"`
}

// A standingRule is a rule with its location.
type standingRule struct {
	umpire.Rule
	Source umpire.Source `json:"source"`
	File   string        `json:"file"`
	Line   int           `json:"line"`
}

// Rules lists the rules in force in the project of a folder, with their locations.
func (c *Client) Rules(ctx context.Context, dir string) ([]umpire.Rule, error) {
	type list struct {
		Rules []standingRule `json:"rules"`
	}
	out, err := call[ruleRequest, list](ctx, c, "RuleService/List", ruleRequest{Dir: dir})
	if err != nil {
		return nil, err
	}
	rules := make([]umpire.Rule, len(out.Rules))
	for i, r := range out.Rules {
		rules[i] = r.Rule
		rules[i].Source, rules[i].File, rules[i].Line = r.Source, r.File, r.Line
	}
	return rules, nil
}

// AddRule writes a rule into the file of a scope. The gate itself records the author: an actor does
// not travel.
func (c *Client) AddRule(
	ctx context.Context, dir string, scope umpire.Scope, r umpire.Rule, _ umpire.Actor,
) (umpire.RuleID, error) {
	type added struct {
		ID umpire.RuleID `json:"rule_id"`
	}
	out, err := call[ruleRequest, added](ctx, c, "RuleService/Add", ruleRequest{Dir: dir, Scope: &scope, Rule: &r})
	return out.ID, err
}

// RemoveRule removes a rule from the file of a scope.
func (c *Client) RemoveRule(
	ctx context.Context, dir string, scope umpire.Scope, id umpire.RuleID, _ umpire.Actor,
) error {
	_, err := call[ruleRequest, nothing](ctx, c, "RuleService/Remove", ruleRequest{Dir: dir, Scope: &scope, ID: id})
	return err
}

// RuleStatus returns the rule files in force in the project of a folder.
func (c *Client) RuleStatus(ctx context.Context, dir string) (umpire.RuleStatus, error) {
	return call[ruleRequest, umpire.RuleStatus](ctx, c, "RuleService/Status", ruleRequest{Dir: dir})
}

// Trust grants or revokes trust in a project's rule files or code, and returns the files concerned.
// The gate itself records the author.
func (c *Client) Trust(ctx context.Context, t umpire.TrustChange) ([]string, error) {
	type trusted struct {
		Files []string `json:"files"`
	}
	out, err := call[umpire.TrustChange, trusted](ctx, c, "RuleService/Trust", t)
	return out.Files, err
}

type grantList struct {
	Grants []umpire.GrantStatus `json:"grants"`
}

// Grants lists the grants in the project of a folder, oldest first.
func (c *Client) Grants(ctx context.Context, dir string) ([]umpire.GrantStatus, error) {
	out, err := call[ruleRequest, grantList](ctx, c, "GrantService/List", ruleRequest{Dir: dir})
	return out.Grants, err
}

// Revoke revokes grants, and returns them.
func (c *Client) Revoke(ctx context.Context, r umpire.Revocation) ([]umpire.GrantStatus, error) {
	out, err := call[umpire.Revocation, grantList](ctx, c, "GrantService/Revoke", r)
	return out.Grants, err
}
