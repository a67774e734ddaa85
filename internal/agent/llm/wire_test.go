package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// TestWireNames: what every provider accepts stays as it is, anything else becomes that,
// always the same, and different for different ones.
func TestWireNames(t *testing.T) {
	t.Parallel()
	accepted := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	seen := map[string]string{}
	for _, name := range []string{"toolu_01", "call-1", strings.Repeat("x", 64), strings.Repeat("x", 65), "", "a b", "a.b", "a:b", "工具", "a\nb"} {
		for how, wire := range map[string]func(string) string{"id": llm.WireID, "name": llm.WireName} {
			got := wire(name)
			if !accepted.MatchString(got) || got != wire(name) || accepted.MatchString(name) && got != name {
				t.Errorf("%s %q becomes %q", how, name, got)
			}
			if other, twice := seen[how+got]; twice && other != name {
				t.Errorf("%s: both %q and %q become %q", how, name, other, got)
			}
			seen[how+got] = name
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		cut    bool
		input  string
		broken string
	}{
		{"", false, `{}`, ""},
		{" \n", false, `{}`, ""},
		{`{"a": 1}`, false, `{"a": 1}`, ""},
		{` {"a": 1} `, true, `{"a": 1}`, ""},
		{"", true, `{}`, "cut off"},
		{`{"a": "b`, true, `{}`, "cut off"},
		{`{"a": "b`, false, `{}`, "not a JSON object"},
		{`[1]`, false, `{}`, "not a JSON object"},
		{`null`, false, `{}`, "not a JSON object"},
		{`{} {}`, false, `{}`, "not a JSON object"},
	} {
		got := llm.Arguments("c", "LS", c.text, c.cut)
		if string(got.Input) != c.input || (got.Broken == "") != (c.broken == "") || !strings.Contains(got.Broken, c.broken) {
			t.Errorf("%q, cut %v: input %s, broken %q", c.text, c.cut, got.Input, got.Broken)
		}
	}
}

// TestStoredMessagesCanBeRead: those of before thinking and usage were kept, and of now.
func TestStoredMessagesCanBeRead(t *testing.T) {
	t.Parallel()
	var before llm.Message
	if err := json.Unmarshal([]byte(`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"LS","input":{}}]}`), &before); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(assistant(llm.Text("a"), llm.Call("c", "LS", nil)), before); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	plain, err := json.Marshal(before)
	if want := `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"LS","input":{}}]}`; err != nil || string(plain) != want {
		t.Errorf("%v: %s", err, plain)
	}
}

// A faulty model fails in the given ways, one after the other, and then replies.
type faulty struct {
	errs  []error
	asked int
}

func (f *faulty) Reply(_ context.Context, _ llm.Request, onDelta func(llm.Delta)) (llm.Message, error) {
	f.asked++
	if onDelta != nil {
		onDelta(llm.Delta{Text: "half"})
	}
	if f.asked <= len(f.errs) {
		return llm.Message{}, f.errs[f.asked-1]
	}
	return assistant(llm.Text("whole")), nil
}

// TestSteadyAsksAgain only when a reply had begun and the provider is to blame.
func TestSteadyAsksAgain(t *testing.T) {
	t.Parallel()
	broke := &llm.ReplyError{Kind: llm.FailedBroken}
	for name, c := range map[string]struct {
		errs  []error
		asked int
		ok    bool
	}{
		"breaks off twice":           {[]error{broke, &llm.ReplyError{Kind: llm.FailedServer}}, 3, true},
		"breaks off for ever":        {[]error{broke, broke, broke, broke}, 3, false},
		"the server answered so":     {[]error{&llm.ReplyError{Kind: llm.FailedServer, Status: 500}}, 1, false},
		"silence has lasted already": {[]error{&llm.ReplyError{Kind: llm.FailedSilent}}, 1, false},
		"refused":                    {[]error{&llm.BadRequestError{Status: 400}}, 1, false},
		"no kind of failure":         {[]error{errors.New("what")}, 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			model, again := &faulty{errs: c.errs}, 0
			m, err := llm.NewSteady(model).Reply(t.Context(), llm.Request{}, func(d llm.Delta) {
				if d.Again {
					again++
				}
			})
			if (err == nil) != c.ok || model.asked != c.asked || again != c.asked-1 || c.ok && m.Text() != "whole" {
				t.Errorf("%s: %v after %d, again %d", name, err, model.asked, again)
			}
		})
	}
}

// TestSteadyEndsWhenTold, although it would ask again.
func TestSteadyEndsWhenTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		model := &faulty{errs: []error{&llm.ReplyError{Kind: llm.FailedBroken}}}
		if _, err := llm.NewSteady(model).Reply(ctx, llm.Request{}, nil); !errors.Is(err, context.Canceled) || model.asked != 1 {
			t.Errorf("%v after %d", err, model.asked)
		}
	})
}

// TestFailuresSayWhatToDo: every kind has its own text, and a provider's text is shortened if it is
// a whole page.
func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for kind := llm.FailedUnknown; kind <= llm.FailedFlood; kind++ {
		text := (&llm.ReplyError{Kind: kind}).Error()
		if text == "" || seen[text] {
			t.Errorf("kind %d: %q", kind, text)
		}
		seen[text] = true
	}
	if text := (&llm.ReplyError{Kind: llm.FailedServer, Status: 502, Reason: strings.Repeat("<p>", 5000)}).Error(); len(text) > 2000 {
		t.Errorf("%d bytes", len(text))
	}
}
