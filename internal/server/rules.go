package server

import (
	"context"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
	"github.com/umpirehq/umpire/internal/api/umpire/v1/umpirev1connect"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

type ruleRequest struct {
	Dir   string        `json:"working_dir"`
	Scope umpire.Scope  `json:"scope"`
	Rule  umpire.Rule   `json:"rule"`
	ID    umpire.RuleID `json:"rule_id"`
}

// A standingRule is a rule with where it stands, which its own JSON, that of the
// rule file, does not say.
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

func (s *Server) routeRules() {
	add(s, umpirev1connect.RuleServiceListProcedure, roleAgent, unary[umpirev1.RuleListRequest, umpirev1.RuleListResponse](maxBody, s.rules))
	add(s, umpirev1connect.RuleServiceAddProcedure, rolePerson, unary[umpirev1.RuleAddRequest, umpirev1.RuleAddResponse](maxBody, s.addRule))
	add(s, umpirev1connect.RuleServiceRemoveProcedure, rolePerson, unary[umpirev1.RuleRemoveRequest, umpirev1.RuleRemoveResponse](maxBody, s.removeRule))
	add(s, umpirev1connect.RuleServiceStatusProcedure, roleAgent, unary[umpirev1.RuleStatusRequest, umpirev1.RuleStatus](maxBody, s.ruleStatus))
	add(s, umpirev1connect.RuleServiceTrustProcedure, rolePerson, unary[umpirev1.TrustRequest, umpirev1.TrustResponse](maxBody, s.trust))
}

type grantList struct {
	Grants []umpire.GrantStatus `json:"grants"`
}

func (s *Server) routeGrants() {
	add(s, umpirev1connect.GrantServiceListProcedure, rolePerson, unary[umpirev1.GrantListRequest, umpirev1.GrantList](maxBody, s.grants))
	add(s, umpirev1connect.GrantServiceRevokeProcedure, rolePerson, unary[umpirev1.GrantRevokeRequest, umpirev1.GrantList](maxBody, s.revoke))
}

func (s *Server) grants(ctx context.Context, r ruleRequest) (grantList, error) {
	list, err := s.gate.Grants(ctx, r.Dir)
	return grantList{Grants: orEmpty(list)}, err
}

func (s *Server) revoke(ctx context.Context, r umpire.Revocation) (grantList, error) {
	list, err := s.signed(ctx).Revoke(ctx, r)
	return grantList{Grants: orEmpty(list)}, err
}

func (s *Server) rules(ctx context.Context, r ruleRequest) (ruleList, error) {
	rules, err := s.gate.Rules(ctx, r.Dir)
	list := ruleList{Rules: make([]standingRule, len(rules))}
	for i, rule := range rules {
		rule.Description, rule.Says = catalogue.English.Text(rule.Reason()), ""
		list.Rules[i] = standingRule{Rule: rule, Source: rule.Source, File: rule.File, Line: rule.Line}
	}
	return list, err
}

func (s *Server) addRule(ctx context.Context, r ruleRequest) (ruleAdded, error) {
	id, err := s.signed(ctx).AddRule(ctx, r.Dir, r.Scope, r.Rule, umpire.Actor{})
	return ruleAdded{ID: id}, err
}

func (s *Server) removeRule(ctx context.Context, r ruleRequest) (nothing, error) {
	return nothing{}, s.signed(ctx).RemoveRule(ctx, r.Dir, r.Scope, r.ID, umpire.Actor{})
}

func (s *Server) ruleStatus(ctx context.Context, r ruleRequest) (umpire.RuleStatus, error) {
	return s.gate.RuleStatus(ctx, r.Dir)
}

func (s *Server) trust(ctx context.Context, c umpire.TrustChange) (trusted, error) {
	files, err := s.signed(ctx).Trust(ctx, c)
	return trusted{Files: orEmpty(files)}, err
}
