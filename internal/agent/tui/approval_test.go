package tui

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestCardScreens pins the look of a question: C-34 to C-37 and M-124 to M-126 in 简体中文.
func TestCardScreens(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text          *catalogue.Language
		width, height int
	}{
		"card_80x24": {nil, 80, 24}, "card_200x50": {nil, 200, 50},
		"card_zh_80x24": {chineseText(), 80, 24}, "card_zh_200x50": {chineseText(), 200, 50},
		"card_20x5": {nil, 20, 5}, "card_zh_20x5": {chineseText(), 20, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := driven(t, tt.text, tt.width, tt.height)
			d.m.log.say(userEntry, "install react")
			d.ask(npm(), write())
			d.golden(name)
			d.press("n")
			d.golden(name + "_deny")
		})
	}
	d := driven(t, chineseText(), 80, 24)
	d.ask(npm())
	d.sees("⚠️ 权限请求", "Bash 工具请求执行:", "$ npm install react", "此命令将执行 shell 操作", // C-34, C-37
		"允许一次", "始终允许", "拒绝", "取消") // C-35
	d.press("a")
	d.sees("允许 ▾ / 拒绝", "允许本次", "允许本次对话", "允许此项目", "允许全局") // M-124 to M-126
	d.press("esc", "n")
	d.sees("拒绝原因（可选）", "回车：确认拒绝") // M-127
}

// TestCardIsShort: at 80 columns the card of an ordinary command has eight lines, including the
// agent's claimed purpose and the next call. The first line has all that most people need.
func TestCardIsShort(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	p := waiting(2, "Bash", map[string]any{"command": "npm install react", "description": "Install react"})
	p.ExpiresAt = begun.Add(10 * time.Minute)
	d.ask(p)
	lines := d.m.ask.cardLines(80)
	end := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "Install react") }) + 1
	if end < 1 || end > 8 {
		t.Errorf("the card has %d lines:\n%s", end, strings.Join(lines, "\n"))
	}
	d.sees("┃ downloads a package and runs its code\n┃ $ npm install react\n┃ Bash asks to run:  2 of 5, expires in 10m\n",
		"\n┃ the agent claims: “Install react”\n")
}

// TestLowScreen: on 20 columns and 5 rows, no key approves before the asking part was on the screen.
func TestLowScreen(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 20, 5)
	d.ask(npm())
	d.sees("┃ downloads a\n", "PgDn ↓ · n deny")
	d.press("y", "s", "Y", "y")
	if len(d.gate.answers) > 0 {
		t.Fatalf("answered %+v", d.gate.answers)
	}
	for range 60 {
		d.press("pgdown")
	}
	d.sees("y allow · n deny")
	d.press("y")
	if len(d.gate.answers) != 1 {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// tried returns a question about a trial's effects, and offline one about a trial that needed the network.
func tried() umpire.Pending {
	p := waiting(2, "Bash", map[string]any{"command": "./scripts/migrate.sh --apply && npm test"})
	p.Accesses = nil
	p.Trial = &umpire.Trial{ID: "t1", Round: 1, State: umpire.TrialWaiting, Effects: umpire.TrialEffects{Whole: true, Digest: "d"}}
	for kind, path := range map[umpire.EffectKind]string{
		umpire.EffectDeleted: "/p/db/backup/2026-11.sql", umpire.EffectChanged: "/p/db/schema.sql",
		umpire.EffectCreated: "/p/db/migrations/0042_rounding_of_all_amounts_in_invoices.sql",
	} {
		p.Trial.Effects.List = append(p.Trial.Effects.List, umpire.TrialEffect{Kind: kind, Path: path})
		p.Accesses = append(p.Accesses, umpire.Access{Kind: umpire.KindWrite, Target: path, Verdict: umpire.Ask, Risk: umpire.Medium})
	}
	slices.SortFunc(p.Accesses, func(a, b umpire.Access) int { return strings.Compare(a.Target, b.Target) })
	p.Trial.Effects.Refused = []umpire.TrialAttempt{{Kind: umpire.AttemptNetwork, Target: "203.0.113.7:5432"}}
	return p
}

func offline() umpire.Pending {
	p := tried()
	p.TrialOffer, p.Trial.State, p.Trial.Exit = umpire.TrialNetwork, umpire.TrialDiscarded, 1
	p.Trial.Effects.List = p.Trial.Effects.List[:0]
	return p
}

// TestTrialScreens pins the look of a trial's effects on terminals of any width.
func TestTrialScreens(t *testing.T) {
	t.Parallel()
	for size, at := range map[string][2]int{"80x40": {80, 40}, "40x40": {40, 40}, "20x5": {20, 5}} {
		for name, p := range map[string]umpire.Pending{"tried": tried(), "offline": offline()} {
			t.Run(name+"_"+size, func(t *testing.T) {
				t.Parallel()
				d := driven(t, nil, at[0], at[1])
				d.ask(p)
				d.golden(name + "_" + size)
			})
		}
	}
}

// TestTryKey: the key does not answer yet, and the card says that the trial is running.
func TestTryKey(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 40)
	d.ask(offline())
	d.sees("It wants 203.0.113.7:5432, which a trial does not reach.", "t run again, reaching these hosts")
	d.press("t")
	d.sees("it is being tried")
	if len(d.gate.answers) != 1 || d.gate.answers[0].Choice != umpire.Try || !d.m.ask.isOpen() {
		t.Errorf("answered %+v", d.gate.answers)
	}
	d = driven(t, nil, 80, 40)
	d.ask(npm())
	d.press("t")
	d.sees("this call cannot be tried first")
	// Trying another agent's command again approves it, and only once the card was read.
	again := offline()
	again.TrialOffer = umpire.TrialAgain
	d = driven(t, nil, 80, 40)
	d.ask(again)
	d.press("t")
	d.sees("Allowed tool: Bash")
	if len(d.gate.answers) != 1 || d.gate.answers[0].Choice != umpire.Approve {
		t.Errorf("answered %+v", d.gate.answers)
	}
	again.Input = json.RawMessage(`{"command": "` + strings.Repeat("echo x; ", 400) + `"}`)
	d = driven(t, nil, 80, 20)
	d.ask(again)
	d.press("t")
	d.sees("Scroll to the end before approving (PgDn)")
	if len(d.gate.answers) != 0 {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestKeysAnswer: each key gives its answer, bound to the shown card.
func TestKeysAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keys []string
		want umpire.Answer
		said string
	}{
		"once":             {[]string{"y"}, umpire.Answer{Choice: umpire.Approve}, "Allowed tool: Bash"},
		"session":          {[]string{"a", "s", "y"}, umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeSession}, "Allowed tool: Bash (session)"},
		"project":          {[]string{"p", "enter", "y"}, umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeProject, Rule: "Bash(npm install react:*)"}, "Allowed tool: Bash (project)"},
		"another rule":     {[]string{"g", "ctrl+u", "Bash(npm:*)", "enter", "y"}, umpire.Answer{Choice: umpire.Approve, Scope: umpire.ScopeGlobal, Rule: "Bash(npm:*)"}, "Allowed tool: Bash (global)"},
		"deny":             {[]string{"n", "enter"}, umpire.Answer{Choice: umpire.Refuse}, "Denied tool: Bash"}, // M-132
		"deny with blanks": {[]string{"n", "  ", "enter"}, umpire.Answer{Choice: umpire.Refuse}, "Denied tool: Bash"},
		"deny, and why":    {[]string{"n", "not 现在", "enter"}, umpire.Answer{Choice: umpire.Refuse, Reason: "not 现在"}, "Denied tool: Bash: not 现在"}, // M-127
		"cancel":           {[]string{"c"}, umpire.Answer{Choice: umpire.Cancel}, "Cancelled: Bash"},                                                // C-36
		// M-130: on a terminal, Esc leaves a step that was opened by mistake.
		"back and once": {[]string{"n", "esc", "p", "esc", "p", "enter", "esc", "y"}, umpire.Answer{Choice: umpire.Approve}, "Allowed tool: Bash"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := driven(t, nil, 80, 24)
			d.ask(npm())
			d.press(tt.keys...)
			want := tt.want
			want.Request, want.ArgsHash, want.Version = "r2", "hash2", 1
			if diff := cmp.Diff([]umpire.Answer{want}, d.gate.answers); diff != "" {
				t.Errorf("answered (-want +got):\n%s", diff)
			}
			d.sees(tt.said) // M-121
			if d.m.ask.isOpen() {
				t.Error("the card is still there")
			}
		})
	}
}

// TestNothingApprovesByAccident: keys typed ahead, Enter, pasted text and keys with
// another purpose do not approve.
func TestNothingApprovesByAccident(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.ask(npm(), write())
	d.press("enter", "enter", "tab", "enter", "tab")
	d.tell(tea.PasteMsg{Content: "y"})
	d.press("p", "enter", "enter", "esc") // a rule is written by y alone
	d.press("n", "y", "esc")
	if len(d.gate.answers) > 0 {
		t.Fatalf("answered %+v", d.gate.answers)
	}
	d.press("j") // another card, which also has to settle
	d.press("y")
	d.pass(settleTime - 1)
	d.press("y", "s", "c")
	if len(d.gate.answers) > 0 {
		t.Fatalf("answered ahead %+v", d.gate.answers)
	}
	d.pass(1)
	d.press("y")
	if len(d.gate.answers) != 1 || d.gate.answers[0].Request != "r3" {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestWordsAnswerNothing: a word typed while a card has the keys becomes a message, even if
// it begins with an answer key. A single key answers once, after a moment.
func TestWordsAnswerNothing(t *testing.T) {
	t.Parallel()
	types := func(d *drive, text string) {
		for _, r := range text {
			d.m.Update(tea.KeyPressMsg{Code: r, Text: string(r)}) // do not wait for the hold time
		}
	}
	for _, word := range []string{"stop", "again", "go on", "explain it", "do it", "view", "please", "You", "yes please", "can you", "/sessions", "现在不要", "so"} {
		d := driven(t, nil, 80, 24)
		d.m.hasty = false
		d.m.Update(refreshMsg{session: d.gate.session, pending: []umpire.Pending{npm()}})
		d.pass(settleTime)
		types(d, word)
		d.run(d.m.handleReport(heldUntil(&d.m.ask)))
		if got := d.m.input.Value(); got != word || len(d.gate.answers) > 0 {
			t.Errorf("%q: wrote %q, answered %+v", word, got, d.gate.answers)
		}
	}
	d := driven(t, nil, 80, 24)
	d.m.hasty = false
	d.m.Update(refreshMsg{session: d.gate.session, pending: []umpire.Pending{npm()}})
	d.pass(settleTime)
	types(d, "s")
	old := heldUntil(&d.m.ask)
	d.m.Update(named["esc"])
	d.run(d.m.handleReport(old)) // Esc withdrew the key
	d.pass(holdTime / 2)
	types(d, "yy")
	d.sees("? keys …")
	d.run(d.m.handleReport(old))                           // of the key before
	d.run(d.m.handleReport(heldMsg{"r1", d.m.ask.heldAt})) // of another card
	d.pass(holdTime + lateTime + 1)
	d.m.handleReport(heldUntil(&d.m.ask)) // the program was not running
	if len(d.gate.answers) > 0 {
		t.Errorf("answered %+v", d.gate.answers)
	}
	d.pass(holdTime)
	last := heldUntil(&d.m.ask)
	d.m.hasty = true
	d.run(d.m.handleReport(last))
	d.run(d.m.handleReport(last))
	if len(d.gate.answers) != 1 || d.gate.answers[0].Scope != umpire.ScopeOnce {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestWhoWritesGoesOnWriting: a card that comes up does not take the keys of a message.
func TestWhoWritesGoesOnWriting(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.press("please sa")
	d.ask(npm())
	d.press("y yes")
	if len(d.gate.answers) > 0 || d.m.input.Value() != "please say yes" {
		t.Fatalf("answered %+v, wrote %q", d.gate.answers, d.m.input.Value())
	}
	d.sees("1 wait for an answer", "> please say yes")
	d.press("tab", "y")
	if len(d.gate.answers) != 1 {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestOneAnswerAtATime: while an answer is on its way no other is accepted (M-129), and
// a failed one leaves the card unchanged (M-128).
func TestOneAnswerAtATime(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.ask(npm())
	_, cmd := d.m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
	if d.m.ask.state != cardLoading {
		t.Errorf("the card is in state %d", d.m.ask.state)
	}
	d.press("y", "n", "c", "s")
	d.gate.refusal = errors.New("the store is full")
	d.run(cmd)
	if d.m.ask.state != cardIdle || len(d.gate.answers) > 0 {
		t.Errorf("state %d, answers %+v", d.m.ask.state, d.gate.answers)
	}
	d.sees("the store is full", "y allow once")
	d.press("y")
	if len(d.gate.answers) != 1 {
		t.Errorf("answered %+v", d.gate.answers)
	}
	d.press("y") // M-131: a key after the answer does nothing
	if len(d.gate.answers) != 1 {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestAnswersLeaveTheirState pins which answer leaves which state (M-128).
func TestAnswersLeaveTheirState(t *testing.T) {
	t.Parallel()
	for want, answers := range map[cardState][]umpire.Answer{
		cardApproved:    {{Choice: umpire.Approve}},
		cardApprovedAll: {{Choice: umpire.Approve, Scope: umpire.ScopeSession}, {Choice: umpire.Approve, Scope: umpire.ScopeProject}, {Choice: umpire.Approve, Scope: umpire.ScopeGlobal}},
		cardDenied:      {{Choice: umpire.Refuse}, {Choice: umpire.Cancel}},
	} {
		for _, a := range answers {
			if got := stateOf(&a); got != want {
				t.Errorf("%+v leaves %d, want %d", a, got, want)
			}
		}
	}
}

// TestLateAnswer: the first answer wins, and a late one is refused.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.ask(npm())
	d.gate.refusal, d.gate.pending = &umpire.ResolvedError{Standing: umpire.Standing{Choice: umpire.Refuse}}, nil
	d.press("y")
	d.sees("already resolved: denied")
	if d.m.ask.isOpen() {
		t.Error("the card is still there")
	}
}

// TestHiddenCharacters: a call with hidden characters says so, and can be approved only once.
func TestHiddenCharacters(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 30)
	d.ask(waiting(1, "Bash", map[string]any{"command": "ls \u202e; rm -rf x\u200b"}))
	d.sees(`$ ls \u202e; rm -rf x\u200b`, "It contains hidden characters")
	d.sawNot("allow this session", "allow this project")
	d.press("s", "p", "g")
	if len(d.gate.answers) > 0 {
		t.Fatalf("answered %+v", d.gate.answers)
	}
	d.press("y")
	if len(d.gate.answers) != 1 || d.gate.answers[0].Scope != umpire.ScopeOnce {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestHostileCalls: no text of a call reaches the terminal raw, and a long one is folded
// with its end visible.
func TestHostileCalls(t *testing.T) {
	t.Parallel()
	for _, evil := range hostile() {
		d := driven(t, nil, 80, 24)
		p := waiting(1, "Bash", map[string]any{"command": "ls " + evil, "description": evil, evil: evil})
		p.Reason, p.Tool, p.Agent, p.Rules = umpire.Verbatim("because "+evil), "Tool"+evil, evil, []string{"Bash(" + evil + ")"}
		p.Accesses[0].Target, p.Accesses[0].Doubt = catalogue.English.Text(umpire.Verbatim(evil)), umpire.Verbatim(evil)
		d.gate.session.Dir = "/p" + evil
		d.ask(p)
		d.screenText() // which looks at every line
		for _, key := range []string{"e", "v", "d", "pgdown", "pgdown", "p"} {
			d.press(key)
			d.screenText()
		}
		d.tell(endedMsg{umpire.BatchCall{ID: "c1", Tool: "T" + evil, Input: p.Input, Reason: umpire.Verbatim(evil)}, umpire.Result{Status: umpire.ResultDenied, Output: evil}})
		d.tell(endedMsg{umpire.BatchCall{ID: "c2", Tool: "T", Input: p.Input}, umpire.Result{Status: umpire.ResultOK, Output: evil + "\n" + evil}})
		d.tell(saidMsg{evil})
		d.tell(noteMsg{text: evil})
		d.press("esc", "y")
		d.screenText()
	}
}

// TestMoveWithinBatch: j and k go through the calls that wait, each with its position.
func TestMoveWithinBatch(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.ask(npm(), write())
	d.sees("2 of 5, 2 wait", "$ npm install react", "risk medium")
	d.press("k", "j")
	d.sees("3 of 5, 2 wait", "Write asks to run:", "permission waiting · file_write")
	d.pass(settleTime)
	d.press("j", "k")
	d.sees("2 of 5")
}

// TestAllLikeIt: Y, pressed twice, approves all questions of the same risk once, but
// never one with a warning or hidden text.
func TestAllLikeIt(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 30)
	high, warns, other := waiting(4, "Edit", map[string]any{"file_path": "b"}), waiting(5, "Edit", map[string]any{"file_path": "c"}), write()
	high.Risk, warns.Warning, other.Batch = "high", true, "m2"
	long := waiting(6, "Bash", map[string]any{"command": "mkdir a\ncp -r b a"})
	d.ask(npm(), waiting(1, "Write", map[string]any{"file_path": "/p/b.txt"}), high, warns, other, long)
	d.press("Y")
	d.sees("allow once, all of risk medium: 1")
	d.press("esc")
	for range d.m.ask.list { // the other cards are read too
		d.press("j")
		d.pass(settleTime)
	}
	for range d.m.ask.list {
		d.press("k")
		d.pass(settleTime)
	}
	d.press("Y")
	d.sees("allow once, all of risk medium: 3", "Bash npm install react", "Write b.txt")
	d.press("enter", "esc")
	if len(d.gate.answers) > 0 {
		t.Fatalf("answered %+v", d.gate.answers)
	}
	d.press("Y", "Y")
	var given []umpire.RequestID
	for _, a := range d.gate.answers {
		given = append(given, a.Request)
		if a.Scope != umpire.ScopeOnce || a.Choice != umpire.Approve {
			t.Errorf("answered %+v", a)
		}
	}
	if diff := cmp.Diff([]umpire.RequestID{"r2", "r1", "r6"}, given); diff != "" {
		t.Error(diff)
	}
}

// TestEditShowsItsDiff: an edit is shown as a diff, and d switches to the fields.
func TestEditShowsItsDiff(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 40)
	d.m.conf.Change = func(_ context.Context, p umpire.Pending, s umpire.Session) Change {
		return Change{Diff: "--- a.go\n+++ a.go\n-x := 1\n+x := 2\n", Shown: []string{"old_string", "new_string"}}
	}
	d.ask(waiting(1, "Edit", map[string]any{"file_path": "a.go", "old_string": "x := 1\n", "new_string": "x := 2\n"}))
	d.sees("-x := 1", "+x := 2", "file_path:")
	d.sawNot("old_string", "new_string")
	d.press("d")
	d.sees("old_string:", "x := 1")
	d.press("v")
	d.sees(`"old_string": "x := 1\n"`)
}

// TestEditsHideNothing: a call without a diff, and one with an incomplete diff, show
// all fields.
func TestEditsHideNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(context.Context, umpire.Pending, umpire.Session) Change{
		"no changes here": nil,
		"no diff": func(context.Context, umpire.Pending, umpire.Session) Change {
			return Change{Shown: []string{"content"}}
		},
		"a cut diff": func(context.Context, umpire.Pending, umpire.Session) Change {
			return Change{Diff: "+x\n[9 more bytes of this change]\n"}
		},
	} {
		d := driven(t, nil, 100, 40)
		d.m.conf.Change = change
		d.ask(waiting(1, "Write", map[string]any{"file_path": "a", "content": "evil", "CONTENT": "fine"}))
		if card := strings.Join(d.m.ask.cardLines(100), "\n"); !strings.Contains(card, "evil") || !strings.Contains(card, "fine") {
			t.Errorf("%s hides something:\n%s", name, card)
		}
	}
}

// TestNextCardIsItsOwn: after an answer the next question appears with its own texts, and
// must settle before it can be answered.
func TestNextCardIsItsOwn(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 30)
	d.ask(npm(), write())
	d.press("y", "y")
	d.sees("Write asks to run:", "file_path:     /p/a.txt", "| one", "permission waiting · file_write", " …\n")
	d.sawNot("$ npm install react")
	if n := len(d.gate.answers); n != 1 {
		t.Fatalf("%d answers", n)
	}
	d.pass(settleTime)
	d.press("n", "enter")
	if len(d.gate.answers) != 2 || d.gate.answers[1].Request != "r3" || d.gate.answers[1].ArgsHash != "hash3" {
		t.Errorf("answered %+v", d.gate.answers)
	}
	d.sees("Message, or /help")
}

// TestWaitsKeepTheirPlace: the card that is being read stays while others come and go.
func TestWaitsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.ask(npm(), write())
	d.press("j")
	d.ask(write())
	d.sees("Write asks to run:")
	d.press("y")
	if len(d.gate.answers) != 1 || d.gate.answers[0].Request != "r3" {
		t.Errorf("answered %+v", d.gate.answers)
	}
}

// TestSubAgentsAsk: the questions of a sub-agent appear, those of other sessions do not.
func TestSubAgentsAsk(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.gate.others = []umpire.Session{{ID: "child", Parent: "s1"}, {ID: "grandchild", Parent: "child"}, {ID: "stranger"}}
	mine, theirs := npm(), write()
	mine.Session, theirs.Session = "grandchild", "stranger"
	d.ask(mine, theirs)
	d.sees("$ npm install react")
	if n := len(d.m.ask.list); n != 1 {
		t.Errorf("%d questions", n)
	}
}

// TestWidthShownIsTheWidthApproved: the card shows the coverage of the width chosen with
// Tab, and y approves exactly that.
func TestWidthShownIsTheWidthApproved(t *testing.T) {
	t.Parallel()
	p := waiting(1, "Edit", map[string]any{"file_path": "src/a.txt"})
	p.Rules = []string{"Edit(src/a.txt)"}
	p.Suggestions = []umpire.Suggestion{
		{Action: umpire.Allow, Tool: "Edit", Match: umpire.Match{PathGlob: "src/a.txt"}, Width: umpire.WidthExact},
		{Action: umpire.Allow, Tool: "Edit", Match: umpire.Match{PathGlob: "src/**"}, Width: umpire.WidthFolder},
		{Action: umpire.Allow, Tool: "Edit", Width: umpire.WidthTool},
	}
	for _, tt := range []struct {
		keys  []string
		sees  string
		width umpire.Width
	}{
		{[]string{"p", "tab"}, "Edit(src/**)", umpire.WidthFolder},
		{[]string{"p", "tab", "tab"}, "every call of Edit", umpire.WidthTool},
		{[]string{"p", "tab", "tab", "tab", "tab"}, "Edit(src/**)", umpire.WidthFolder},
		{[]string{"p", "tab", "tab", "tab", "enter"}, "Edit(src/a.txt)", umpire.WidthDefault},
		{[]string{"w"}, "Edit(src/**)", umpire.WidthFolder},
		{[]string{"w", "tab"}, "every call of Edit", umpire.WidthTool},
		{[]string{"w", "tab", "tab"}, "Edit(src/**)", umpire.WidthFolder},
		{[]string{"w", "tab", "esc", "w"}, "Edit(src/**)", umpire.WidthFolder},
	} {
		d := driven(t, nil, 80, 24)
		d.ask(p)
		for _, key := range tt.keys {
			d.press(key)
			d.screenText() // drawn, as a person would see it
		}
		d.sees(tt.sees)
		d.press("y")
		if len(d.gate.answers) != 1 || d.gate.answers[0].Width != tt.width {
			t.Errorf("%q: answered %+v, want width %q", tt.keys, d.gate.answers, tt.width)
		}
	}
}

// TestRefusedWidths: the card does not offer a width that the gate would refuse, and its key says why.
func TestRefusedWidths(t *testing.T) {
	t.Parallel()
	control := waiting(1, "Edit", map[string]any{"file_path": ".git/config"})
	control.Code = umpire.CodeControlFile
	own := waiting(1, "Read", map[string]any{"file_path": "/home/a/.ssh/id"})
	own.Code, own.Rules = umpire.CodeSecret, []string{"Read(/home/a/.ssh/id)"}
	own.Suggestions = []umpire.Suggestion{{
		Action: umpire.Allow, Tool: "Read", Match: umpire.Match{PathGlob: "/home/a/.ssh/id"}, Width: umpire.WidthExact,
		Scope: umpire.ScopeGlobal,
	}}
	for _, tt := range []struct {
		p    umpire.Pending
		not  []string
		says map[string]string
	}{
		{control, []string{"always allow", "allow this session", "allow this project", "allow everywhere"}, map[string]string{
			"s": "a control file can be approved only once at a time", "p": "a control file can be approved only once at a time",
		}},
		{own, []string{"always allow", "allow this project"}, map[string]string{"p": "only your own rule can allow this"}},
	} {
		d := driven(t, nil, 80, 30)
		d.ask(tt.p)
		d.sawNot(tt.not...)
		for key, says := range tt.says {
			d.press(key)
			d.sees(says)
		}
		if len(d.gate.answers) > 0 {
			t.Errorf("answered %+v", d.gate.answers)
		}
	}
}

// TestCoverageOnCard: the scopes say how many recent calls each would have covered, and the rule preview
// names the worst of them.
func TestCoverageOnCard(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	worst := &umpire.Access{Kind: umpire.KindExec, Program: "npm", Args: []string{"publish"}, Risk: umpire.High, Consequence: umpire.Outward}
	d.gate.coverage = []umpire.Coverage{
		{Scope: umpire.ScopeSession, Of: 57}, {Scope: umpire.ScopeProject, Calls: 3, Of: 57, Worst: worst},
	}
	d.ask(npm())
	d.press("a")
	d.sees("exactly this command (0 of the\n                        last 57 questions)", "/p/.umpire/permissions.json (3 of the last 57 questions)")
	d.press("p", "enter")
	d.sees("┃ would have covered 3 of the last 57 questions here, the worst: exec npm", "┃ publish (risk high, leaves this machine)")
	if len(d.gate.answers) > 0 {
		t.Errorf("answered %+v", d.gate.answers)
	}
}
