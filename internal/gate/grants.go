package gate

import (
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// fileTools are the tools that an approval for the session covers whole: inside
// the project, that is; outside it covers the paths that were shown.
var fileTools = []string{"Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "LS", "Glob", "Grep", "filesystem-edit", "filesystem-edit_search"}

// commandTools are those whose approvals cover the very command and no other.
var commandTools = []string{bashTool, "GitCommit", "GitPush", "GitCheckout", "GitStatus", "GitDiff", "GitLog"}

// lastingRules are the rules that an approval for the project or for good writes:
// for a command the exact words of each part that asked, for a file tool the
// tool inside the project and the exact paths outside it, else what is suggested.
// None means that no rule can stand for the call: a control file is approved once
// at a time, what is in doubt only as it stands, and no secret goes into a file.
func (g *Gate) lastingRules(call *umpire.Call, d *umpire.Decision) []umpire.Rule {
	if d.ReasonCode == umpire.CodeControlFile || slices.ContainsFunc(d.Accesses, func(a umpire.Access) bool {
		return a.Verdict == umpire.Ask && a.Doubt != ""
	}) {
		return nil
	}
	inside := slices.Contains(fileTools, call.Tool) && d.ReasonCode == umpire.CodeMode
	if inside {
		return []umpire.Rule{{Action: umpire.Allow, Tool: call.Tool}}
	}
	rules := covering(d)
	if slices.ContainsFunc(rules, func(r umpire.Rule) bool { return !g.writable(call, r) }) {
		return nil
	}
	return rules
}

// writable reports whether a rule about a call may stand in a file: it holds no
// secret, and none that the call's command gives away elsewhere.
func (g *Gate) writable(call *umpire.Call, r umpire.Rule) bool {
	text := policy.FormatShort(r)
	if g.config.Masker != nil && r.Match.CommandPrefix != "" && g.config.Masker.Echoes([]string{text}, call.Input)[0] != text {
		return false
	}
	return g.maskText(text) == text
}

// covering takes, for each access that asks, its narrowest suggestion. Suggestions
// stand narrowest first, and there is one narrow one for each access.
func covering(d *umpire.Decision) []umpire.Rule {
	asking := map[int]bool{}
	seen := -1
	for _, r := range d.Reasons {
		if r.Access > seen {
			seen = r.Access
			if r.Verdict == umpire.Ask {
				asking[r.Access] = true
			}
		}
	}
	var rules []umpire.Rule
	for _, s := range d.Suggestions {
		if len(rules) == len(asking) {
			break
		}
		rules = append(rules, umpire.Rule{Action: s.Action, Tool: s.Tool, Match: s.Match})
	}
	return rules
}

// grantsFor are the grants that an approval makes: one for this very call, and
// with a scope of the session one that reaches further.
func (g *Gate) grantsFor(s *umpire.Session, settings *Settings, a *umpire.Answer, call *umpire.Call, d *umpire.Decision) ([]store.GrantRow, error) {
	exact := policy.Exact(*call)
	row := func(scope umpire.Scope, grant umpire.Grant) store.GrantRow {
		grant.Scope = scope
		return store.GrantRow{
			ID: newGrantID(), Scope: scope, Project: s.Project, GitDir: cloneOf(s), Session: s.ID,
			Request: a.Request, Grant: grant, Created: g.now(), By: a.Actor,
		}
	}
	once := row(umpire.ScopeOnce, umpire.Grant{Tool: call.Tool, Exact: exact})
	once.Call, once.MaxUses = call.ID, 1
	grants := []store.GrantRow{once}
	if a.Scope == umpire.ScopeSession {
		lasting, err := sessionGrants(a, call, d, exact)
		if err != nil {
			return nil, err
		}
		for _, grant := range lasting {
			grants = append(grants, row(umpire.ScopeSession, grant))
		}
	}
	if s.Mode == umpire.ModeAuto && settings.Remember > 0 && exact != "" {
		remembered := row(umpire.ScopeProject, umpire.Grant{
			Tool: call.Tool, Exact: exact, Remembered: true, ExpiresAt: g.now().Add(settings.Remember),
		})
		remembered.Session = ""
		grants = append(grants, remembered)
	}
	for i := range grants {
		kept, err := g.keepExact(grants[i].ID, grants[i].Grant.Exact)
		if err != nil {
			return nil, err
		}
		grants[i].Grant.Exact = kept
	}
	return grants, nil
}

// sessionGrants say how far an approval for the session reaches.
func sessionGrants(a *umpire.Answer, call *umpire.Call, d *umpire.Decision, exact string) ([]umpire.Grant, error) {
	if a.Rule != "" {
		r, err := policy.ParseShort(a.Rule)
		if err != nil {
			return nil, fmt.Errorf("rule: %w: %w", err, umpire.ErrInvalid)
		}
		return []umpire.Grant{{Tool: r.Tool, Match: r.Match}}, nil
	}
	if d.ReasonCode == umpire.CodeControlFile {
		return nil, fmt.Errorf("scope: a control file is approved once at a time: %w", umpire.ErrInvalid)
	}
	if slices.Contains(commandTools, call.Tool) {
		if exact == "" {
			return nil, fmt.Errorf("scope: the call can only be approved once: %w", umpire.ErrInvalid)
		}
		return []umpire.Grant{{Tool: call.Tool, Exact: exact}}, nil
	}
	if hosts := hostGrants(d); d.Type == umpire.Network && len(hosts) > 0 {
		return hosts, nil
	}
	grants := []umpire.Grant{{Tool: call.Tool}}
	if d.ReasonCode == umpire.CodeExternalDirectory || d.ReasonCode == umpire.CodeRule {
		grants = nil
	}
	for _, s := range d.Suggestions {
		if s.Match.PathGlob != "" && s.Scope == umpire.ScopeSession {
			grants = append(grants, umpire.Grant{Tool: s.Tool, Match: s.Match})
		}
	}
	return grants, nil
}

// hostGrants are for the hosts that a call reaches: who lets a page be fetched means its
// host, and not every other one.
func hostGrants(d *umpire.Decision) []umpire.Grant {
	var grants []umpire.Grant
	for _, s := range d.Suggestions {
		if s.Match.Domain != "" && s.Scope == umpire.ScopeSession {
			grants = append(grants, umpire.Grant{Tool: s.Tool, Match: s.Match})
		}
	}
	return grants
}

// fitting refuses a rule that says nothing of the call it is given for: it would let
// through what nobody was shown. To find out, it is put to the call as one that denies.
func (g *Gate) fitting(sc *scene, a *umpire.Answer, call *umpire.Call) error {
	if a.Rule == "" {
		return nil
	}
	r, err := policy.ParseShort(a.Rule)
	if err != nil {
		return fmt.Errorf("rule: %w: %w", err, umpire.ErrInvalid)
	}
	r.ID, r.Source, r.Action = "answer", umpire.SourceFlag, umpire.Deny
	tried := *sc
	tried.tighten = []umpire.Rule{r}
	d := g.decide(&tried, *call)
	speaks := func(by umpire.Reason) bool {
		return by.Verdict == umpire.Deny && by.Rule != nil && by.Rule.ID == r.ID && by.Rule.Source == r.Source
	}
	if slices.ContainsFunc(d.Reasons, speaks) {
		return nil
	}
	return invalid("rule", "%s says nothing of this call", policy.FormatShort(r))
}

// lasting returns the rules that an approval for the project or for good writes.
func (g *Gate) lasting(a *umpire.Answer, call *umpire.Call, d *umpire.Decision) ([]umpire.Rule, error) {
	if a.Scope != umpire.ScopeProject && a.Scope != umpire.ScopeGlobal {
		return nil, nil
	}
	if d.ReasonCode == umpire.CodeControlFile {
		return nil, fmt.Errorf("scope: a control file is approved once at a time: %w", umpire.ErrInvalid)
	}
	if a.Rule == "" {
		rules := g.lastingRules(call, d)
		if len(rules) == 0 {
			return nil, fmt.Errorf("scope: no rule can stand for this call; approve it once or for the session: %w", umpire.ErrInvalid)
		}
		return rules, nil
	}
	r, err := policy.ParseShort(a.Rule)
	if err != nil {
		return nil, fmt.Errorf("rule: %w: %w", err, umpire.ErrInvalid)
	}
	r.Action = umpire.Allow
	return []umpire.Rule{r}, nil
}
