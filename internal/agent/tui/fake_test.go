package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/view/languages"
	"github.com/umpirehq/umpire/policy"
)

// A fakeGate returns prepared answers, and records its calls.
type fakeGate struct {
	umpire.Gate // nil: the chat uses no other methods

	beforePlan umpire.Mode
	mu         sync.Mutex
	session    umpire.Session
	others     []umpire.Session
	decision   umpire.Decision // of every call
	pending    []umpire.Pending
	filters    bool              // by project
	coverage   []umpire.Coverage // of the question that is named
	said       umpire.Conversation
	events     []umpire.Event
	rules      []umpire.Rule
	status     umpire.RuleStatus
	answers    []umpire.Answer
	prompts    []string
	removed    []umpire.RuleID
	tasks      []umpire.TaskApproval
	refusal    error // of the next answer
	answered   chan struct{}
}

func (g *fakeGate) Sessions() umpire.SessionKeeper { return fakeSessions{fakeGate: g} }

func (g *fakeGate) Conversations() umpire.ConversationKeeper { return fakeConversations{fakeGate: g} }

// fakeSessions and fakeConversations are the parts of a fakeGate.
type (
	fakeSessions struct {
		umpire.SessionKeeper // nil: the chat uses no other methods

		*fakeGate
	}
	fakeConversations struct {
		umpire.ConversationKeeper // nil: the chat uses no other methods

		*fakeGate
	}
)

func (g *fakeGate) Check(context.Context, umpire.Call) (umpire.Decision, error) {
	return g.decision, nil
}

func (g fakeSessions) Get(_ context.Context, id umpire.SessionID) (umpire.Session, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range append(g.others, g.session) {
		if s.ID == id {
			return s, nil
		}
	}
	return umpire.Session{}, umpire.ErrNotFound
}

func (g fakeSessions) List(context.Context, umpire.SessionQuery) ([]umpire.Session, error) {
	all := append([]umpire.Session{g.session}, g.others...)
	for i := range all {
		all[i].Project = cmp.Or(all[i].Project, g.session.Project)
	}
	return all, nil
}

func (g *fakeGate) Pending(_ context.Context, q umpire.PendingQuery) ([]umpire.Pending, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := slices.Clone(g.pending)
	if g.filters && q.Project != "" {
		all = slices.DeleteFunc(all, func(p umpire.Pending) bool { return p.Project != q.Project })
	}
	for i := range all {
		if all[i].Request == q.Coverage {
			all[i].Coverage = g.coverage
			return all[i : i+1], nil
		}
	}
	return all, nil
}

func (g fakeConversations) Read(_ context.Context, q umpire.ConversationQuery) (umpire.Conversation, error) {
	c := g.said
	c.Messages = c.Messages[max(0, len(c.Messages)-q.Limit):]
	return c, nil
}

func (g *fakeGate) Events(_ context.Context, f umpire.Filter) ([]umpire.Event, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.events), func(e umpire.Event) bool { return e.Seq <= f.After }), nil
}

func (g *fakeGate) Watch(ctx context.Context, _ umpire.Filter) iter.Seq2[umpire.Event, error] {
	return func(func(umpire.Event, error) bool) { <-ctx.Done() }
}

func (g *fakeGate) Resolve(_ context.Context, a umpire.Answer) (umpire.Batch, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.refusal; err != nil {
		g.refusal = nil
		return umpire.Batch{}, err
	}
	g.answers = append(g.answers, a)
	g.pending = slices.DeleteFunc(g.pending, func(p umpire.Pending) bool { return p.Request == a.Request })
	if g.answered != nil {
		g.answered <- struct{}{}
	}
	return umpire.Batch{}, nil
}

func (g fakeConversations) Prompt(_ context.Context, p umpire.Prompt) (umpire.Prompted, error) {
	g.prompts = append(g.prompts, p.Text)
	return umpire.Prompted{Queued: true}, nil
}

func (g fakeSessions) SetMode(_ context.Context, c umpire.ModeChange) (umpire.Session, error) {
	to := g.beforePlan
	if !c.LeavePlan {
		to = *c.Mode
	}
	if to == umpire.ModeBypass {
		return umpire.Session{}, umpire.ErrInvalid
	}
	if to == umpire.ModePlan {
		g.beforePlan = g.session.Mode
	}
	g.session.Mode = to
	return g.session, nil
}

func (g *fakeGate) Rules() umpire.RuleKeeper { return fakeRules{fakeGate: g} }

// fakeRules are the prepared rules.
type fakeRules struct {
	umpire.RuleKeeper // nil: the chat uses no other methods

	*fakeGate
}

func (g fakeRules) List(context.Context, string) ([]umpire.Rule, error) { return g.rules, nil }

func (g fakeRules) Status(context.Context, string) (umpire.RuleStatus, error) {
	return g.status, nil
}

func (g fakeRules) Remove(_ context.Context, _ string, _ umpire.Scope, id umpire.RuleID, _ umpire.Actor) error {
	g.removed = append(g.removed, id)
	g.rules = slices.DeleteFunc(g.rules, func(r umpire.Rule) bool { return r.ID == id })
	return nil
}

// A fakeHost runs no agent, and keeps a configuration in memory.
type fakeHost struct {
	turn     func(ctx context.Context, task string, handler *TurnHandler) (string, error)
	profiles []Profile
	went     []string
}

func (h *fakeHost) Turn(ctx context.Context, _ umpire.Session, task string, handler *TurnHandler) (string, error) {
	return h.turn(ctx, task, handler)
}

func (h *fakeHost) Resume(_ context.Context, id umpire.SessionID) (umpire.Session, error) {
	h.went = append(h.went, "resume "+string(id))
	return umpire.Session{ID: id, Project: someProject, Mode: umpire.ModeDefault, Dir: "/p"}, nil
}

func (h *fakeHost) Fork(_ context.Context, id umpire.SessionID) (umpire.Session, error) {
	h.went = append(h.went, "fork "+string(id))
	return umpire.Session{}, fmt.Errorf("session %q: %w", id, umpire.ErrOtherProject)
}

func (h *fakeHost) Profiles() ([]Profile, error) { return h.profiles, nil }

func (h *fakeHost) LimitEdits(name string, suffixes []string) (Profile, error) {
	for i := range h.profiles {
		if h.profiles[i].Name == name {
			h.profiles[i].Suffixes = policy.NormalizeSuffixes(suffixes)
			return h.profiles[i], nil
		}
	}
	return Profile{}, fmt.Errorf("no agent %q", name)
}

const someProject = umpire.ProjectID("0123456789abcdef0123456789abcdef01234567")

// A drive drives a model: it runs the model's commands, at once and in order.
type drive struct {
	*testing.T

	m     *model
	gate  *fakeGate
	host  *fakeHost
	now   time.Time
	turns []string // that were begun

	update func(tea.Msg) tea.Cmd // of another screen than the model; nil is the model's
}

// begun is when tests begin.
var begun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// driven returns a model on a screen of a size.
func driven(t *testing.T, text *catalogue.Language, width, height int) *drive {
	t.Helper()
	d := &drive{T: t, now: begun, gate: &fakeGate{session: umpire.Session{
		ID: "s1", Project: someProject, Root: "/p", Dir: "/p", Mode: umpire.ModeDefault, State: umpire.SessionIdle, Permission: umpire.StateIdle,
	}}, host: &fakeHost{profiles: []Profile{{Name: "main"}, {Name: "reviewer", Tools: []string{"Read", "filesystem-edit"}, Suffixes: []string{".md"}}}}}
	d.m = newModel(Config{Gate: d.gate, Host: d.host, Session: d.gate.session, Model: "script:demo.json", Text: text, Now: func() time.Time { return d.now }})
	d.m.handler = &TurnHandler{send: func(msg any) { d.tell(msg) }}
	d.m.do = func(work func(context.Context) tea.Msg) tea.Cmd {
		return func() tea.Msg { return work(t.Context()) }
	}
	d.m.beginTurn = func(_ umpire.Session, task string) (func(), tea.Cmd) {
		d.turns = append(d.turns, task)
		return func() {}, nil
	}
	d.m.still, d.m.hasty = true, true
	d.run(d.m.Init())
	d.tell(tea.WindowSizeMsg{Width: width, Height: height})
	return d
}

// tell sends the model a message, and runs the resulting commands.
func (d *drive) tell(msg tea.Msg) {
	d.Helper()
	if d.update != nil {
		d.run(d.update(msg))
		return
	}
	_, cmd := d.m.Update(msg)
	d.run(cmd)
}

func (d *drive) run(cmd tea.Cmd) {
	d.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, one := range msg {
			d.run(one)
		}
	case nil:
	default:
		d.tell(msg)
	}
}

// named are the keys that do not produce characters.
var named = map[string]tea.KeyPressMsg{
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "backspace": {Code: tea.KeyBackspace},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl},
}

// press presses keys: named ones, or each character of a text.
func (d *drive) press(keys ...string) {
	d.Helper()
	for _, key := range keys {
		if k, is := named[key]; is {
			d.tell(k)
			continue
		}
		for _, r := range key {
			d.tell(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// pass lets time go by.
func (d *drive) pass(by time.Duration) { d.now = d.now.Add(by) }

// ask opens questions, and lets the card settle.
func (d *drive) ask(list ...umpire.Pending) {
	d.Helper()
	d.gate.pending = list
	d.tell(watchMsg{umpire.Event{Seq: int64(len(d.m.events) + 1), Session: "s1", Kind: umpire.EventPermissionAsked, At: d.now}})
	d.pass(settleTime)
}

// screenText returns the text of the screen, without blanks at the ends of lines.
func (d *drive) screenText() string {
	d.Helper()
	content := d.m.View().Content
	lines := strings.Split(content, "\n")
	if len(lines) != d.m.height {
		d.Errorf("the screen has %d lines, want %d", len(lines), d.m.height)
	}
	for i, line := range lines {
		if rest := onlySafe(line); rest != "" {
			d.Errorf("line %d holds %q", i+1, rest)
		}
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
		if n := ansi.StringWidth(lines[i]); n > d.m.width {
			d.Errorf("line %d has %d columns", i+1, n)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// golden compares the screen with a golden file.
func (d *drive) golden(name string) {
	d.Helper()
	file := filepath.Join("testdata", name+".golden")
	got := d.screenText()
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			d.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			d.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		d.Fatal(err)
	}
	if got != string(want) {
		d.Errorf("%s is not as it was:\n%s", name, got)
	}
}

// sees checks that texts are on the screen.
func (d *drive) sees(texts ...string) {
	d.Helper()
	screen := d.screenText()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.Errorf("%q is not on the screen:\n%s", text, screen)
		}
	}
}

// sawNot checks that texts are not on the screen.
func (d *drive) sawNot(texts ...string) {
	d.Helper()
	screen := d.screenText()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			d.Errorf("%q is on the screen:\n%s", text, screen)
		}
	}
}

// waiting is a question about a tool with an input.
func waiting(n int, tool string, input map[string]any) umpire.Pending {
	text, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	p := umpire.Pending{
		Request: umpire.RequestID(fmt.Sprintf("r%d", n)), Version: 1, Call: umpire.CallID(fmt.Sprintf("c%d", n)), ArgsHash: fmt.Sprintf("hash%d", n),
		Batch: "m1", Position: n, Total: 5, Session: "s1", Project: someProject, Agent: "umpire", Tool: tool, Input: text,
		Type: umpire.FileWrite, Risk: "medium", Consequence: umpire.Reversible, Access: "write", Code: umpire.CodeMode, AskedAt: begun,
		Reason: umpire.Say("Tool %q requires approval (%s)", tool, umpire.Phrase("moderate")),
		Accesses: []umpire.Access{{Kind: umpire.KindWrite, Target: "/p/a.txt", Place: umpire.PlaceInside,
			Verdict: umpire.Ask, Risk: umpire.Medium, Reason: "creates or replaces a file"}},
		Rules: []string{tool},
	}
	if path, is := input["file_path"].(string); is {
		p.Accesses[0].Target = filepath.Join("/p", strings.TrimPrefix(path, "/p/"))
	}
	if command, is := input["command"].(string); is {
		p.Type, p.Access, p.Rules = umpire.ShellExecute, "command", []string{"Bash(" + command + ":*)"}
		p.CommandInfo = &umpire.CommandInfo{Command: command, Risk: "medium"}
		program, args, _ := strings.Cut(command, " ")
		p.Accesses = []umpire.Access{{Kind: umpire.KindExec, Program: program, Args: strings.Fields(args),
			Verdict: umpire.Ask, Risk: umpire.Medium, Reason: "downloads a package and runs its code"}}
	}
	return p
}

// npm is a question about a command, one of two that wait.
func npm() umpire.Pending { return waiting(2, "Bash", map[string]any{"command": "npm install react"}) }

// write is a question about a file.
func write() umpire.Pending {
	return waiting(3, "Write", map[string]any{"file_path": "/p/a.txt", "content": "one\ntwo\n"})
}

// chineseText is 简体中文.
func chineseText() *catalogue.Language { return languages.Find("zh") }
