package rules

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A permission is an allow rule, or a level of autonomy. Its command names it.
type permission struct {
	rule  umpire.Suggestion
	scope string // of the rule: project or global
	root  string // the only project of the rule, or "" for the project here, or all projects
	level policy.Level
}

// commandLine returns the line that puts the permission in force.
func (p *permission) commandLine() string {
	if p.level != "" {
		return "umpire autonomy " + string(p.level)
	}
	rule := p.rule
	if p.scope == "global" {
		rule.Scope = umpire.ScopeGlobal
	}
	line := "umpire rules add " + app.RuleWords(&rule)
	if p.root != "" {
		line = "cd " + shell.Quote(p.root) + " && " + line
	}
	return line
}

// apply puts the permission in force in the settings of a project.
func (p *permission) apply(root string, c *gate.Config) {
	switch {
	case p.level != "":
		c.Settings.Autonomy = p.level.Autonomy()
	case p.root == "" || p.root == root:
		rule := p.rule.Rule()
		rule.ID, rule.Source = umpire.RuleID(policy.FormatShort(rule)), umpire.SourceProject
		if p.scope == "global" {
			rule.Source = umpire.SourceUser
		}
		c.Rules = append(c.Rules, rule)
	}
}

// program returns the program that a rule for commands names, or "" for another permission.
func (p *permission) program() string {
	program, _, _ := strings.Cut(p.rule.Match.Command+p.rule.Match.CommandPrefix, " ")
	return program
}

// mayConcern reports whether the permission could settle a question.
func (p *permission) mayConcern(d *umpire.Decision) bool {
	program := p.program()
	return program == "" || slices.ContainsFunc(d.Accesses, func(a umpire.Access) bool {
		return a.Program == program || len(a.Words) > 0 && a.Words[0] == program ||
			len(a.Line) > 0 && a.Line[0] == program
	})
}

// most returns the worst consequence of a call that the permission could allow. worst is that of the calls it settles.
func (p *permission) most(worst umpire.Consequence) umpire.Consequence {
	m, outside := p.rule.Match, filepath.IsAbs(p.rule.Match.PathGlob) || strings.HasPrefix(p.rule.Match.PathGlob, "~")
	switch {
	case p.level == policy.AutonomyHigh, m.Domain != "":
		return umpire.Outward
	case p.level != "":
		return umpire.Reversible
	case p.rule.MaxConsequence != umpire.Lost:
		return p.rule.MaxConsequence
	case m.Command != "": // it allows no other call
		return worst
	case slices.Contains([]string{"Read", "LS", "Glob", "Grep", "NotebookRead"}, p.rule.Tool):
		return umpire.Harmless
	case slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit"}, p.rule.Tool) && !outside:
		return umpire.Reversible // undo keeps the content of files in the project
	}
	return umpire.Lost
}

// listOptions returns the sets of permissions each of which settles a question: the rules that its card offers too, and
// the next level of autonomy. all says that the permissions are for all projects.
func listOptions(d *umpire.Decision, root string, all bool) [][]permission {
	var options [][]permission
	if d.RaiseTo != "" && !d.RaiseTries {
		options = append(options, []permission{{level: policy.Level(d.RaiseTo)}})
	}
	for i := 0; i < len(d.Suggestions); {
		width := d.Suggestions[i].Width
		var set []permission
		for ; i < len(d.Suggestions) && d.Suggestions[i].Width == width; i++ {
			set = append(set, permissionFor(d.Suggestions[i], root, all))
		}
		lasting := func(p permission) bool {
			scope := umpire.ScopeProject
			if p.scope == "global" {
				scope = umpire.ScopeGlobal
			}
			return policy.CheckScope(scope, d.ReasonCode, []umpire.Suggestion{p.rule}) == nil
		}
		if !slices.ContainsFunc(set, func(p permission) bool { return !lasting(p) }) {
			options = append(options, set)
		}
	}
	return options
}

// permissionFor returns the rule of a suggestion. For all projects, it is a rule for all of them unless its path
// belongs to one.
func permissionFor(s umpire.Suggestion, root string, all bool) permission {
	p := permission{rule: s, scope: "project"}
	switch ofProject := s.Match.PathGlob != "" && !strings.HasPrefix(s.Match.PathGlob, "~"); {
	case s.Scope == umpire.ScopeGlobal, all && !ofProject:
		p.scope = "global"
	case all:
		p.root = root
	}
	p.rule.Width, p.rule.Scope = umpire.WidthDefault, umpire.ScopeOnce // the same rule of another question is equal
	return p
}
