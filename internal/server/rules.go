package server

import (
	"context"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

type ruleRequest struct {
	Dir   string        `json:"working_dir"`
	Scope umpire.Scope  `json:"scope,omitzero"`
	Rule  umpire.Rule   `json:"rule,omitzero"`
	ID    umpire.RuleID `json:"rule_id,omitempty"`
}

type grantList struct {
	Grants []umpire.GrantStatus `json:"grants"`
}

// A standingRule is a rule with its source, which the rule's own JSON, that of the rule
// file, lacks.
type standingRule struct {
	umpire.Rule
	Source umpire.Source `json:"source"`
	File   string        `json:"file,omitempty"`
	Line   int           `json:"line,omitempty"`
}

type ruleList struct {
	Rules []standingRule `json:"rules"`
}

type trusted struct {
	Files []string `json:"files"`
}

type ruleAdded struct {
	ID umpire.RuleID `json:"rule_id"`
}

// A ruleService handles the procedures about rules.
type ruleService struct{ gate umpire.Gate }

func (c *ruleService) addRoutes(r routes) {
	r.addProcedure(umpirev1.RuleServiceListProcedure, roleAgent,
		unary(maxBody, c.List, &umpirev1.RuleListRequest{}, &umpirev1.RuleListResponse{}))
	r.addProcedure(umpirev1.RuleServiceAddProcedure, rolePerson,
		unary(maxBody, c.Add, &umpirev1.RuleAddRequest{}, &umpirev1.RuleAddResponse{}))
	r.addProcedure(umpirev1.RuleServiceRemoveProcedure, rolePerson,
		unary(maxBody, c.Remove, &umpirev1.RuleRemoveRequest{}, &umpirev1.RuleRemoveResponse{}))
	r.addProcedure(umpirev1.RuleServiceStatusProcedure, roleAgent,
		unary(maxBody, c.Status, &umpirev1.RuleStatusRequest{}, &umpirev1.RuleStatus{}))
	r.addProcedure(umpirev1.RuleServiceTrustProcedure, rolePerson,
		unary(maxBody, c.Trust, &umpirev1.TrustRequest{}, &umpirev1.TrustResponse{}))
}

// A grantService handles the procedures about grants.
type grantService struct{ gate umpire.Gate }

func (c *grantService) addRoutes(r routes) {
	r.addProcedure(umpirev1.GrantServiceListProcedure, rolePerson,
		unary(maxBody, c.List, &umpirev1.GrantListRequest{}, &umpirev1.GrantList{}))
	r.addProcedure(umpirev1.GrantServiceApproveTaskProcedure, rolePerson,
		unary(maxBody, c.ApproveTask, &umpirev1.TaskApproval{}, &umpirev1.GrantList{}))
	r.addProcedure(umpirev1.GrantServiceRevokeProcedure, rolePerson,
		unary(maxBody, c.Revoke, &umpirev1.GrantRevokeRequest{}, &umpirev1.GrantList{}))
	r.addProcedure(umpirev1.GrantServiceRecordLeaseProcedure, rolePerson,
		unary(maxBody, c.RecordLease, &umpirev1.SecretLease{}, &umpirev1.RecordLeaseResponse{}))
	r.addProcedure(umpirev1.GrantServiceRecordUseProcedure, roleAgent,
		unary(maxBody, c.RecordUse, &umpirev1.SecretUses{}, &umpirev1.RecordUseResponse{}))
}

func (c *grantService) List(ctx context.Context, r ruleRequest) (grantList, error) {
	list, err := c.gate.Grants().List(ctx, r.Dir)
	return grantList{Grants: orEmpty(list)}, err
}

func (c *grantService) ApproveTask(ctx context.Context, a umpire.TaskApproval) (grantList, error) {
	list, err := signGate(ctx, c.gate).Grants().ApproveTask(ctx, a)
	return grantList{Grants: orEmpty(list)}, err
}

func (c *grantService) Revoke(ctx context.Context, r umpire.Revocation) (grantList, error) {
	list, err := signGate(ctx, c.gate).Grants().Revoke(ctx, r)
	return grantList{Grants: orEmpty(list)}, err
}

func (c *grantService) RecordLease(ctx context.Context, l umpire.SecretLease) (nothing, error) {
	return nothing{}, signGate(ctx, c.gate).Grants().RecordLease(ctx, l)
}

func (c *grantService) RecordUse(ctx context.Context, u umpire.SecretUses) (nothing, error) {
	return nothing{}, signGate(ctx, c.gate).Grants().RecordUse(ctx, u)
}

func (c *ruleService) List(ctx context.Context, r ruleRequest) (ruleList, error) {
	rules, err := c.gate.Rules().List(ctx, r.Dir)
	list := ruleList{Rules: make([]standingRule, len(rules))}
	for i, rule := range rules {
		rule.Description, rule.Says = catalogue.English.Text(rule.Reason()), ""
		list.Rules[i] = standingRule{Rule: rule, Source: rule.Source, File: rule.File, Line: rule.Line}
	}
	return list, err
}

func (c *ruleService) Add(ctx context.Context, r ruleRequest) (ruleAdded, error) {
	id, err := signGate(ctx, c.gate).Rules().Add(ctx, r.Dir, r.Scope, r.Rule, umpire.Actor{})
	return ruleAdded{ID: id}, err
}

func (c *ruleService) Remove(ctx context.Context, r ruleRequest) (nothing, error) {
	return nothing{}, signGate(ctx, c.gate).Rules().Remove(ctx, r.Dir, r.Scope, r.ID, umpire.Actor{})
}

func (c *ruleService) Status(ctx context.Context, r ruleRequest) (umpire.RuleStatus, error) {
	return c.gate.Rules().Status(ctx, r.Dir)
}

func (c *ruleService) Trust(ctx context.Context, change umpire.TrustChange) (trusted, error) {
	files, err := signGate(ctx, c.gate).Rules().Trust(ctx, change)
	return trusted{Files: orEmpty(files)}, err
}
