package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

func user(blocks ...llm.Block) llm.Message {
	return llm.Message{Role: llm.RoleUser, Content: blocks}
}

func assistant(blocks ...llm.Block) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Content: blocks}
}

func call(id string) llm.Block { return llm.Call(id, "Read", json.RawMessage(`{"file_path":"a"}`)) }

func TestCheckRefusesWhatRealModelsRefuse(t *testing.T) {
	t.Parallel()
	tool := llm.Tool{Name: "Read", Schema: json.RawMessage(`{"type":"object"}`)}
	for _, tt := range []struct {
		name string
		want string // part of the reason; "" if there should be no error
		r    llm.Request
	}{
		{"one question", "", llm.Request{Messages: []llm.Message{user(llm.Text("hello"))}}},
		{"calls with their results", "", llm.Request{Tools: []llm.Tool{tool}, Messages: []llm.Message{
			user(llm.Text("go")), assistant(llm.Text("so"), call("a"), call("b")),
			user(llm.Result("a", "1", false), llm.Result("b", "", true), llm.Text("and then?")),
		}}},
		{"nothing", "messages: want at least one", llm.Request{}},
		{"the assistant first", `messages[0]: role is "assistant", want "user"`, llm.Request{Messages: []llm.Message{assistant(llm.Text("a"))}}},
		{"the assistant last", "messages[1]: the last message is not from the user", llm.Request{Messages: []llm.Message{user(llm.Text("a")), assistant(llm.Text("b"))}}},
		{"one side twice", `messages[1]: role is "user", want "assistant"`, llm.Request{Messages: []llm.Message{user(llm.Text("a")), user(llm.Text("b"))}}},
		{"a call without its result", `messages[2]: call "b" of the previous message has no result`, llm.Request{Messages: []llm.Message{
			user(llm.Text("go")), assistant(call("a"), call("b")), user(llm.Result("a", "1", false)),
		}}},
		{"results in another order", `messages[2]: result 0 answers call "b", want "a"`, llm.Request{Messages: []llm.Message{
			user(llm.Text("go")), assistant(call("a"), call("b")), user(llm.Result("b", "1", false), llm.Result("a", "1", false)),
		}}},
		{"two results of one call", `messages[2]: result 1 answers call "a", which is not an open call`, llm.Request{Messages: []llm.Message{
			user(llm.Text("go")), assistant(call("a")), user(llm.Result("a", "1", false), llm.Result("a", "1", false)),
		}}},
		{"a result of no call", `messages[0]: result 0 answers call "x"`, llm.Request{Messages: []llm.Message{user(llm.Result("x", "1", false))}}},
		{"a result after text", "messages[2].content[1]: a result must come before text", llm.Request{Messages: []llm.Message{
			user(llm.Text("go")), assistant(call("a")), user(llm.Text("hm"), llm.Result("a", "1", false)),
		}}},
		{"an id twice", `messages[3].content[0]: call "a"`, llm.Request{Messages: []llm.Message{
			user(llm.Text("go")), assistant(call("a")), user(llm.Result("a", "1", false)), assistant(call("a")), user(llm.Result("a", "1", false)),
		}}},
		{"a call of the user", `messages[0].content[0]: a message of role "user" cannot contain a block of type "tool_use"`, llm.Request{Messages: []llm.Message{user(call("a"))}}},
		{"an empty text", "messages[0].content[0]: text is empty", llm.Request{Messages: []llm.Message{user(llm.Text(""))}}},
		{"an empty message", "messages[0].content: is empty", llm.Request{Messages: []llm.Message{user()}}},
		{"an input that is no object", `input of call "a" is a list`, llm.Request{Messages: []llm.Message{
			user(llm.Text("go")), assistant(llm.Call("a", "Read", json.RawMessage(`[]`))), user(llm.Result("a", "1", false)),
		}}},
		{"a tool twice", `tools[1]: name "Read"`, llm.Request{Tools: []llm.Tool{tool, tool}}},
		{"a tool without a schema", "tools[0]: input_schema is nothing", llm.Request{Tools: []llm.Tool{{Name: "Read"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := llm.Check(tt.r)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			refused, ok := errors.AsType[*llm.BadRequestError](err)
			if !ok || refused.Status != 400 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a 400 with %q", err, tt.want)
			}
		})
	}
}

// TestScriptFollowsTheConversation: the turn depends on the request alone, so a
// new process plays on where an old one stopped.
func TestScriptFollowsTheConversation(t *testing.T) {
	t.Parallel()
	script, err := llm.ParseScript([]byte(`[
		{"text": "reading", "calls": [{"id": "c1", "tool": "Read", "input": {"file_path": "a"}}, {"id": "c2", "tool": "LS"}]},
		{"text": "read", "something": "else"}]`))
	if err != nil {
		t.Fatal(err)
	}
	r := llm.Request{Messages: []llm.Message{user(llm.Text("go"))}}
	first := assistant(llm.Text("reading"), llm.Call("c1", "Read", json.RawMessage(`{"file_path": "a"}`)), llm.Call("c2", "LS", nil))
	for range 2 {
		expect(t, script, r, first)
	}
	r.Messages = append(r.Messages, first, user(llm.Result("c1", "x", false), llm.Result("c2", "y", false)))
	expect(t, script, r, assistant(llm.Text("read")))
	r.Messages = append(r.Messages, assistant(llm.Text("read")), user(llm.Text("more")))
	expect(t, script, r, assistant(llm.Text("done")))
	r.Messages = r.Messages[:2]
	if _, err := script.Reply(t.Context(), r, nil); err == nil {
		t.Error("a request with a dangling call is answered")
	}
}

func expect(t *testing.T, m llm.Model, r llm.Request, want llm.Message) {
	t.Helper()
	got, err := m.Reply(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestScriptErrorsNameTurnAndField(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"text": "a"}`:                   "want a JSON array of turns",
		"[\n{\"text\": \"a\"},\n{]":       "line 3",
		`[{"text": "a"}, 7]`:              "turn 2: is a number, want an object",
		`[null]`:                          "turn 1: is null, want an object",
		`[{"text": 7}]`:                   "turn 1: text: is a JSON number, want string",
		`[{"calls": [{"tool": "Read"}]}]`: "turn 1: calls[0].id: is missing",
		`[{"calls": [{"id": "a"}]}]`:      "turn 1: calls[0].tool: is missing",
		`[{"calls": {"id": "a"}}]`:        "turn 1: calls: is a JSON object",
		`[{"delay_ms": -1}]`:              "turn 1: delay_ms: -1 is not between",
		`[{"delay_ms": 1e99}]`:            "turn 1: delay_ms",
		`[{"calls": [{"id": 7}]}]`:        "turn 1: calls.id: is a JSON number",
		`[{}, {"calls": [{"id":"a","tool":"R","input":"x"}]}]`:       "turn 2: calls[0].input: is a string, want an object",
		`[{"calls": [{"id":"a","tool":"R"},{"id":"a","tool":"R"}]}]`: `turn 1: calls[1].id: duplicate "a"`,
	} {
		if _, err := llm.ParseScript([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestReadScriptNamesTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte(`[{"text": 7}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{broken, filepath.Join(dir, "missing.json")} {
		if _, err := llm.ReadScript(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("got %v, want the name %s", err, file)
		}
	}
}

// TestScriptDelays: a turn takes its time, and not a moment longer than the
// person wants to wait.
func TestScriptDelays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script, err := llm.ParseScript([]byte(`[{"text": "a", "delay_ms": 1500}]`))
		if err != nil {
			t.Fatal(err)
		}
		r := llm.Request{Messages: []llm.Message{user(llm.Text("go"))}}
		began := time.Now()
		expect(t, script, r, assistant(llm.Text("a")))
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("took %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began = time.Now()
		if _, err := script.Reply(ctx, r, nil); !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

type modelFunc func() (llm.Message, error)

func (f modelFunc) Reply(context.Context, llm.Request, func(llm.Delta)) (llm.Message, error) {
	return f()
}

// TestLogWritesBeforeTheModelAnswers, one line for each request.
func TestLogWritesBeforeTheModelAnswers(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	lines := 0
	model := llm.NewLog(modelFunc(func() (llm.Message, error) {
		lines = strings.Count(log.String(), "\n")
		return llm.Message{}, errors.New("no answer")
	}), &log)
	sent := llm.Request{System: "be kind", Messages: []llm.Message{user(llm.Text("a\nb <&>"))}}
	for want := range 2 {
		if _, err := model.Reply(t.Context(), sent, nil); err == nil || lines != want+1 {
			t.Errorf("error %v, %d lines when the model was asked, want %d", err, lines, want+1)
		}
	}
	var got llm.Request
	if err := json.Unmarshal(bytes.SplitN(log.Bytes(), []byte("\n"), 2)[0], &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sent, got); diff != "" || !strings.Contains(log.String(), "<&>") {
		t.Errorf("-sent +logged\n%s\n%s", diff, log.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestLogThatFailsSendsNothing(t *testing.T) {
	t.Parallel()
	asked := false
	model := llm.NewLog(modelFunc(func() (llm.Message, error) { asked = true; return llm.Message{}, nil }), full{})
	if _, err := model.Reply(t.Context(), llm.Request{}, nil); err == nil || asked {
		t.Errorf("error %v, asked %v", err, asked)
	}
}
