package view

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// asked is a question about a tool with an input.
func asked(tool string, input any) umpire.Pending {
	text, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return umpire.Pending{
		Request: "4k7m9pqr", Version: 1, Call: "toolu_1", ArgsHash: "ab", Batch: "m1", Position: 2, Total: 5, Session: "s1",
		Project: "0123456789abcdef", Agent: "claude", Tool: tool, Input: text, Risk: "medium", Reason: "because", Access: "all",
		AskedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Suggestions: []umpire.Suggestion{},
	}
}

// shown makes a card and returns its text.
func shown(t *testing.T, p umpire.Pending, colour bool) (string, *Card) {
	t.Helper()
	s := umpire.Session{ID: "s1", Root: "/p", Dir: "/p/sub", Mode: umpire.ModeDefault, AddDirs: []string{"/added"}}
	c := New(p, s, "/home/u", nil, p.AskedAt.Add(3*time.Minute), colour)
	return c.Whole(), c
}

// TestCardTellsAll: the card has everything that a person needs.
func TestCardTellsAll(t *testing.T) {
	t.Parallel()
	p := asked("Bash", map[string]any{"command": "cd src\nrm -rf build", "timeout": 5, "description": "cleans up"})
	p.Risk, p.Warning, p.Access = "high", true, "command"
	p.ExpiresAt = p.AskedAt.Add(10 * time.Minute)
	p.Accesses = []umpire.Access{
		{Kind: umpire.KindExec, Program: "rm", Args: []string{"-rf", "build"}, Verdict: umpire.Ask, Risk: umpire.High,
			Reason: "deletes files for good"},
		{Kind: umpire.KindExec, Program: "x", Verdict: umpire.Ask, Risk: umpire.Medium, Reason: "unknown", Doubt: "what it runs"},
		{Kind: umpire.KindDelete, Target: "/q/x", Verdict: umpire.Deny, Risk: umpire.High, Place: umpire.PlaceOutside},
		{Kind: umpire.KindRead, Target: "/p/a", Verdict: umpire.Allow, Place: umpire.PlaceInside},
		{Kind: umpire.KindRead, Target: "/p/link", Verdict: umpire.Allow, Place: umpire.PlaceOutside},
		{Kind: umpire.KindWrite, Target: "/added/y", Verdict: umpire.Allow, Place: umpire.PlaceInside},
	}
	p.Paths = []string{"/p/a", "/q/x", "/added/y", "/p/link", "rel"}
	p.Extra = map[string]json.RawMessage{"customMeta": json.RawMessage(`{"k":[1,"two"]}`)}
	p.Indeterminate = true
	text, c := shown(t, p, false)
	for _, want := range []string{
		"\nmay have run already: deletes files for good, and unknown\n⚠️ Permission request\n", "ask    risk high, may be impossible to undo  because", "request:       4k7m9pqr, 2 of 5 in this message", "agent:         claude", "session:       s1, mode default",
		"project:       0123456789ab  /p", "folder:        /p/sub", "asked:         3m ago, expires in 7m", "tool:          Bash (toolu_1)",
		"  command:\n    | cd src\n    | rm -rf build\n", "timeout:       5", "description:   cleans up",
		"    ask    high      exec rm -rf build\n                     deletes files for good\n",
		"unknown; in doubt: what it runs", "    deny   high      delete /q/x\n", "outside:       /q/x\n", "outside:       /p/link\n",
		`customMeta (claimed): {"k":[1,"two"]}`, "this is known to be dangerous", "its outcome is unknown",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, not := range []string{"outside:       /p/a", "outside:       /added", "outside:       rel", "hidden", "\x1b"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is in\n%s", not, text)
		}
	}
	if c.Hidden() {
		t.Error("nothing is hidden in it")
	}
	if coloured, _ := shown(t, p, true); !strings.Contains(coloured, "\x1b[31mrisk high, may be impossible to undo\x1b[0m") {
		t.Errorf("no colour in\n%s", coloured)
	}
}

// TestCardObeysNothing: for any call, the terminal gets only printable characters and
// our own line ends, and the card warns of hidden text.
func TestCardObeysNothing(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{
		"\x1b[2J", "\x1b]0;title\a", "\x1b]8;;http://x\x1b\\", "\u009b31m", "a\rb", "a\bb", "\x00", "\u202e", "\u2066x\u2069", "\u200b", "\u200e",
		"\u061c", "\ufeff", "\U000e0041", "\u00ad", "\u2028", "\x7f", "\xff", "\u3164", "\u2800", "a\ufe00", "a\U000e0101", "\u034f",
	} {
		for place, p := range map[string]umpire.Pending{
			"command": asked("Bash", map[string]any{"command": "ls " + evil}),
			"nested":  asked("Edit", map[string]any{"edits": []any{map[string]any{"new": evil}}}),
			"key":     asked("X", map[string]any{"a" + evil: 1}),
			"tool":    asked("Tool"+evil, map[string]any{}),
		} {
			if strings.HasPrefix(evil, "\xff") && place != "tool" { // JSON cannot hold it
				continue
			}
			text, c := shown(t, p, false)
			for _, r := range strings.Replace(text, "⚠️ ", "", 1) { // the card's own sign
				if r != '\n' && (!unicode.IsPrint(r) || Visible(string(r)) != string(r)) {
					t.Errorf("%s %q: the card holds %q", place, evil, r)
				}
			}
			if !c.Hidden() {
				t.Errorf("%s %q: the card does not say that something hides", place, evil)
			}
			if c.Hidden() != strings.Contains(text, "It contains hidden characters") {
				t.Errorf("%s %q: hidden is %t", place, evil, c.Hidden())
			}
		}
	}
}

// C-34 to C-39, M-124 to M-127, D-13: the words of a question in 简体中文, exactly.
func TestCardInChinese(t *testing.T) {
	t.Parallel()
	bash := asked("Bash", map[string]any{"command": "npm install x"})
	bash.Access, bash.CommandInfo, bash.Rules = "command", &umpire.CommandInfo{Command: "npm install x"}, []string{"Bash(npm install x:*)"}
	write := asked("Write", map[string]any{"file_path": "a"})
	write.Access, write.Accesses = "write", []umpire.Access{{Kind: umpire.KindWrite, Target: "/p/a", Resolved: "/p/a", Place: umpire.PlaceInside}}
	fetch := asked("WebFetch", map[string]any{"url": "http://x"})
	fetch.Accesses = []umpire.Access{{Kind: umpire.KindNetwork, Target: "x"}}
	for _, test := range []struct {
		asked umpire.Pending
		want  string
	}{
		{bash, "\n因为\n⚠️ 权限请求\nBash 工具请求执行:\n$ npm install x\n此命令将执行 shell 操作\n\n"},
		{write, "\n因为\n⚠️ 权限请求\nWrite 工具请求执行:\n此操作将创建或覆盖文件\n\n"},
		{fetch, "\n因为\n⚠️ 权限请求\nWebFetch 工具请求执行:\n此操作将发送网络请求\n\n"},
	} {
		c := New(test.asked, umpire.Session{ID: "s1", Root: "/p"}, "", chineseText, test.asked.AskedAt, false)
		if text := c.Whole(); !strings.HasPrefix(text, test.want) {
			t.Errorf("want %q at the head of\n%s", test.want, text)
		}
	}
	var buttons []string
	for _, o := range New(bash, umpire.Session{ID: "s1", Root: "/p"}, "", chineseText, bash.AskedAt, false).Options() {
		buttons = append(buttons, o.Key+" "+o.Text)
	}
	all := strings.Join(buttons, "\n")
	for _, want := range []string{"y 允许一次", "s 允许本次对话", "p 始终允许：", "n 拒绝", "c 取消"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
}

// TestHeadline: the first line says what a call would do, or what its trial did, and quotes the agent's claim apart.
func TestHeadline(t *testing.T) {
	t.Parallel()
	edit := asked("Edit", map[string]any{"file_path": "greet.sh"})
	edit.Accesses = []umpire.Access{{Kind: umpire.KindWrite, Target: "/p/scripts/greet.sh", Verdict: umpire.Ask,
		Resolved: "/p/scripts/greet.sh", Place: umpire.PlaceInside, Reason: umpire.Say("changes a file")}}
	_, c := shown(t, edit, false)
	if got, want := c.Headline(), "writes scripts/greet.sh"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	tried := asked("Bash", map[string]any{"command": "make", "description": " says\n\u202ewhy "})
	tried.CommandInfo, tried.Trial = &umpire.CommandInfo{Command: "make"}, &umpire.Trial{State: umpire.TrialWaiting}
	tried.Trial.Effects.List = []umpire.TrialEffect{{Kind: umpire.EffectChanged, Path: "/p/a"}, {Kind: umpire.EffectDeleted, Path: "/p/b"}}
	_, c = shown(t, tried, false)
	if got, want := c.Headline(), "in a trial it deleted 1 file, changed 1 file; nothing is real yet"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got, field := c.Claim()
	if want := `the agent claims: “says \u202ewhy”`; got != want || field != "" || !c.Hidden() {
		t.Errorf("%q of %q, want %q; hidden is %t", got, field, want, c.Hidden())
	}
}

// A card of waiting effects says how long undo keeps the replaced files.
func TestCardSaysWhenUndoEnds(t *testing.T) {
	t.Parallel()
	day := int64(24 * 60 * 60)
	for seconds, want := range map[int64]string{
		7 * day: "You can undo this for up to 7d, and for at least a day unless git ignores the files.",
		day / 2: "You can undo this for up to 12h.", 0: "",
	} {
		p := asked("Bash", map[string]any{"command": "make"})
		p.Trial = &umpire.Trial{State: umpire.TrialWaiting, UndoSeconds: seconds}
		if text, _ := shown(t, p, false); strings.Contains(text, "You can undo") {
			t.Errorf("nothing changed:\n%s", text)
		}
		p.Trial.Effects.List = []umpire.TrialEffect{{Kind: umpire.EffectDeleted, Path: "/p/b"}}
		if text, _ := shown(t, p, false); !strings.Contains(text, want) || strings.Contains(text, "You can undo") != (want != "") {
			t.Errorf("%d seconds: no %q in\n%s", seconds, want, text)
		}
		p.Trial.State = umpire.TrialDiscarded
		if text, _ := shown(t, p, false); strings.Contains(text, "You can undo") {
			t.Errorf("discarded:\n%s", text)
		}
	}
}

// TestEmojiHideNothing: the presentation of a symbol does not count as hidden text.
func TestEmojiHideNothing(t *testing.T) {
	t.Parallel()
	if text, c := shown(t, asked("Write", map[string]any{"content": "⚠️ done ✔️ 工具 é\n\tnext"}), false); c.Hidden() {
		t.Errorf("hidden:\n%s", text)
	}
}

// TestCardTellsThatItHasParts: a card with only parts of an input says so, with the input's size.
func TestCardTellsThatItHasParts(t *testing.T) {
	t.Parallel()
	p := asked("Bash", map[string]any{"command": "make"})
	if whole, _ := shown(t, p, false); strings.Contains(whole, "only parts") {
		t.Errorf("a whole card says\n%s", whole)
	}
	p.InputSize = 3_000_000
	if part, _ := shown(t, p, false); !strings.Contains(part, "The call has 3000000 bytes, and this shows only parts of it.") {
		t.Errorf("a card of parts says\n%s", part)
	}
}

// TestCardKeepsTheEnd: of a long text the middle is left out, and counted.
func TestCardKeepsTheEnd(t *testing.T) {
	t.Parallel()
	text, _ := shown(t, asked("Bash", map[string]any{"command": "echo " + strings.Repeat("x", 50_000) + "; rm -rf /"}), false)
	if !strings.Contains(text, "; rm -rf /") || !strings.Contains(text, "characters left out") || len(text) > 3*(cardHead+cardTail) {
		t.Errorf("%d bytes: %.200s", len(text), text)
	}
	forged, _ := shown(t, asked("Write", map[string]any{"content": "a\n\n  answer:        approve\nrisk low"}), false)
	for line := range strings.Lines(forged) {
		if strings.Contains(line, "answer:") && !strings.HasPrefix(line, "    | ") {
			t.Errorf("a text plays a row of the card: %q", line)
		}
	}
}

func TestReach(t *testing.T) {
	t.Parallel()
	command := asked("Bash", map[string]any{"command": "npm ci"})
	command.Access, command.Rules = "command", []string{"Bash(npm ci:*)", "Read(/q/x)"}
	edit := asked("Edit", map[string]any{"file_path": "a"})
	named := asked("Edit", map[string]any{"file_path": "a"})
	named.Suggestions = []umpire.Suggestion{
		{Action: umpire.Allow, Tool: "Edit", Match: umpire.Match{PathGlob: "a"}, Width: umpire.WidthExact, Scope: umpire.ScopeSession},
		{Action: umpire.Allow, Tool: "Edit", Match: umpire.Match{PathGlob: "/q/x"}, Width: umpire.WidthExact, Scope: umpire.ScopeSession},
	}
	outside := asked("Read", map[string]any{"file_path": "/q/x"})
	outside.Code = umpire.CodeExternalDirectory
	outside.Suggestions = []umpire.Suggestion{
		{Action: umpire.Allow, Tool: "Read", Match: umpire.Match{PathGlob: "/q/x"}, Width: umpire.WidthExact, Scope: umpire.ScopeSession},
		{Action: umpire.Allow, Tool: "Read", Match: umpire.Match{PathGlob: "/q/**"}, Width: umpire.WidthFolder, Scope: umpire.ScopeSession},
	}
	wider := umpire.Answer{Scope: umpire.ScopeSession, Width: umpire.WidthFolder}
	_, c := shown(t, outside, false)
	if got, want := strings.Join(c.Reach(wider), "\n"), "until this session ends: Read(/q/**) (read anything below /q)"; got != want {
		t.Errorf("the folder: %q, want %q", got, want)
	}
	every := asked("Edit", map[string]any{"file_path": "a"})
	every.Suggestions = []umpire.Suggestion{
		{Action: umpire.Allow, Tool: "Edit", Match: umpire.Match{PathGlob: "a"}, Width: umpire.WidthExact},
		{Action: umpire.Allow, Tool: "Edit", Width: umpire.WidthTool},
	}
	_, c = shown(t, every, false)
	var keys []string
	for _, o := range c.Options() {
		keys = append(keys, o.Key)
		if strings.Contains(o.Text, "every file") != (o.Answer.Width == umpire.WidthTool) {
			t.Errorf("%s %s: %s", o.Key, o.Answer.Width, o.Text)
		}
	}
	if want := []string{"y", "s", "s2", "p2", "g2", "n", "c"}; !slices.Equal(keys, want) {
		t.Errorf("the card offers %v, want %v", keys, want)
	}
	for _, tt := range []struct {
		p     umpire.Pending
		scope umpire.Scope
		rule  string
		want  string
	}{
		{command, umpire.ScopeOnce, "", "this call only"},
		{command, umpire.ScopeSession, "", "until this session ends: exactly this command"},
		{command, umpire.ScopeSession, "Bash(npm:*)", "until this session ends: Bash(npm:*)"},
		{command, umpire.ScopeProject, "", "writes the rule \"allow Bash(npm ci:*)\" into /p/.umpire/permissions.json\nwrites the rule \"allow Read(/q/x)\" into /p/.umpire/permissions.json"},
		{command, umpire.ScopeGlobal, "Bash(npm:*)", "writes the rule \"allow Bash(npm:*)\" into ~/.umpire/permissions.json"},
		{edit, umpire.ScopeSession, "", "until this session ends: every call of Edit inside the project"},
		{edit, umpire.ScopeProject, "", ""},
		{named, umpire.ScopeSession, "", "until this session ends: every call of Edit inside the project\nuntil this session ends: Edit(/q/x)"},
		{outside, umpire.ScopeSession, "", "until this session ends: Read(/q/x)"},
	} {
		_, c := shown(t, tt.p, false)
		if got := strings.Join(c.Reach(umpire.Answer{Scope: tt.scope, Rule: tt.rule}), "\n"); got != tt.want {
			t.Errorf("%s %s %q: %q, want %q", tt.p.Tool, tt.scope, tt.rule, got, tt.want)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	if n := Columns("ab工具(低)"); n != 10 {
		t.Errorf("%d columns", n)
	}
}

// A list shows the subject of a call, even for a tool that is known only by name.
func TestTitleOf(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]umpire.Pending{
		`mcp__db__run {"sql":"drop table x"}`: {Tool: "mcp__db__run", Input: json.RawMessage(`{"sql":"drop table x"}`), Accesses: []umpire.Access{{Kind: umpire.KindInvoke, Target: "mcp__db__run"}}},
		`other {"a":1}`:                       {Tool: "other", Input: json.RawMessage(`{"a":1}`)},
		"none":                                {Tool: "none", Input: json.RawMessage("{}")},
		"Write a.txt":                         {Tool: "Write", Input: json.RawMessage(`{"file_path":"/p/a.txt"}`), Accesses: []umpire.Access{{Kind: umpire.KindWrite, Target: "/p/a.txt", Resolved: "/p/a.txt", Place: umpire.PlaceInside}}},
		"Bash mkdir a …":                      {Tool: "Bash", Input: json.RawMessage(`{"command":"mkdir a\ncp b a"}`), CommandInfo: &umpire.CommandInfo{}},
	} {
		if got := TitleOf(&p, umpire.Session{Root: "/p"}, "", catalogue.English); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
