package run

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/view"
)

// TestRunViewShowsNothingRaw: text from a model or a file cannot move the cursor or start
// a new line.
func TestRunViewShowsNothingRaw(t *testing.T) {
	t.Parallel()
	var out, remarks bytes.Buffer
	v := &runView{App: &app.App{Surroundings: app.Surroundings{Stdout: &out, Stderr: &remarks, ToTerminal: true}}}
	v.Said("one\ttwo\r\nthree\x1b[2J\u202e")
	call := umpire.BatchCall{Tool: "Bash", Input: json.RawMessage(`{"command":"a\n[ok] b\u001b[1A"}`), Reason: "no\r[ok] c"}
	v.Ended(call, umpire.Result{Status: umpire.ResultDenied})
	v.Ended(call, umpire.Result{Status: umpire.ResultError, Output: "exit code 3\x1b[2J\nmore"})
	if got, want := out.String(), "one    two\nthree\\x1b[2J\\u202e\n"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	want := "[denied] Bash a\\n[ok] b\\x1b[1A\n  no\\r[ok] c\n[error] Bash a\\n[ok] b\\x1b[1A\n  exit code 3\\x1b[2J\n"
	if got := remarks.String(); got != want {
		t.Errorf("remarked %q, want %q", got, want)
	}
}

// TestRunViewInJSON: each event is a line, and there is no other output.
func TestRunViewInJSON(t *testing.T) {
	t.Parallel()
	var out, remarks bytes.Buffer
	v := &runView{App: &app.App{Surroundings: app.Surroundings{Stdout: &out, Stderr: &remarks}}, json: true, quiet: true}
	v.Event(umpire.Event{Seq: 7, Kind: umpire.EventNotice, Reason: "a < b && c\n"})
	v.Said("text")
	v.Ended(umpire.BatchCall{Tool: "Bash"}, umpire.Result{Status: umpire.ResultOK})
	v.Waiting(2)
	if got, want := out.String(), `{"seq":7,"at":"0001-01-01T00:00:00Z","kind":"Notice","reason":"a < b && c\n"}`+"\n"; got != want || remarks.Len() > 0 {
		t.Errorf("wrote %q, want %q; remarked %q", got, want, remarks.String())
	}
}

// TestRunViewShowsWhatACommandPrints: whole lines as they come, without control sequences.
func TestRunViewShowsWhatACommandPrints(t *testing.T) {
	t.Parallel()
	var out, remarks bytes.Buffer
	v := &runView{App: &app.App{Surroundings: app.Surroundings{Stdout: &out, Stderr: &remarks, ToTerminal: true}}}
	v.Output("a", "one\ntw")
	v.Output("a", "o\x1b[2J\r\n10%\r20%\nrest")
	if got, want := remarks.String(), "  | one\n  | two\\x1b[2J\n  | 20%\n"; got != want {
		t.Errorf("showed %q, want %q", got, want)
	}
	remarks.Reset()
	v.Ended(umpire.BatchCall{Tool: "Bash"}, umpire.Result{Status: umpire.ResultOK})
	if got, want := remarks.String(), "  | rest\n[ok] Bash \n"; got != want {
		t.Errorf("showed %q, want %q", got, want)
	}
	v.ToTerminal = false
	remarks.Reset()
	if v.Output("a", "a\n"); remarks.Len() > 0 || out.Len() > 0 {
		t.Errorf("showed %q without a terminal", remarks.String())
	}
}

func TestSubjectOfInput(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"command":"ls","description":"list"}`: "ls", `{"path":"a","pattern":"b"}`: "a", `{"pattern":"b"}`: "b",
		`{"file_path":"","path":"x"}`: "x", `{}`: "{}", `{"command":7}`: `{"command":7}`, `[`: "[",
	} {
		if got := view.SubjectOf(json.RawMessage(input)); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// A server is started only for profiles that may call one of its tools.
func TestMayName(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"*": true, "mcp__*": true, "mcp__s": true, "mcp__s__echo": true, "mcp__s__e*": true, "mcp__?__echo": true, "mcp__s*": true,
		"": false, "Read": false, "Re*": false, "mcp__st": false, "mcp__t__*": false, "s": false, "mcp": false,
	} {
		if got := mayName(pattern, "mcp__s__"); got != want {
			t.Errorf("%q: %t", pattern, got)
		}
	}
}

// TestRunViewShowsAReplyComingIn: pieces appear as they come, without control sequences.
// The whole text appears once, and an interrupted reply does not count as complete.
func TestRunViewShowsAReplyComingIn(t *testing.T) {
	t.Parallel()
	var out, remarks bytes.Buffer
	v := &runView{App: &app.App{Surroundings: app.Surroundings{Stdout: &out, Stderr: &remarks, ToTerminal: true}}}
	want := func(shown string) {
		t.Helper()
		if got := out.String(); got != shown {
			t.Errorf("showed %q, want %q", got, shown)
		}
		out.Reset()
	}
	v.Saying(llm.Delta{Thinking: "hm"})
	v.Saying(llm.Delta{Text: "one\x1b["})
	want("one\\x1b[")
	v.Saying(llm.Delta{Text: "2J\r"})
	v.Saying(llm.Delta{Text: "\ntwo \u2708"})
	v.Saying(llm.Delta{Text: "\ufe0f \u202e"})
	want("2J\ntwo \u2708\ufe0f \\u202e")
	v.Said("one\x1b[2J\r\ntwo \u2708\ufe0f \u202e")
	want("\n")

	v.Saying(llm.Delta{Text: "half a "})
	v.Saying(llm.Delta{Again: true})
	v.Saying(llm.Delta{Text: "whole"})
	v.Said("whole")
	want("half a \nwhole\n")
	if got := remarks.String(); got != "umpire: the reply broke off; the model is asked again\n" {
		t.Errorf("remarked %q", got)
	}

	v.Saying(llm.Delta{Text: "some"})
	v.Said("something else")
	want("some\nsomething else\n")

	v.json = true
	v.Saying(llm.Delta{Text: "text"})
	v.json, v.ToTerminal = false, false
	v.Saying(llm.Delta{Text: "text"})
	want("")
	v.Said("text")
	want("text\n")
}
