package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// The texts of how many questions wait.
const (
	waitsText = "%d waits for an answer"
	waitText  = "%d wait for an answer"
)

// countWaiting returns the number of open questions, and of their sessions.
func countWaiting(m *model) string {
	said := m.conf.Text.Count(len(m.ask.list), waitsText, waitText)
	sessions := map[umpire.SessionID]bool{}
	for i := range m.ask.list {
		sessions[m.ask.list[i].Session] = true
	}
	switch n := len(sessions); {
	case len(m.ask.list) < 2:
		return said
	case n == 1:
		return m.textf("%s in %d session", said, n)
	default:
		return m.textf("%s in %d sessions", said, n)
	}
}

// drawInboxHead returns the first line of an inbox: the number of questions and their projects, and the gate
// with its start time. It leaves out parts that do not fit, the address first.
func drawInboxHead(m *model, waiting string) string {
	state := describeGate(m)
	if m.queue.only != "" {
		state += " · " + drawKeys("f", m.text("all projects"))
	}
	left, fits := " "+waiting, func(right string) int { return m.width - stringWidth(waiting+right) - 2 }
	if projects := listProjects(m); len(projects) > 0 {
		if more := strings.Join(projects, ", ") + " · " + state; fits(more) > 0 {
			state = more
		}
	}
	if more := state + " · " + view.Visible(m.conf.Address); m.conf.Address != "" && fits(more) > 0 {
		state = more
	}
	gap := fits(state)
	if gap < 1 {
		return boldStyle.Render(cutLine(left, m.width))
	}
	return boldStyle.Render(left) + strings.Repeat(" ", gap) + dimStyle.Render(state)
}

// describeGate says whether the gate runs, and since when.
func describeGate(m *model) string {
	gate := m.text("gate up")
	switch {
	case m.facts.problem != "":
		gate = m.text("gate down")
	case !m.conf.Serving:
		gate = m.text("no background gate")
	case !m.queue.since.IsZero():
		gate = m.textf("gate up %s", view.Age(m.conf.Now().Sub(m.queue.since)))
	}
	if m.conf.Silent {
		gate += " · " + m.text("silent")
	}
	return gate
}

// listProjects are the projects in which something waits, by the names of their folders.
func listProjects(m *model) (names []string) {
	for i := range m.ask.list {
		if name := view.Visible(nameProject(m, &m.ask.list[i])); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// nameProject is the name of a question's project.
func nameProject(m *model, p *umpire.Pending) string {
	return view.ProjectName(p.Project, m.ask.sessions[p.Session].Root)
}

// filterProject toggles between the questions of the card's project and all questions.
func filterProject(m *model) tea.Cmd {
	switch p := m.ask.current(); {
	case m.queue.only != "":
		m.queue.only = ""
	case p != nil:
		m.queue.only = p.Project
	}
	m.queue.read = false // the questions that come into sight are not new
	return m.refresh()
}

// offersTrial reports whether the current card has a separate key for a trial.
func offersTrial(a *approval) bool {
	p := a.current()
	return p != nil && p.TrialOffer != umpire.NoTrial
}

// lastHour summarizes the events of the last hour, as far as they were read.
func lastHour(m *model) string {
	counts := view.LastHour{Now: m.conf.Now()}
	for i := range m.events {
		counts.Add(&m.events[i])
	}
	return counts.Text(m.conf.Text)
}

// drawInboxStatus is the line at the bottom of the inbox.
func drawInboxStatus(m *model) []string {
	parts := []string{lastHour(m)}
	if m.facts.problem != "" {
		parts = []string{view.Joined(m.text("gate"), ": ", view.Visible(m.facts.problem))}
	}
	return []string{drawBar(parts, m.width)}
}
