package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// talk is a conversation with everything in it.
func talk(d *drive) {
	d.press("install react", "enter")
	d.m.handler.Saying(llm.Delta{Text: "I will *look* "})
	d.m.handler.Saying(llm.Delta{Text: "first"})
	d.m.handler.Said("# Plan\n\nI will **look** first:\n\n- `a.txt`\n- 工具\n\n```go\nfunc main() {}\n```")
	ended := func(id umpire.CallID, tool, input string, status umpire.ResultStatus, output string, reason umpire.Phrase) {
		d.m.handler.Ended(umpire.BatchCall{ID: id, Tool: tool, Input: []byte(input), Reason: reason}, umpire.Result{Status: status, Output: output})
	}
	ended("c1", "Read", `{"file_path":"a.txt"}`, umpire.ResultOK, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10", "")
	ended("c2", "Bash", `{"command":"make"}`, umpire.ResultError, "exit code 2\nmake: *** no rule", "")
	ended("c3", "Write", `{"file_path":"b.txt"}`, umpire.ResultDenied, "[Tool Denied] ...",
		umpire.Say("Denied by rule: %s", "d1"))
	d.press("and then test it", "enter")
	d.m.handler.Said("done")
}

// TestConversationScreens pins the look of a conversation.
func TestConversationScreens(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text          *catalogue.Language
		width, height int
	}{
		"talk_80x24": {nil, 80, 24}, "talk_200x50": {nil, 200, 50}, "talk_zh_80x24": {chineseText(), 80, 24}, "talk_zh_200x50": {chineseText(), 200, 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := driven(t, tt.text, tt.width, tt.height)
			talk(d)
			d.golden(name)
		})
	}
}

// TestStreaming: a reply is visible while it comes in, and appears once when it is complete.
func TestStreaming(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.press("hello", "enter")
	d.sees("> hello", "working; Esc stops")
	d.m.handler.Saying(llm.Delta{Text: "one **tw"})
	d.sees("one **tw")
	d.m.handler.Saying(llm.Delta{Text: "o** three"})
	d.sees("one two three")
	d.m.handler.Said("one **two** three")
	if n := strings.Count(d.screenText(), "one two three"); n != 1 {
		t.Errorf("said %d times", n)
	}
	d.m.handler.Saying(llm.Delta{Text: "broken o"})
	d.tell(turnMsg{err: errors.New("the model hung up")})
	d.sees("the model hung up")
	d.sawNot("broken o", "working")
}

// TestRunningCall: a long command shows its time and its latest output.
func TestRunningCall(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.press("build", "enter")
	d.tell(watchMsg{umpire.Event{Seq: 1, Session: "s1", Kind: umpire.EventCallStarted, Call: "c1", Tool: "Bash", At: d.now, Accesses: npm().Accesses}})
	d.m.handler.Output("c1", "one\ntwo\nthree\n10%\r20%")
	d.m.handler.Output("c1", "\r30%")
	d.pass(65 * time.Second)
	d.sees("● Bash npm install react 1m5s", "  two", "  three", "  30%")
	d.sawNot("one", "20%")
	d.m.handler.Ended(umpire.BatchCall{ID: "c1", Tool: "Bash", Input: []byte(`{"command":"npm install react"}`)}, umpire.Result{Status: umpire.ResultOK, Output: "all"})
	d.sees("✓ ok Bash npm install react")
	d.sawNot("30%", "●")
}

// TestStartedWhileHistoryWasRead: a call that started while the history was read is shown
// like one that was watched.
func TestStartedWhileHistoryWasRead(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.press("build", "enter")
	started := umpire.Event{
		Seq: 1, Session: "s1", Kind: umpire.EventCallStarted, Call: "c1", Tool: "Bash", At: d.now, Accesses: npm().Accesses,
	}
	d.tell(historyMsg{"s1", []umpire.Event{started}})
	d.tell(watchMsg{started})
	d.m.handler.Output("c1", "one\n")
	d.pass(5 * time.Second)
	d.sees("● Bash npm install react 5s", "  one")
	d.tell(watchMsg{umpire.Event{Seq: 2, Session: "s1", Kind: umpire.EventCallFinished, Call: "c1", Tool: "Bash", At: d.now}})
	d.sawNot("●", "one")

	finished := umpire.Event{Seq: 4, Session: "s1", Kind: umpire.EventCallFinished, Call: "c2", At: d.now}
	started.Seq, started.Call = 3, "c2"
	d.tell(historyMsg{"s1", []umpire.Event{started, finished}})
	d.sawNot("●")
}

// TestResize: every line is present at any screen size, and no line is lost when the
// screen grows back.
func TestResize(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	talk(d)
	d.ask(npm())
	before := d.screenText()
	for _, size := range [][2]int{{200, 50}, {20, 6}, {1, 1}, {40, 10}, {300, 8}, {80, 24}} {
		d.tell(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		d.screenText()
		d.press("pgup", "pgup", "pgup", "pgdown", "pgdown", "pgdown")
		d.screenText()
	}
	d.press("esc")
	if diff := cmp.Diff(before, d.screenText()); diff != "" {
		t.Errorf("after resizing (-before +after):\n%s", diff)
	}
}

// TestScrolling reads the whole conversation, line by line from its end.
func TestScrolling(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 10)
	for i := range 100 {
		d.tell(noteMsg{text: "line " + string(rune('a'+i%26)) + strings.Repeat("x", i)})
	}
	seen := map[string]bool{}
	for range 200 {
		for line := range strings.Lines(d.screenText()) {
			seen[strings.TrimSpace(line)] = true
		}
		d.press("pgup")
	}
	for i := range 80 {
		if line := "line " + string(rune('a'+i%26)) + strings.Repeat("x", i); len(line) <= 80 && !seen[line] {
			t.Errorf("%q was never seen", line)
		}
	}
	d.press("new", "enter") // sending a message scrolls to the end
	d.sees("> new")
}

// TestQueue: a message that comes while the agent works is queued, and seen as queued
// until the model is asked.
func TestQueue(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.press("one", "enter")
	d.ask(npm())
	d.press("tab", "two", "enter")
	d.sees("> two (queued)")
	if diff := cmp.Diff([]string{"two"}, d.gate.prompts); diff != "" || len(d.turns) != 1 {
		t.Errorf("%s, turns %q", diff, d.turns)
	}
	d.tell(watchMsg{umpire.Event{Seq: 9, Session: "s1", Kind: umpire.EventModelRequested}})
	d.sees("> two\n")
	d.gate.pending = nil
	d.tell(turnMsg{})
	if diff := cmp.Diff([]string{"one", ""}, d.turns); diff != "" {
		t.Errorf("what was queued too late is not seen to: %s", diff)
	}
}

// TestStopping: Esc stops the turn, but not while a call waits for its answer; Ctrl+C
// does too, and quits when it comes twice.
func TestStopping(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	stopped := 0
	d.m.beginTurn = func(umpire.Session, string) (func(), tea.Cmd) { return func() { stopped++ }, nil }
	d.press("one", "enter")
	d.ask(npm())
	d.press("tab", "esc")
	if stopped != 0 {
		t.Error("stopped while a call waits")
	}
	d.gate.pending = nil
	d.tell(watchMsg{umpire.Event{Seq: 9, Session: "s1", Kind: umpire.EventPermissionApproved}})
	d.press("esc", "esc")
	if stopped != 1 {
		t.Errorf("stopped %d times", stopped)
	}
	d.tell(turnMsg{err: errors.New("context canceled")})
	d.sees("stopped")
	d.sawNot("context canceled")
	d.press("ctrl+c")
	d.sees("Ctrl+C again quits")
	d.pass(quitTime + 1)
	if d.press("ctrl+c"); d.m.leaving {
		t.Error("left after one Ctrl+C")
	}
	if d.press("ctrl+c"); !d.m.leaving {
		t.Error("two Ctrl+C do not leave")
	}
}

// TestStatusLine pins N-44 to N-47: the state, the type, the risk and the reason of the
// open question, or of the last decision.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 120, 24)
	d.sees("permission idle", "project p · mode default · session s1 · script:demo.json")
	d.ask(npm())
	d.sees(`permission waiting · shell_execute · risk medium · Tool "Bash" requires approval (moderate)`)
	d.m.turn.stop = func() {}
	d.gate.session.Permission, d.gate.session.Blocked = umpire.StateDenied, &umpire.Blocked{Code: umpire.CodeDenied, Detail: "no\x1b[2J"}
	d.gate.pending = nil
	d.tell(watchMsg{umpire.Event{Seq: 9, Session: "s1", Kind: umpire.EventPermissionRejected, Type: umpire.FileWrite, Risk: "high"}})
	d.sees(`permission denied · file_write · risk high · no\x1b[2J`)
	d.gate.session.Blocked = &umpire.Blocked{Code: umpire.CodeCancelled} // N-72: no words, so the code
	d.tell(watchMsg{umpire.Event{Seq: 10, Session: "s1", Kind: umpire.EventPermissionRejected, Type: umpire.FileWrite, Risk: "high"}})
	d.sees("risk high · cancelled")
	d.gate.session.Permission = umpire.StateAllowed
	d.tell(watchMsg{umpire.Event{Seq: 11, Session: "s1", Kind: umpire.EventCallFinished}})
	d.sees("permission allowed · file_write · risk high\n")
	d.tell(turnMsg{})
	d.sees("permission idle\n") // the state ends with the turn
}

// TestCommands runs all commands.
func TestCommands(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 100, 30)
	say := func(text string, want ...string) {
		t.Helper()
		d.press(text, "enter")
		d.sees(want...)
	}
	say("/mode", "mode default")
	say("/mode ask", "mode ask")
	say("/mode nonsense", `mode "nonsense": want one of`)
	say("/mode bypass", "invalid")
	say("/plan", "mode plan")
	say("/exit-plan", "· mode ask ·")
	say("/exit-plan", "the session is not in plan mode")
	say("/status", "permission idle", "project 0123456789ab  /p", "model script:demo.json")
	say("/tineline", "did you mean /timeline?")
	say("/fork", "belongs to another project")
	say("/help", "/exit-plan", "Ctrl+C", "any key: back")
	d.press("esc")
	d.sawNot("any key")
	say("/etc/passwd is a file", "> /etc/passwd is a file") // a path is a message
	say("/resume s2", "the agent is working in this session")
	d.tell(turnMsg{})
	say("/resume s2", "resuming session s2")
	if diff := cmp.Diff([]string{"fork s1", "resume s2"}, d.host.went); diff != "" {
		t.Error(diff)
	}
	d.tell(turnMsg{})
	if d.press("/quit", "enter"); !d.m.leaving {
		t.Error("/quit does not leave")
	}
}

// TestScreens pins the screens in front of the conversation.
func TestScreens(t *testing.T) {
	t.Parallel()
	for language, text := range map[string]*catalogue.Language{"": nil, "zh_": chineseText()} {
		d := driven(t, text, 80, 24)
		d.gate.others = []umpire.Session{{ID: "s0", Mode: umpire.ModePlan, State: umpire.SessionWaiting, Dir: "/p/sub", ActiveAt: begun.Add(-time.Hour)}, {ID: "hook", External: true}}
		d.gate.session.ActiveAt = begun
		d.gate.rules = []umpire.Rule{
			{ID: "t1", Action: umpire.Allow, Tool: "Bash", Match: umpire.Match{CommandPrefix: "npm test"}, Source: umpire.SourceProject, File: "/p/.umpire/permissions.json", Line: 3},
			{ID: "b1", Action: umpire.Ask, Tool: "Read", Match: umpire.Match{PathGlob: "**/.env"}, Source: umpire.SourceBuiltin},
		}
		d.gate.status = umpire.RuleStatus{Files: []umpire.RuleFile{
			{Source: umpire.SourceProject, Path: "/p/.umpire/permissions.json", Health: "degraded", Rules: 1, Asleep: 1, Problems: []umpire.RuleProblem{{Line: 4, Column: 2, Text: "unexpected end"}}},
		}}
		e := umpire.Event{Seq: 1, Session: "s1", Kind: umpire.EventPermissionAsked,
			At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), Tool: "Bash", Risk: "medium", Accesses: npm().Accesses,
			Reason: umpire.Say("Tool %q requires approval (%s)", "Bash", umpire.Phrase("moderate"))}
		d.tell(watchMsg{e})
		for _, name := range []string{"timeline", "sessions", "rules", "agents", "help"} {
			d.press("/"+name, "enter")
			d.golden("screen_" + language + name)
			d.press("esc")
		}
	}
}

// TestTimelineFollows: the timeline shows events as they come, in full on request.
func TestTimelineFollows(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.press("/timeline", "enter")
	for i := range 40 {
		d.tell(watchMsg{umpire.Event{Seq: int64(i + 1), Session: "s1", Kind: umpire.EventCallFinished, Reason: umpire.Verbatim(strings.Repeat("long ", 30) + "end")}})
	}
	d.sees("›     40")
	d.press("enter")
	d.sees("end", "Esc: back")
	d.press("esc")
	scope := umpire.ScopeSession
	d.tell(watchMsg{umpire.Event{
		Seq: 50, Session: "s1", Kind: umpire.EventPermissionApproved, Type: umpire.ShellExecute, Request: "q7", Rule: "r7", Actor: "ann", Scope: &scope,
	}})
	d.sees("›     50")
	d.press("enter")
	d.sees("type: shell_execute", "rule: r7", "scope: session", "actor: ann", "request: q7") // N-71, N-94
	d.press("esc", "k", "esc")
	d.sees("Message, or /help")
}

// TestSessionsAreChosen: Enter resumes a session of the list, f forks it.
func TestSessionsAreChosen(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.gate.others = []umpire.Session{{ID: "elsewhere", Project: "other", Root: "/q"}, {ID: "s0", Project: "other", Root: "/p"}}
	d.gate.session.Root = "/p"
	d.press("/sessions", "enter", "down", "f")
	d.press("/resume", "enter", "j", "enter")
	if diff := cmp.Diff([]string{"fork s0", "resume s0"}, d.host.went); diff != "" {
		t.Error(diff)
	}
}

// TestRulesAreRemoved: x and y remove a rule from one of umpire's files.
func TestRulesAreRemoved(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.gate.rules = []umpire.Rule{{ID: "b1", Tool: "Read", Source: umpire.SourceBuiltin}, {ID: "t1", Tool: "Edit", Source: umpire.SourceProject}}
	d.press("/rules", "enter", "x")
	d.sees("umpire cannot edit the file of this rule")
	d.press("j", "x", "n", "x")
	d.sees("y: remove Edit")
	if len(d.gate.removed) > 0 {
		t.Fatalf("removed %q", d.gate.removed)
	}
	d.press("y")
	d.sawNot("t1")
	if diff := cmp.Diff([]umpire.RuleID{"t1"}, d.gate.removed); diff != "" {
		t.Error(diff)
	}
}

// TestResumedShowsTheConversation: a resumed session shows its earlier messages and the
// results of its calls, and can be scrolled up. None of it is obeyed. A call without a
// result still has to run.
func TestResumedShowsTheConversation(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	content := func(v any) json.RawMessage {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	said := umpire.Conversation{Batches: map[umpire.BatchID]umpire.Done{}}
	add := func(role llm.Role, batch umpire.BatchID, v any) {
		said.Messages = append(said.Messages, umpire.Message{N: int64(len(said.Messages) + 1), Role: string(role), Batch: batch, Content: content(v)})
	}
	for i := range earlierShown {
		add(llm.RoleUser, "", fmt.Sprintf("question %d\x1b[2J", i))
	}
	add(llm.RoleAssistant, "m1", llm.Message{Content: []llm.Block{
		llm.Text("I *look*"), llm.Call("c1", "Bash", json.RawMessage(`{"command":"ls"}`)), llm.Call("c2", "Bash", json.RawMessage(`{"command":"waits"}`)),
		llm.Call("c3", "Edit", json.RawMessage(`{"path":"b"}`)),
	}})
	said.Batches["m1"] = umpire.Done{Results: []umpire.Result{
		{Call: "c1", Status: umpire.ResultOK, Output: "a.txt"},
		{Call: "c3", Status: umpire.ResultDenied, Code: umpire.CodeDenied, Output: `[Tool Denied] The user denied the "Edit" tool call (ID: c3). Reason: 不行. Please adjust your approach.`},
	}}
	add(llm.RoleAssistant, "", "another form")
	d.gate.said = said
	d.gate.others = []umpire.Session{{ID: "s2", Project: someProject}}
	d.press("/resume s2", "enter")
	d.sees("resuming session s2", "I look", "✓ ok Bash ls\n  a.txt\n✗ denied Edit b\n  不行\n", `> question 199\x1b[2J`)
	d.sawNot("waits")
	for range 100 {
		d.press("pgup")
	}
	d.sees("2 earlier messages; /timeline shows all that happened", "> question 2\\x1b")
	d.sawNot("question 1\\x1b")
	d.press("pgdown") // scrolling stops at the end
	d.sawNot("2 earlier messages")
}

// TestWrittenIsCalledBack: Up and Down step through earlier messages and commands, and
// back to the draft. Within a message they move the cursor.
func TestWrittenIsCalledBack(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.press("up")
	d.press("first", "enter", "/mode", "enter")
	d.tell(tea.PasteMsg{Content: "two\nlines"})
	d.press("enter", "draft", "up")
	wrote := func(want string) {
		t.Helper()
		if got := d.m.input.Value(); got != want {
			t.Errorf("%q is written, want %q", got, want)
		}
	}
	wrote("two\nlines")
	d.press("up") // to its first line
	wrote("two\nlines")
	d.press("up")
	wrote("/mode")
	d.press("up", "up")
	wrote("first")
	d.press("down", "down", "down", "down")
	wrote("draft")
	d.press("down")
	wrote("draft")
	d.press("ctrl+c") // clears the field, and stops nothing
	wrote("")
	d.sawNot("Ctrl+C again quits")
	d.press("up")
	wrote("draft")
}

// TestHelpIsReadToItsEnd: the end of the help can be reached on a small screen.
func TestHelpIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 40, 10)
	d.press("/help", "enter")
	d.sawNot("Ctrl+C")
	d.press("pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "down")
	d.sees("Ctrl+C", "j/k: read on")
	d.press("esc")
	d.sees("Message, or /help")
}

// TestWhatIsReadStays: after scrolling up, the visible lines stay in place while new
// ones arrive. Sending a message scrolls down.
func TestWhatIsReadStays(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 12)
	for i := range 40 {
		d.m.log.say(noteEntry, fmt.Sprintf("line %d.", i))
	}
	d.press("pgup", "pgup")
	lines := strings.Split(d.screenText(), "\n")
	top := lines[0]
	d.tell(saidMsg{"more\n\nand more"})
	d.m.handler.Saying(llm.Delta{Text: "still\n\ncoming"})
	if now, _, _ := strings.Cut(d.screenText(), "\n"); now != top {
		t.Errorf("%q stands where %q was read", now, top)
	}
	d.press("mine", "enter")
	d.sees("> mine")
}

// TestReplyThatBreaksOff: a person sees that the model works, for how long, and that the
// request is repeated. A failed turn says that queued messages are kept.
func TestReplyThatBreaksOff(t *testing.T) {
	t.Parallel()
	d := driven(t, nil, 80, 24)
	d.press("go", "enter")
	d.sees("… working; Esc stops\n")
	d.m.handler.Saying(llm.Delta{Text: "half a rep"})
	d.pass(75 * time.Second)
	d.sees("half a rep\n\n… working; Esc stops · 1m15s")
	d.m.handler.Saying(llm.Delta{Again: true})
	d.sawNot("half a rep")
	d.sees("the reply broke off, and the model is asked again")
	d.m.handler.Saying(llm.Delta{Text: "the whole reply"})
	d.sees("the whole reply")
	d.press("more", "enter")
	d.tell(turnMsg{err: errors.New("the provider failed")})
	d.sees("the provider failed", "messages that wait to be sent with the next one: 1", "> more (queued)")
}
