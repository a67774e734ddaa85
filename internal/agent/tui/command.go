package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/files/lazyregexp"
	"github.com/umpirehq/umpire/internal/view"
)

// A slash is one command of the conversation.
type slash struct {
	name, words string
	about       string
	run         func(m *model, words string) tea.Cmd
}

// listCommands returns the commands, in the order of the help. It is a function because help is one
// of them.
func listCommands() []slash {
	return []slash{
		{"status", "", "show the status", showStatus},
		{"mode", "[MODE]", "show or change the mode: default, auto, ask, reject, plan, bypass", changeMode},
		{
			"plan", "", "switch to plan mode: only reads run",
			func(m *model, _ string) tea.Cmd { return m.setMode(umpire.ModePlan) },
		},
		{"exit-plan", "", "leave plan mode, and allow the planned changes", exitPlan},
		{"timeline", "", "show the questions, decisions and calls", openTimeline},
		{"undo", "[ID]", "undo the changes of this session's last call, or of another", undoCall},
		{"sessions", "", "list the sessions of this project", openSessions},
		{"resume", "[ID]", "resume another session of this project", resumeSession},
		{"fork", "[ID]", "start a session with a copy of this conversation, without its grants", forkSession},
		{"task", "", "approve a task once, in place of each of its calls", openTask},
		{"suggest", "", "list the rules that would have saved the most questions", listSuggestions},
		{"rules", "", "list the rules and their files", openRules},
		{"agents", "", "show the agents, and which files their edit tools may change", limitEdits},
		{"help", "", "show commands and keys", func(m *model, _ string) tea.Cmd { return m.openScreen(&helpScreen{}) }},
		{"quit", "", "quit; waiting calls keep waiting", func(m *model, _ string) tea.Cmd { return m.quit() }},
	}
}

// commandForm matches a word that is meant as a command; a path does not match.
var commandForm = lazyregexp.Regexp{Text: `^/([a-zA-Z-]+)(?:\s+(.*))?$`}

// asCommand reads a message as a command.
func asCommand(text string) (name, words string, is bool) {
	found := commandForm.Get().FindStringSubmatch(text)
	if found == nil {
		return "", "", false
	}
	return found[1], strings.TrimSpace(found[2]), true
}

// command runs a command.
func (m *model) command(name, words string) tea.Cmd {
	var names []string
	for _, s := range listCommands() {
		if s.name == name {
			return s.run(m, words)
		}
		names = append(names, s.name)
	}
	problem := m.textf("unknown command /%s; /help lists all commands", name)
	if near := docedit.Nearest(name, names); near != "" {
		problem = m.textf("unknown command /%s; did you mean /%s?", name, near)
	}
	m.log.say(warningEntry, problem)
	return nil
}

// listSuggestions lists the suggestions of the last month.
func listSuggestions(m *model, _ string) tea.Cmd {
	if m.conf.Suggest == nil {
		m.log.say(noteEntry, m.text("see umpire suggest"))
		return nil
	}
	root, since := m.session.Root, m.conf.Now().AddDate(0, -1, 0)
	return m.do(func(ctx context.Context) tea.Msg {
		list, err := m.conf.Suggest(ctx, root, since)
		return noteMsg{text: strings.TrimSpace(list), err: err}
	})
}

// openScreen puts a screen in front of the conversation.
func (m *model) openScreen(s screen) tea.Cmd {
	m.screen = s
	return nil
}

// closeScreen goes back to the conversation.
func (m *model) closeScreen() tea.Cmd {
	m.screen = nil
	return nil
}

// changeMode changes the session's mode, or shows the current one.
func changeMode(m *model, words string) tea.Cmd {
	if words == "" {
		m.log.say(noteEntry, m.text("mode")+" "+m.session.Mode.String())
		return nil
	}
	var mode umpire.Mode
	if err := mode.UnmarshalText([]byte(words)); err != nil {
		m.log.say(warningEntry, m.problem(err))
		return nil
	}
	return m.setMode(mode)
}

// exitPlan returns to the previous mode, with permission to carry out the plan. The
// gate knows both.
func exitPlan(m *model, _ string) tea.Cmd {
	if m.session.Mode != umpire.ModePlan {
		m.log.say(noteEntry, m.text("the session is not in plan mode"))
		return nil
	}
	return m.changeModeTo(umpire.ModeChange{Session: m.session.ID, LeavePlan: true})
}

func (b *base) setMode(mode umpire.Mode) tea.Cmd {
	return b.changeModeTo(umpire.ModeChange{Session: b.session.ID, Mode: &mode})
}

func (b *base) changeModeTo(change umpire.ModeChange) tea.Cmd {
	return b.do(func(ctx context.Context) tea.Msg {
		s, err := b.conf.Gate.Sessions().SetMode(ctx, change)
		if err != nil {
			return noteMsg{err: err}
		}
		return updateMsg(func() {
			if s.ID == b.session.ID {
				b.session.Mode = s.Mode
				b.log.say(noteEntry, b.text("mode")+" "+s.Mode.String())
			}
		})
	})
}

// showStatus writes the status to the transcript.
func showStatus(m *model, _ string) tea.Cmd {
	for _, line := range statusText(m) {
		m.log.say(noteEntry, line)
	}
	return m.refresh()
}

// statusText returns the status line and the facts that do not fit on it, one per line.
func statusText(m *model) []string {
	s := &m.session
	lines := []string{m.text("permission") + " " + m.conf.Text.Word("state", string(m.facts.state))}
	if m.facts.kind != "" {
		lines[0] = view.Bracketed(
			lines[0], view.Joined(m.conf.Text.Word("type", string(m.facts.kind)), ", ", m.text("risk "+m.facts.risk)),
		)
	}
	if b := m.facts.blocked; b != nil {
		lines = append(lines, m.text("blocked")+" "+m.blockedText(b))
	}
	return append(lines,
		m.text("project")+" "+s.Project.Short()+"  "+s.Root, m.text("session")+" "+string(s.ID)+"  "+s.Dir,
		m.text("mode")+" "+s.Mode.String(), m.text("model")+" "+m.conf.Model)
}
