package tui

import (
	"context"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// An agentsScreen shows the agents of the configuration, the main one first, each with a
// field in which the suffixes are written that its edit tools may change.
type agentsScreen struct {
	agents []agentRow
	at     int
	loaded bool
	saving bool   // a change is on its way
	note   string // the result of the last change
	loud   bool   // it is a warning
}

// An agentRow is one agent with its field.
type agentRow struct {
	profile Profile
	field   textinput.Model
}

// load reads the agents.
func (s *agentsScreen) load(m *model) tea.Cmd {
	return m.do(func(context.Context) tea.Msg {
		profiles, err := m.conf.Host.Profiles()
		return updateMsg(func() {
			s.loaded, s.agents = true, nil
			if err != nil {
				s.note, s.loud = m.problem(err), true
			}
			for _, p := range profiles {
				s.agents = append(s.agents, agentRow{p, suffixField(&p)})
			}
			s.focus(0)
		})
	})
}

// suffixField returns the input field of an agent, filled with its current suffixes.
func suffixField(p *Profile) textinput.Model {
	field := newField(strings.Join(p.Suffixes, ", "))
	field.Blur()
	return field
}

// focus moves the focus to another agent's field.
func (s *agentsScreen) focus(by int) {
	for i := range s.agents {
		s.agents[i].field.Blur()
	}
	if n := len(s.agents); n > 0 {
		s.at = (s.at + by + n) % n
		s.agents[s.at].field.Focus()
	}
}

func (s *agentsScreen) update(m *model, msg tea.Msg) tea.Cmd {
	if k, isKey := msg.(tea.KeyPressMsg); isKey {
		switch k.String() {
		case "esc":
			return m.closeScreen()
		case "tab", "down":
			s.focus(1)
			return nil
		case "shift+tab", "up":
			s.focus(-1)
			return nil
		case "enter":
			return s.save(m)
		}
	}
	if s.at >= len(s.agents) {
		return nil
	}
	var cmd tea.Cmd
	row := &s.agents[s.at]
	row.field, cmd = row.field.Update(msg)
	return cmd
}

// save stores the field that has the focus, normalised.
func (s *agentsScreen) save(m *model) tea.Cmd {
	if s.at >= len(s.agents) {
		return nil
	}
	return s.saveLimit(m, s.agents[s.at].profile.Name, s.agents[s.at].field.Value())
}

// saveLimit stores the typed suffixes, and makes the gate reload the configuration.
func (s *agentsScreen) saveLimit(m *model, name, typed string) tea.Cmd {
	dir := m.session.Dir
	return m.do(func(ctx context.Context) tea.Msg {
		profile, err := m.conf.Host.LimitEdits(name, policy.SplitSuffixes(typed))
		if err == nil {
			_, err = m.conf.Gate.Rules().Status(ctx, dir)
		}
		return updateMsg(func() { s.showLimit(m, typed, &profile, err) })
	})
}

// showLimit shows the stored suffixes, which may differ from the typed ones.
func (s *agentsScreen) showLimit(m *model, typed string, profile *Profile, err error) {
	s.saving = false
	if err != nil {
		s.note, s.loud = m.problem(err), true
		return
	}
	for i := range s.agents {
		row := &s.agents[i]
		if row.profile.Name != profile.Name {
			continue
		}
		row.profile = *profile
		row.field.SetValue(strings.Join(profile.Suffixes, ", "))
		row.field.CursorEnd()
	}
	s.note, s.loud = m.limitNote(typed, profile)
}

// limitNote describes the effect of a saved field. loud means that it differs from what the person might expect.
func (b *base) limitNote(typed string, p *Profile) (note string, loud bool) {
	switch wanted := policy.SplitSuffixes(typed); {
	case len(p.Suffixes) == 0 && strings.TrimSpace(typed) != "":
		return b.textf("nothing in %q is a suffix: %s is unrestricted", typed, p.Name), true
	case len(p.Suffixes) == 0:
		return b.textf("saved: %s is unrestricted", p.Name), false
	case strings.Join(wanted, " ") != strings.Join(p.Suffixes, " "):
		return b.textf("saved; the project's configuration narrows it to %s", strings.Join(p.Suffixes, " ")), true
	case slices.ContainsFunc(p.Suffixes, policy.FitsNoFile):
		useless := slices.DeleteFunc(slices.Clone(p.Suffixes), func(s string) bool { return !policy.FitsNoFile(s) })
		return b.textf(
			"saved, but no file has such a suffix: %s; a suffix begins at the last dot", strings.Join(useless, " "),
		), true
	}
	return b.textf("saved: %s may edit %s", p.Name, strings.Join(p.Suffixes, " ")), false
}

func (s *agentsScreen) draw(m *model, width, height int) []string {
	lines := []string{boldStyle.Render(cutLine(m.text("Agents"), width)), ""}
	for i := range s.agents {
		lines = append(lines, s.row(m, i, width)...)
	}
	if !s.loaded {
		lines = append(lines, "…")
	}
	lines = append(lines, paintLines(dimStyle, foldLines([]string{
		m.text("Suffixes limit filesystem-edit and filesystem-edit_search only; other tools are judged by rules. " +
			"Separate them with commas. Empty: unrestricted."),
	}, width))...)
	if s.note != "" {
		style := okStyle
		if s.loud {
			style = badStyle
		}
		lines = append(append(lines, ""), paintLines(style, foldLines(safeLines(s.note), width))...)
	}
	return append(
		fillHeight(lines, height-1),
		dimStyle.Render(cutLine(m.text("Tab: next agent · Enter: save · Esc: back"), width)),
	)
}

// row draws one agent.
func (s *agentsScreen) row(m *model, i, width int) []string {
	row, mark := &s.agents[i], "  "
	if i == s.at {
		mark = "› "
	}
	tools := m.text("all tools")
	if row.profile.Tools != nil {
		tools = strings.Join(row.profile.Tools, " ")
	}
	name := view.Joined("  "+m.text("may edit"), ": ", "")
	row.field.SetWidth(max(10, width-stringWidth(name)-2))
	limit := m.text("unrestricted")
	if len(row.profile.Suffixes) > 0 {
		limit = strings.Join(row.profile.Suffixes, " ")
	}
	return []string{
		boldStyle.Render(cutLine(mark+view.Visible(row.profile.Name), width)) +
			dimStyle.Render(oneLine("  "+tools, width-20)),
		cutLine(name+fieldView(&row.field, m.text("empty: unrestricted")), width),
		dimStyle.Render(cutLine(view.Joined("  "+m.text("in force"), ": ", view.Visible(limit)), width)),
		"",
	}
}

// readLines lists the agents with their current limits.
func (s *agentsScreen) readLines(m *model) ([]string, bool) {
	var lines []string
	for i := range s.agents {
		limit := m.text("unrestricted")
		if p := &s.agents[i].profile; len(p.Suffixes) > 0 {
			limit = strings.Join(p.Suffixes, " ")
		}
		lines = append(lines, view.Visible(view.Joined(s.agents[i].profile.Name, ": ", m.text("may edit")+" "+limit)))
	}
	if s.note != "" {
		lines = append(lines, safeLines(s.note)...)
	}
	return append(lines, m.text("/agents NAME SUFFIXES changes it; empty: unrestricted")), s.loaded && !s.saving
}

// limitEdits is /agents: it shows the agents. The words are an agent, and the suffixes that it may edit.
func limitEdits(m *model, words string) tea.Cmd {
	s := &agentsScreen{saving: words != ""}
	m.screen = s
	load := s.load(m)
	if words == "" {
		return load
	}
	name, suffixes, _ := strings.Cut(words, " ")
	save := s.saveLimit(m, name, suffixes)
	return func() tea.Msg {
		loaded, saved := load(), save()
		return updateMsg(func() {
			m.handleReport(loaded)
			m.handleReport(saved)
		})
	}
}
