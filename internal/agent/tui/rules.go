package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
)

// A rulesScreen lists the rules in force in the project, and their files with their
// health. It can remove a rule from a file that umpire may write.
type rulesScreen struct {
	list    list
	rules   []umpire.Rule
	status  umpire.RuleStatus
	loaded  bool
	removes bool // the chosen rule is about to be removed
	problem string
}

// openRules lists the rules.
func openRules(m *model, _ string) tea.Cmd {
	s := &rulesScreen{}
	m.screen = s
	dir := m.session.Dir
	return m.do(func(ctx context.Context) tea.Msg { return s.load(ctx, m, dir) })
}

// load reads the rules and their files.
func (s *rulesScreen) load(ctx context.Context, m *model, dir string) tea.Msg {
	rules, err := m.conf.Gate.Rules().List(ctx, dir)
	var status umpire.RuleStatus
	if err == nil {
		status, err = m.conf.Gate.Rules().Status(ctx, dir)
	}
	return s.show(m, rules, status, err)
}

func (s *rulesScreen) show(m *model, rules []umpire.Rule, status umpire.RuleStatus, err error) tea.Msg {
	return updateMsg(func() {
		s.rules, s.status, s.loaded, s.problem = rules, status, true, ""
		if err != nil {
			s.problem = m.problem(err)
		}
	})
}

// writable are the scopes whose rules umpire writes.
var writable = map[umpire.Source]umpire.Scope{
	umpire.SourceProject: umpire.ScopeProject, umpire.SourceUser: umpire.ScopeGlobal,
}

func (s *rulesScreen) update(m *model, msg tea.Msg) tea.Cmd {
	k, isKey := msg.(tea.KeyPressMsg)
	if !isKey {
		return nil
	}
	if s.removes {
		s.removes = false
		if k.String() == "y" {
			return s.remove(m)
		}
		return nil
	}
	switch key := k.String(); {
	case leavesScreen(msg):
		return m.closeScreen()
	case key == "x" && s.list.at < len(s.rules):
		if _, can := writable[s.rules[s.list.at].Source]; can {
			s.removes = true
		} else {
			s.problem = m.text("umpire cannot edit the file of this rule")
		}
	default:
		s.problem = ""
		s.list.press(key, m.height/2, len(s.rules))
	}
	return nil
}

// remove removes the chosen rule from its file, and lists the rules again.
func (s *rulesScreen) remove(m *model) tea.Cmd {
	dir, r := m.session.Dir, s.rules[s.list.at]
	return m.do(func(ctx context.Context) tea.Msg {
		if err := m.conf.Gate.Rules().Remove(ctx, dir, writable[r.Source], r.ID, umpire.Actor{}); err != nil {
			return s.show(m, nil, umpire.RuleStatus{}, err)
		}
		return s.load(ctx, m, dir)
	})
}

func (s *rulesScreen) draw(m *model, width, height int) []string {
	s.list.title = m.text("Rules of project") + " " + m.session.Project.Short()
	s.list.set(ruleRows(s.rules, m.conf.Text))
	var foot []string
	for i := range s.status.Files {
		if line := m.fileLine(&s.status.Files[i]); line != "" {
			foot = append(foot, cutLine(line, width))
		}
	}
	foot = foot[:min(len(foot), max(0, height/3))]
	empty := m.text("no rules")
	if !s.loaded {
		empty = "…"
	}
	hint := m.text("j/k: move · x: remove · Esc: back")
	switch {
	case s.removes:
		hint = m.textf("y: remove %s · any other key: keep it", policy.FormatShort(s.rules[s.list.at]))
	case s.problem != "":
		hint = s.problem
	}
	lines := s.list.draw(empty, "", width, height-len(foot)-1)
	return append(append(lines, foot...), boldStyle.Render(oneLine(hint, width)))
}

// ruleRows are rules in a table.
func ruleRows(rules []umpire.Rule, text *catalogue.Language) []string {
	rows := make([]string, len(rules))
	for i, r := range rules {
		place := r.File
		if r.Line > 0 {
			place = fmt.Sprintf("%s:%d", r.File, r.Line)
		}
		rows[i] = drawCells(
			[]int{8, 5, 34, 12}, text.Word("source", r.Source.String()),
			text.Word("verdict", r.Action.String()), policy.FormatShort(r), string(r.ID), place,
		)
	}
	return rows
}

// fileLine is a rule file with its health, and why it is ill.
func (b *base) fileLine(f *umpire.RuleFile) string {
	if f.Rules == 0 && f.Asleep == 0 && len(f.Problems) == 0 {
		return ""
	}
	line := drawCells([]int{8, 10}, b.conf.Text.Word("source", f.Source.String()),
		b.conf.Text.Word("health", f.Health), f.Path)
	if f.Asleep > 0 {
		line += "  " + b.textf("%d inactive", f.Asleep)
	}
	if len(f.Problems) > 0 {
		p := f.Problems[0]
		line += "  " + oneLine(fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Text), 200)
	}
	return line
}

func (s *rulesScreen) readLines(m *model) ([]string, bool) {
	lines := ruleRows(s.rules, m.conf.Text)
	if len(lines) == 0 {
		lines = []string{m.text("no rules")}
	}
	for i := range s.status.Files {
		if line := m.fileLine(&s.status.Files[i]); line != "" {
			lines = append(lines, line)
		}
	}
	if s.problem != "" {
		lines = safeLines(s.problem)
	}
	return lines, s.loaded
}
