package notice

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/fake"
	"github.com/umpirehq/umpire/internal/view"
)

const replies = "replies-of-the-phone"

// beginRelay starts a notifier that takes replies, and waits until it listens.
func beginRelay(t *testing.T, g *fakeGate, change func(c *Config, s *fake.Ntfy)) (*Notifier, *fake.Ntfy) {
	t.Helper()
	server := fake.NewNtfy(false)
	t.Cleanup(server.Close)
	n, _ := begin(t, g, func(c *Config) {
		c.Notify.Ntfy.Server, c.Notify.Ntfy.Replies = server.URL, replies
		if change != nil {
			change(c, server)
		}
	})
	if !server.WaitReader() {
		t.Fatal("nobody listens")
	}
	return n, server
}

// tokenOf returns the token of a button.
func tokenOf(t *testing.T, s *fake.Ntfy, m fake.NtfyMessage, label string) string {
	t.Helper()
	for _, a := range m.Actions {
		if a.URL != s.URL+"/"+replies || a.Method != http.MethodPost || a.Action != "http" || !a.Clear {
			t.Errorf("the button is %+v", a)
		}
		if a.Label == label {
			return a.Body
		}
	}
	t.Fatalf("no button %q: %+v", label, m.Actions)
	return ""
}

// Deny and cancel come back by a button, each once, for the card that was shown. Nothing else does.
func TestRepliesOfARelay(t *testing.T) {
	t.Parallel()
	g, other := newFakeGate(), newFakeGate()
	n, server := beginRelay(t, g, nil)
	_, foreign := beginRelay(t, other, nil)
	other.ask(command("r1", "make all"))
	ofOther := tokenOf(t, foreign, wait(t, foreign, 1)[0], "deny")

	g.ask(command("r1", "make all"))
	first := wait(t, server, 1)[0]
	if len(first.Actions) != 2 {
		t.Errorf("the buttons are %+v", first.Actions)
	}
	deny, cancel := tokenOf(t, server, first, "deny"), tokenOf(t, server, first, "cancel")
	server.Publish(replies, "approve")
	server.Publish(replies, strings.Repeat("A", len(deny)))
	server.Publish(replies, strings.Repeat("x", 3*maxMessage))
	server.Publish(replies, `{"request_id":"r1","answer":"approve"}`)
	server.Publish(replies, ofOther)
	server.Publish("elsewhere", deny)
	server.Publish(replies, deny)
	wait(t, server, 2) // it was denied
	server.Publish(replies, deny)
	server.Publish(replies, cancel)

	g.ask(command("r2", "make all"))
	late := tokenOf(t, server, wait(t, server, 3)[2], "deny")
	elsewhere := umpire.Answer{Request: "r2", ArgsHash: "h", ShownDigest: "digest of r2", Choice: umpire.Approve}
	if _, err := g.Resolve(t.Context(), elsewhere); err != nil {
		t.Fatal(err)
	}
	wait(t, server, 4) // it was approved elsewhere
	server.Publish(replies, late)

	g.ask(command("r3", "make all"))
	changed := tokenOf(t, server, wait(t, server, 5)[4], "deny")
	g.mu.Lock()
	g.pending[0].ShownDigest = "another card"
	g.mu.Unlock()
	server.Publish(replies, changed)

	g.ask(command("r4", "make all"))
	server.Publish(replies, tokenOf(t, server, wait(t, server, 6)[5], "cancel"))
	wait(t, server, 7)
	want := map[Refusal]int{refusedUnknown: 5, refusedReplayed: 2, refusedLate: 1, refusedChanged: 1}
	for why, count := range want {
		if got := n.report.current().Refused[why]; got != count {
			t.Errorf("%s: %d, want %d", why, got, count)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.answers) != 3 || g.answers[0].Choice != umpire.Refuse || g.answers[2].Choice != umpire.Cancel {
		t.Fatalf("the answers are %+v", g.answers)
	}
	for _, a := range []umpire.Answer{g.answers[0], g.answers[2]} {
		if a.Actor != relayActor || a.Channel != relayActor || a.Scope != umpire.ScopeOnce || a.Rule != "" {
			t.Errorf("the answer is %+v", a)
		}
	}
	if len(other.answers) != 0 {
		t.Errorf("another gate took %+v", other.answers)
	}
}

// A broken connection is made again, and no message from meanwhile is lost.
func TestRelayConnectsAgain(t *testing.T) {
	t.Parallel()
	g := newFakeGate()
	_, server := beginRelay(t, g, nil)
	find := func(asks bool, sequence string) fake.NtfyMessage { // a broken connection may send a notice twice
		for count := 1; ; count++ {
			last := wait(t, server, count)[count-1]
			if len(last.Actions) > 0 == asks && last.Sequence == sequence {
				return last
			}
		}
	}
	for _, id := range []umpire.RequestID{"r1", "r2", "r3"} {
		g.ask(command(string(id), "make all"))
		sequence := (&notice{request: id}).sequence()
		token := tokenOf(t, server, find(true, sequence), "deny")
		server.CloseClientConnections()
		server.Publish(replies, "something before")
		server.Publish(replies, token)
		find(false, sequence)
	}
}

// Approve has a button only where the server is trusted, and lets no stranger read along.
func TestApproveThroughARelay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		trusted, public bool
		buttons         int
	}{
		"not trusted": {false, false, 2}, "public": {true, true, 2}, "trusted": {true, false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFakeGate()
			n, server := beginRelay(t, g, func(c *Config, s *fake.Ntfy) {
				c.Notify.Commands, c.Notify.RelayTrusted = true, test.trusted
				s.Token, s.Open = "tk_abc", []string{replies}
				if test.public {
					s.PublicTopic = c.Notify.Ntfy.Topic
				}
				writeSecret(t, c, s.Token)
			})
			g.ask(command("r1", "touch a"))
			m := wait(t, server, 1)[0]
			if len(m.Actions) != test.buttons {
				t.Fatalf("the buttons are %+v", m.Actions)
			}
			report := n.report.current()
			if problem := report.Describe(nil); test.public != strings.Contains(problem, errPublic.Error()) {
				t.Errorf("the report says %q", problem)
			}
			if test.buttons < 3 {
				return
			}
			server.Publish(replies, tokenOf(t, server, m, "allow this time"))
			wait(t, server, 2)
			if a := g.answers[0]; a.Choice != umpire.Approve || a.Scope != umpire.ScopeOnce {
				t.Errorf("the answer is %+v", a)
			}
		})
	}
}

// An approval through a relay is for what the notice shows from end to end, and for nothing that
// needs a code elsewhere.
func TestShownWhole(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(p *umpire.Pending)
		want   bool
	}{
		"a command":      {func(*umpire.Pending) {}, true},
		"of high risk":   {func(p *umpire.Pending) { p.Risk = "high" }, false},
		"outward":        {func(p *umpire.Pending) { p.Consequence = umpire.Outward }, false},
		"lost":           {func(p *umpire.Pending) { p.Consequence = umpire.Lost }, false},
		"a script":       {func(p *umpire.Pending) { p.CodeFiles = []umpire.CodeFile{{Path: "x"}} }, false},
		"a trial":        {func(p *umpire.Pending) { p.Trial = &umpire.Trial{} }, false},
		"a plan":         {func(p *umpire.Pending) { p.Planned = []umpire.Planned{{Tool: "x"}} }, false},
		"indeterminate":  {func(p *umpire.Pending) { p.Indeterminate = true }, false},
		"no sandbox":     {func(p *umpire.Pending) { p.NoSandbox = "why" }, false},
		"a warning":      {func(p *umpire.Pending) { p.Warning = true }, false},
		"another field":  {func(p *umpire.Pending) { p.Input = json.RawMessage(`{"command":"touch a","env":"x"}`) }, false},
		"a claim":        {func(p *umpire.Pending) { p.Input = json.RawMessage(`{"command":"touch a","description":"x"}`) }, true},
		"hidden":         {func(p *umpire.Pending) { p.Input = json.RawMessage(`{"command":"touch a\u200b"}`) }, false},
		"no command":     {func(p *umpire.Pending) { p.CommandInfo = nil }, false},
		"a long command": {func(p *umpire.Pending) { *p = command("r", "touch "+strings.Repeat("a", maxSeen)) }, false},
		"two lines":      {func(p *umpire.Pending) { *p = command("r", "touch a\ntouch b") }, false},
		"lines below":    {func(p *umpire.Pending) { *p = command("r", "touch a"+strings.Repeat("\n", 99)+"; touch b") }, false},
		"blanks":         {func(p *umpire.Pending) { *p = command("r", "touch a"+strings.Repeat(" ", 60)+"; touch b") }, false},
		"outside": {func(p *umpire.Pending) {
			p.Accesses = []umpire.Access{{Kind: umpire.KindWrite, Target: "/x", Place: umpire.PlaceOutside}}
		}, false},
		"inside": {func(p *umpire.Pending) {
			p.Accesses = []umpire.Access{{Kind: umpire.KindWrite, Target: "x", Place: umpire.PlaceInside}}
		}, true},
		"a field of more":          {func(p *umpire.Pending) { p.Extra = map[string]json.RawMessage{"x": json.RawMessage(`1`)} }, false},
		"letters from the right":   {func(p *umpire.Pending) { *p = command("r", "mv א 1 ב") }, false}, // shown as mv ב 1 א
		"a letter like another":    {func(p *umpire.Pending) { *p = command("r", "сat a") }, false},
		"a semicolon and its like": {func(p *umpire.Pending) { *p = command("r", "echo a；touch b") }, false},
	} {
		p := command("r1", "touch a")
		test.change(&p)
		card := view.New(p, umpire.Session{}, "", nil, time.Now(), false)
		if got := isShownWhole(card, describe(card, nil, true).object); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if isShownWhole(card, describe(card, nil, false).object) {
			t.Errorf("%s: without its command on the notice", name)
		}
		card = view.New(p, umpire.Session{Root: "/w", Dir: "/w/prod"}, "", nil, time.Now(), false)
		if isShownWhole(card, describe(card, nil, true).object) {
			t.Errorf("%s: in a folder that is not on the notice", name)
		}
	}
}

// Tokens expire, the oldest make room, and one question has no say about another.
func TestTokens(t *testing.T) {
	t.Parallel()
	now := time.Now()
	all := tokens{now: func() time.Time { return now }}
	p, q := command("r1", "a"), command("r2", "b")
	first, other := all.create(&p, umpire.Refuse), all.create(&q, umpire.Refuse)
	all.expire("r2")
	if _, why := all.redeem(other.token); why != refusedLate {
		t.Errorf("an answered question: %q", why)
	}
	now = now.Add(tokenTime + time.Second)
	if _, why := all.redeem(first.token); why != refusedLate {
		t.Errorf("an old token: %q", why)
	}
	for range 2 * maxTokens {
		all.create(&p, umpire.Refuse)
	}
	if len(all.all) != maxTokens {
		t.Errorf("%d tokens", len(all.all))
	}
}
