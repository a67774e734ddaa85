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

// A standingRule is a rule with where it stands.
type standingRule struct {
	umpire.Rule
	Source umpire.Source `json:"source"`
	File   string        `json:"file"`
	Line   int           `json:"line"`
}

// Rules lists the rules that hold in the project of a folder, with where they
// stand.
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

// AddRule writes a rule into the file of a scope.
func (c *Client) AddRule(ctx context.Context, dir string, scope umpire.Scope, r umpire.Rule) (umpire.RuleID, error) {
	type added struct {
		ID umpire.RuleID `json:"rule_id"`
	}
	out, err := call[ruleRequest, added](ctx, c, "RuleService/Add", ruleRequest{Dir: dir, Scope: &scope, Rule: &r})
	return out.ID, err
}

// RemoveRule takes a rule out of the file of a scope.
func (c *Client) RemoveRule(ctx context.Context, dir string, scope umpire.Scope, id umpire.RuleID) error {
	_, err := call[ruleRequest, nothing](ctx, c, "RuleService/Remove", ruleRequest{Dir: dir, Scope: &scope, ID: id})
	return err
}

// RuleStatus says which rule files hold in the project of a folder.
func (c *Client) RuleStatus(ctx context.Context, dir string) (umpire.RuleStatus, error) {
	return call[ruleRequest, umpire.RuleStatus](ctx, c, "RuleService/Status", ruleRequest{Dir: dir})
}

// Trust lets the allow rules of the project's files hold, as they are now.
func (c *Client) Trust(ctx context.Context, dir string) error {
	_, err := call[ruleRequest, nothing](ctx, c, "RuleService/Trust", ruleRequest{Dir: dir})
	return err
}
