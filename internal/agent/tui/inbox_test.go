package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// inboxOf drives an inbox on a screen of a size. It collects the output outside the screen.
func inboxOf(t *testing.T, text *catalogue.Language, width, height int, code string) (d *drive, rang *[]string) {
	t.Helper()
	d = &drive{T: t, now: begun, gate: &fakeGate{others: []umpire.Session{
		{ID: "s1", Project: someProject, Root: "/home/me/webshop", Dir: "/home/me/webshop", Mode: umpire.ModeDefault},
		{ID: "s2", Project: "fedcba9876543210", Root: "/home/me/infra", Dir: "/home/me/infra", Mode: umpire.ModeDefault},
	}}}
	s := newInboxScreen(Config{
		Gate: d.gate, Text: text, Now: func() time.Time { return d.now }, Inbox: true, Serving: true, Address: "/home/me/.umpire/state/gate.sock", Since: func() time.Time { return begun.Add(-4 * 24 * time.Hour) }, Notify: "<notice %s>",
		Code: func(answer *umpire.Answer, p *umpire.Pending) string {
			if answer.Scope > umpire.ScopeSession || p.Risk == "high" {
				return code
			}
			return ""
		},
	})
	rang = &[]string{}
	d.m = s.model
	d.update = func(msg tea.Msg) tea.Cmd {
		if raw, is := msg.(tea.RawMsg); is {
			*rang = append(*rang, raw.Msg.(string))
			return nil
		}
		_, cmd := s.Update(msg)
		return cmd
	}
	d.m.handler = &TurnHandler{send: func(msg any) { d.tell(msg) }}
	d.m.do = func(work func(context.Context) tea.Msg) tea.Cmd {
		return func() tea.Msg { return work(t.Context()) }
	}
	d.m.still, d.m.hasty = true, true
	d.run(s.Init())
	d.tell(tea.WindowSizeMsg{Width: width, Height: height})
	return d, rang
}

// elsewhere is a question of another agent in another project.
func elsewhere() umpire.Pending {
	p := waiting(1, "Bash", map[string]any{"command": "terraform apply"})
	p.Request, p.Session, p.Project, p.Agent, p.Risk, p.Total = "r9", "s2", "fedcba9876543210", "codex", "high", 1
	p.Consequence = umpire.Outward
	return p
}

// TestInboxScreens pins the look of an inbox, with questions and without.
func TestInboxScreens(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text          *catalogue.Language
		width, height int
	}{
		"inbox_80x24": {nil, 80, 24}, "inbox_200x50": {nil, 200, 50}, "inbox_20x5": {nil, 20, 5},
		"inbox_zh_80x24": {chineseText(), 80, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := inboxOf(t, tt.text, tt.width, tt.height, "")
			d.golden(name + "_empty")
			d.ask(npm(), write(), elsewhere())
			d.golden(name)
		})
	}
}

// TestInboxAnswers: the keys of a card answer the questions of every session, each bound to the
// shown card; then the next question appears.
func TestInboxAnswers(t *testing.T) {
	t.Parallel()
	d, _ := inboxOf(t, nil, 80, 30, "")
	d.ask(npm(), write(), elsewhere())
	d.sees("3 wait for an answer in 2 sessions", "webshop, infra · gate up 4d", "▸ medium    webshop", "high      infra         codex         Bash terraform apply", "┃ $ npm install react")
	d.press("y")
	d.pass(settleTime)
	d.press("n", "not now", "enter")
	d.pass(settleTime)
	d.sees("┃ $ terraform apply")
	d.press("c")
	d.sees("nothing waits", "Allowed tool: Bash", "Denied tool: Write: not now", "Cancelled: Bash", "0 approved")
	want := []umpire.Answer{
		{Request: "r2", Version: 1, ArgsHash: "hash2", Choice: umpire.Approve},
		{Request: "r3", Version: 1, ArgsHash: "hash3", Choice: umpire.Refuse, Reason: "not now"},
		{Request: "r9", Version: 1, ArgsHash: "hash1", Choice: umpire.Cancel},
	}
	if diff := cmp.Diff(want, d.gate.answers); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
}

// TestInboxCode: an answer needs a code here if umpire approve requires one. Any other input does
// not count, and a denial needs no code.
func TestInboxCode(t *testing.T) {
	t.Parallel()
	d, _ := inboxOf(t, nil, 80, 30, "qxyz")
	d.ask(elsewhere())
	d.press("y")
	d.sees("Type qxyz and Enter")
	d.tell(tea.PasteMsg{Content: "qxyz"})
	for _, keys := range [][]string{{"enter"}, {"y", "y", "enter"}, {"y", "qxy", "enter"}, {"y", "esc"}} {
		d.press(keys...)
		if len(d.gate.answers) > 0 {
			t.Fatalf("%v answered %+v", keys, d.gate.answers)
		}
	}
	d.press("y", "qxyz", "enter")
	d.ask(npm())
	d.press("p", "enter", "y", "qxyz", "enter")
	d.ask(write())
	d.press("y")
	want := []umpire.Answer{
		{Request: "r9", Version: 1, ArgsHash: "hash1", Choice: umpire.Approve},
		{Request: "r2", Version: 1, ArgsHash: "hash2", Choice: umpire.Approve, Scope: umpire.ScopeProject, Rule: "Bash(npm install react:*)"},
		{Request: "r3", Version: 1, ArgsHash: "hash3", Choice: umpire.Approve},
	}
	if diff := cmp.Diff(want, d.gate.answers); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
}

// TestInboxWordsAnswerNothing: the inbox has no message field, and a word does not answer, even if
// its later letters are keys of the card.
func TestInboxWordsAnswerNothing(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"yes", "stop", "please", "so", "again", "can you", "现在不要", "hey", "/sessions"} {
		d, _ := inboxOf(t, nil, 80, 24, "")
		d.ask(npm())
		d.m.hasty = false
		for _, r := range word {
			d.m.Update(tea.KeyPressMsg{Code: r, Text: string(r)}) // do not wait for the hold time
			d.pass(100 * time.Millisecond)
		}
		d.run(d.m.handleReport(heldUntil(&d.m.ask)))
		d.tell(tea.PasteMsg{Content: "y"})
		d.press("enter", "tab", "enter")
		if len(d.gate.answers) > 0 || !d.m.onCard() || d.m.input.Value() != "" {
			t.Errorf("%q: answered %+v", word, d.gate.answers)
		}
	}
}

// TestInboxElsewhere: a question answered elsewhere disappears at once, and a late answer gets a notice.
func TestInboxElsewhere(t *testing.T) {
	t.Parallel()
	d, _ := inboxOf(t, nil, 80, 30, "")
	d.ask(npm(), write())
	d.gate.pending = []umpire.Pending{write()}
	d.tell(watchMsg{umpire.Event{Seq: 7, Session: "s1", Request: "r2", Kind: umpire.EventPermissionRejected, Tool: "Bash", Actor: "ann"}})
	d.sees("answered elsewhere: denied by ann: Bash npm install react", "┃ Write /p/a.txt", "1 waits for an answer")
	d.pass(settleTime)
	d.gate.refusal = &umpire.ResolvedError{Standing: umpire.Standing{Choice: umpire.Approve, Actor: "bob"}}
	d.gate.pending = nil
	d.press("y")
	d.sees("already resolved: approved (once) by bob", "nothing waits")
}

// TestInboxRings: a new question rings, and sends a desktop notice without its command. Old and
// removed questions do not ring.
func TestInboxRings(t *testing.T) {
	t.Parallel()
	d, rang := inboxOf(t, nil, 80, 24, "")
	d.ask(elsewhere())
	d.ask(elsewhere())
	d.ask()
	if diff := cmp.Diff([]string{"\a<notice 1 waits for an answer: Bash · high>"}, *rang); diff != "" {
		t.Errorf("rang (-want +got):\n%s", diff)
	}
	d.m.conf.Silent = true
	d.ask(elsewhere())
	d.ask()
	d.m.conf.Silent = false
	if len(*rang) != 1 {
		t.Errorf("rang %q though it is to be silent", *rang)
	}
	if title := (&inboxScreen{d.m}).View().WindowTitle; title != "umpire watch" {
		t.Errorf("the title is %q", title)
	}
	hostile := elsewhere()
	hostile.Request, hostile.Tool = "r10", "Ba\x1b]0;sh"
	d.ask(hostile, npm())
	if title := (&inboxScreen{d.m}).View().WindowTitle; title != "(2) umpire watch" {
		t.Errorf("the title is %q", title)
	}
	if last := (*rang)[len(*rang)-1]; strings.Count(last, "\x1b") > 0 || strings.Contains(last, ";") {
		t.Errorf("rang %q", last)
	}
}

// TestInboxScreensOver: help, the timeline and leaving do not answer questions.
func TestInboxScreensOver(t *testing.T) {
	t.Parallel()
	d, _ := inboxOf(t, nil, 80, 24, "")
	d.ask(npm())
	d.press("?")
	d.sees("next and previous question")
	d.press("y", "T")
	d.sees("PermissionAsked")
	d.press("q")
	d.sees("┃ $ npm install react")
	d.press("q")
	if !d.m.leaving || len(d.gate.answers) > 0 {
		t.Errorf("leaving is %t, answered %+v", d.m.leaving, d.gate.answers)
	}
}

// TestInboxFilter: f toggles between the project of the card and all projects. Questions that appear this
// way do not ring.
func TestInboxFilter(t *testing.T) {
	t.Parallel()
	d, rang := inboxOf(t, nil, 80, 30, "")
	d.gate.filters = true
	d.ask(npm(), write(), elsewhere())
	d.sees(" 3 wait for an answer", "webshop, infra · gate up 4d\n")
	d.press("f")
	d.sees(" 2 wait for an answer", "webshop · gate up 4d · f all projects\n")
	d.sawNot("infra")
	d.press("f")
	d.sees(" 3 wait for an answer", "webshop, infra · gate up 4d\n")
	if len(*rang) != 1 || len(d.gate.answers) > 0 { // the first time, when they came
		t.Errorf("rang %q, answered %+v", *rang, d.gate.answers)
	}
}

// TestInboxUndo: u lists the changes that can be undone in all sessions, the latest first, and Enter undoes
// one. Typing a word does not.
func TestInboxUndo(t *testing.T) {
	t.Parallel()
	d, _ := inboxOf(t, nil, 100, 24, "")
	undo := &fakeUndo{}
	d.m.conf.Undo = undo
	d.press("u")
	d.sees("nothing to undo")
	undo.all = []Undo{
		{ID: "c3", Session: "s1", At: begun, Command: "Edit a.txt", Paths: []string{"/home/me/webshop/a.txt"}},
		{ID: "c2", Session: "s2", At: begun.Add(-time.Minute), Command: "Write b.txt", Paths: []string{"/home/me/infra/b.txt"}},
	}
	d.ask(npm())
	d.press("undo", "enter")
	d.sees("Changes you can undo", "› c3", "c2", "/home/me/infra/b.txt")
	d.press("enter")
	if len(undo.taken) > 0 || len(d.gate.answers) > 0 {
		t.Fatalf("a word took back %q, answered %+v", undo.taken, d.gate.answers)
	}
	d.pass(settleTime)
	d.press("enter")
	d.sees("Took back c3", "To redo it: umpire undo u-c3", "┃ $ npm install react")
	d.press("u", "esc")
	d.sees("┃ $ npm install react")
	if len(undo.taken) != 1 {
		t.Errorf("it took back %q", undo.taken)
	}
}

// TestInboxTimelineKey: t goes to the timeline, but on a card that can be tried it tries.
func TestInboxTimelineKey(t *testing.T) {
	t.Parallel()
	d, _ := inboxOf(t, nil, 80, 40, "")
	d.ask(npm())
	d.press("t")
	d.sees("Timeline", "PermissionAsked")
	d.press("q")
	tried := offline()
	tried.Request = "r8"
	d.ask(tried)
	d.press("t")
	d.sees("it is being tried")
}

// TestInboxLastHour: the last line counts the calls of the last hour that ran unasked, were kept after a
// trial, or were denied, with the last reason.
func TestInboxLastHour(t *testing.T) {
	t.Parallel()
	d, _ := inboxOf(t, nil, 120, 24, "")
	for i, kind := range []umpire.EventKind{
		umpire.EventCallStarted, umpire.EventCallStarted, umpire.EventEffectsKept, umpire.EventPermissionRejected,
	} {
		d.tell(watchMsg{umpire.Event{
			Seq: int64(i + 1), Session: "s1", Call: umpire.CallID("c" + string(kind)), Kind: kind, At: d.now,
			Reason: "deletes files for good",
		}})
	}
	d.sees(" last hour: 2 ran unasked, 1 tried and kept, 0 approved, 1 denied (deletes files for good)\n")
}
