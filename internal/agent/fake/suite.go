package fake

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// A Provider is a provider to run the suite with.
type Provider struct {
	// Model returns a model that asks the server for [ModelName] with [ModelKey].
	Model func(s *ModelServer, o llm.Options) llm.Model
	// Thinks means that thinking is kept and sent back.
	Thinks bool
	// Overload is the kind of failure for [faultEvent].
	Overload llm.FailureKind
}

// RunSuite checks the requirements on every provider's model.
func RunSuite(t *testing.T, p Provider) {
	for name, check := range map[string]func(*testing.T, Provider){
		"a conversation goes on":           conversationGoesOn,
		"what is odd does not break it":    oddConversation,
		"what is cut off does not run":     cutOff,
		"a refusal is reported":            refused,
		"faults before a reply":            faultsBefore,
		"faults that are got over":         faultsGotOver,
		"a long wait is not waited for":    longWait,
		"a reply that breaks off":          breaksOff,
		"a reply that breaks off thrice":   breaksOffThrice,
		"an error within a reply":          errorWithin,
		"silence and hanging":              silence,
		"ended in the middle of a reply":   endedWithin,
		"a flood":                          flood,
		"no server":                        noServer,
		"a server that leads elsewhere":    redirected,
		"a conversation of other models":   otherModels,
		"the key is in no error":           keyInNoError,
		"a request that breaks the rules":  brokenRequest,
		"what a model thinks is passed on": thinkingHeard,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, p)
		})
	}
}

// A talk is a conversation with a server.
type talk struct {
	*testing.T

	server   *ModelServer
	model    llm.Model
	req      llm.Request
	streamed strings.Builder
	deltas   []llm.Delta
}

func newTalk(t *testing.T, p Provider, o llm.Options, turns ...Turn) *talk {
	t.Helper()
	s := StartModels(turns, 0)
	t.Cleanup(s.Close)
	return &talk{T: t, server: s, model: p.Model(s, o), req: llm.Request{
		System: "be brief",
		Tools: []llm.Tool{
			{Name: "Read", Description: "reads", Schema: json.RawMessage(
				`{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}`,
			)},
			{Name: "LS", Description: "lists", Schema: json.RawMessage(`{"type":"object"}`)},
		},
		Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Block{llm.Text("go")}}},
	}}
}

func (k *talk) recordDelta(d llm.Delta) {
	if d.Again {
		k.streamed.Reset()
	}
	k.streamed.WriteString(d.Text)
	k.deltas = append(k.deltas, d)
}

// sendConversation asks, and adds the reply to the conversation.
func (k *talk) sendConversation() llm.Message {
	k.Helper()
	k.streamed.Reset()
	m, err := k.model.Reply(k.Context(), k.req, k.recordDelta)
	if err != nil {
		k.Fatalf("%v\nrefused: %v", err, k.server.Refused())
	}
	if got := k.streamed.String(); got != m.Text() {
		k.Errorf("got %q, and the message says %q", got, m.Text())
	}
	k.req.Messages = append(k.req.Messages, m)
	return m
}

// results answers every call of the last message.
func (k *talk) results(output string, isError bool) {
	said := k.req.Messages[len(k.req.Messages)-1]
	m := llm.Message{Role: llm.RoleUser}
	for _, c := range said.Calls() {
		m.Content = append(m.Content, llm.Result(c.ID, output, isError))
	}
	k.req.Messages = append(k.req.Messages, m)
}

// say adds a message of the user.
func (k *talk) say(text string) {
	k.req.Messages = append(k.req.Messages, llm.Message{Role: llm.RoleUser, Content: []llm.Block{llm.Text(text)}})
}

// end checks that the server refused nothing.
func (k *talk) end() {
	k.Helper()
	if refused := k.server.Refused(); len(refused) > 0 {
		k.Errorf("refused: %v", refused)
	}
}

// fails expects a failure of a kind, and returns the provider's reason.
func (k *talk) fails(want llm.FailureKind) (status int, reason string) {
	k.Helper()
	_, err := k.model.Reply(k.Context(), k.req, k.recordDelta)
	f, ok := errors.AsType[*llm.ReplyError](err)
	if !ok || f.Kind != want {
		k.Fatalf("got %v, want a failure of kind %d", err, want)
	}
	return f.Status, f.Reason
}

func conversationGoesOn(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{Effort: "low"},
		Turn{Thinking: "I need both. 两个都要", Text: "Reading, 你好", Calls: []Call{
			{ID: "c1", Tool: "Read", Input: json.RawMessage(`{"file_path": "a <b> & c"}`)}, {ID: "c2", Tool: "LS"},
		}},
		Turn{Thinking: "One more.", Calls: []Call{{ID: "c3", Tool: "LS", Input: json.RawMessage(`{}`)}}},
		Turn{Text: "all read"},
	)
	first := k.sendConversation()
	want := []llm.Block{
		llm.Text("Reading, 你好"), llm.Call("c1", "Read", json.RawMessage(`{"file_path": "a <b> & c"}`)),
		llm.Call("c2", "LS", nil),
	}
	if diff := cmp.Diff(want, plain(first)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if first.Usage != (llm.Usage{Input: 111, Output: 42}) || first.Stop != llm.StopEnd {
		t.Errorf("usage %+v, stop %q", first.Usage, first.Stop)
	}
	k.results("text", false)
	k.sendConversation()
	k.results("", true)
	k.req.Messages = stored(t, k.req.Messages) // as read back from a store
	if last := k.sendConversation(); last.Text() != "all read" {
		t.Errorf("said %q", last.Text())
	}
	k.say("more")
	if last := k.sendConversation(); last.Text() != "done" {
		t.Errorf("said %q", last.Text())
	}
	k.end()
}

// plain returns the content that means the same to every provider.
func plain(m llm.Message) []llm.Block {
	var kept []llm.Block
	for _, b := range m.Content {
		if b.Type != llm.TypeThinking {
			b.Raw, b.Provider = nil, ""
			kept = append(kept, b)
		}
	}
	return kept
}

func stored(t *testing.T, messages []llm.Message) []llm.Message {
	t.Helper()
	data, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	var again []llm.Message
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	return again
}

func thinkingHeard(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{}, Turn{Thinking: "hm, let me see", Text: "yes"})
	m := k.sendConversation()
	var thoughts strings.Builder
	for _, d := range k.deltas {
		thoughts.WriteString(d.Thinking)
	}
	streamed := thoughts.String()
	kept := m.Content[0].Type == llm.TypeThinking && m.Content[0].Text == "hm, let me see" && len(m.Content[0].Raw) > 0
	if streamed != "hm, let me see" || kept != p.Thinks {
		t.Errorf("got %q, kept %+v", streamed, m.Content)
	}
}

// oddConversation checks that providers do not receive ids, names, texts and outputs that they would reject.
func oddConversation(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{})
	odd := llm.Message{Role: llm.RoleAssistant, Content: []llm.Block{
		llm.Text(" \n"), llm.Call("c.1/ü", "my tool!", nil),
		llm.Call(strings.Repeat("x", 100), strings.Repeat("y", 100), nil), llm.Call("c.1/u", "my.tool!", nil),
	}}
	k.req.Messages = append(k.req.Messages, odd)
	k.results("", false)
	k.results2(" \n", "\t")
	silent := llm.Message{Role: llm.RoleAssistant, Content: []llm.Block{llm.Text("  ")}}
	k.req.Messages = append(
		k.req.Messages, silent, llm.Message{Role: llm.RoleUser, Content: []llm.Block{llm.Text("\t")}},
	)
	if m := k.sendConversation(); m.Text() != "done" {
		t.Errorf("said %q", m.Text())
	}
	k.end()
}

// results2 sets the last message's first output, and adds text after the results.
func (k *talk) results2(output, text string) {
	m := &k.req.Messages[len(k.req.Messages)-1]
	m.Content[0].Output = output
	m.Content = append(m.Content, llm.Text(text), llm.Text("and now?"))
}

// cutOff checks that a call whose input is incomplete, or was never an object, is marked, and that
// the conversation continues with its answer.
func cutOff(t *testing.T, p Provider) {
	half, garbage, list := `{"file_path": "a`, `file_path = a`, `["a"]`
	k := newTalk(t, p, llm.Options{},
		Turn{Text: "I wri", Calls: []Call{{ID: "c1", Tool: "LS"}, {ID: "c2", Tool: "Read", Raw: &half}}, Stop: "cut"},
		Turn{Calls: []Call{
			{ID: "d1", Tool: "Read", Raw: &garbage}, {ID: "d2", Tool: "Read", Raw: &list}, {ID: "d3", Tool: "LS"},
		}},
		Turn{Text: "too lo", Stop: "cut"},
		Turn{Thinking: "so much to think ab", Stop: "cut"},
	)
	m := k.sendConversation()
	calls := m.Calls()
	if m.Stop != llm.StopCut || len(calls) != 2 || calls[0].Broken != "" ||
		!strings.Contains(calls[1].Broken, "cut off") || string(calls[1].Input) != "{}" {
		t.Errorf("stop %q, calls %+v", m.Stop, calls)
	}
	k.results("no", true)
	m = k.sendConversation()
	calls = m.Calls()
	if m.Stop != llm.StopEnd || len(calls) != 3 || !strings.Contains(calls[0].Broken, "not a JSON object") ||
		calls[1].Broken == "" || calls[2].Broken != "" {
		t.Errorf("stop %q, calls %+v", m.Stop, calls)
	}
	k.results("no", true)
	if m := k.sendConversation(); m.Stop != llm.StopCut || m.Text() != "too lo" {
		t.Errorf("stop %q, text %q", m.Stop, m.Text())
	}
	k.say("go on")
	if m := k.sendConversation(); m.Stop != llm.StopCut || m.Text() != "" {
		t.Errorf("stop %q, text %q", m.Stop, m.Text())
	}
	k.say("go on")
	k.sendConversation()
	k.end()
}

func refused(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{}, Turn{Text: "I cannot", Stop: "refused"})
	if m := k.sendConversation(); m.Stop != llm.StopRefused || m.Text() != "I cannot" {
		t.Errorf("stop %q, text %q", m.Stop, m.Text())
	}
	k.say("another thing")
	k.sendConversation()
	k.end()
}

func faultsBefore(t *testing.T, p Provider) {
	for fault, want := range map[Fault]llm.FailureKind{
		faultKey: llm.FailedKey, faultRights: llm.FailedRights, faultModel: llm.FailedModel,
		faultTooLong: llm.FailedTooLong,
	} {
		k := newTalk(t, p, llm.Options{}, Turn{Text: "yes", Faults: []Fault{fault}})
		if status, reason := k.fails(want); status == 0 || reason == "" {
			t.Errorf("%s: status %d, reason %q", fault, status, reason)
		}
		k.sendConversation()
	}
	k := newTalk(t, p, llm.Options{}, Turn{Faults: []Fault{faultRequest}})
	_, err := k.model.Reply(t.Context(), k.req, nil)
	if bad, ok := errors.AsType[*llm.BadRequestError](err); !ok || bad.Status != 400 ||
		!strings.Contains(bad.Reason, "a fault of the script") {
		t.Errorf("got %v", err)
	}
	for fault, want := range map[Fault]llm.FailureKind{
		faultLimit: llm.FailedLimit, faultOverload: llm.FailedOverload, faultServer: llm.FailedServer,
	} {
		k := newTalk(t, p, llm.Options{}, Turn{Faults: []Fault{fault, fault, fault}})
		k.fails(want)
		if n := len(k.server.Requests()); n != 3 {
			t.Errorf("%s: %d requests, want 3", fault, n)
		}
	}
}

func faultsGotOver(t *testing.T, p Provider) {
	k := newTalk(
		t, p, llm.Options{}, Turn{Text: "at last", Faults: []Fault{faultLimit, faultOverload}},
		Turn{Text: "again", Faults: []Fault{faultServer}},
	)
	if m := k.sendConversation(); m.Text() != "at last" {
		t.Errorf("said %q", m.Text())
	}
	k.say("more")
	if m := k.sendConversation(); m.Text() != "again" {
		t.Errorf("said %q", m.Text())
	}
}

func longWait(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{}, Turn{Faults: []Fault{faultLongWait}})
	k.fails(llm.FailedLimit)
	if n := len(k.server.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func breaksOff(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{}, Turn{Text: "a long story", Faults: []Fault{faultBreak, faultBreak}})
	k.fails(llm.FailedBroken)
	k.model = llm.NewSteady(k.model)
	k.deltas = nil
	if m := k.sendConversation(); m.Text() != "a long story" {
		t.Errorf("said %q", m.Text())
	}
	again := 0
	for _, d := range k.deltas {
		if d.Again {
			again++
		}
	}
	if again != 1 {
		t.Errorf("began anew %d times, want once", again)
	}
}

func breaksOffThrice(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{}, Turn{Text: "a long story", Faults: []Fault{faultBreak, faultEvent, faultBreak}})
	k.model = llm.NewSteady(k.model)
	k.fails(llm.FailedBroken)
	if n := len(k.server.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	k.sendConversation()
}

func errorWithin(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{}, Turn{Text: "a long story", Faults: []Fault{faultEvent}})
	if status, reason := k.fails(p.Overload); status != 0 || !strings.Contains(strings.ToLower(reason), "overloaded") {
		t.Errorf("status %d, reason %q", status, reason)
	}
}

func silence(t *testing.T, p Provider) {
	k := newTalk(
		t, p, llm.Options{Patience: 20 * time.Millisecond},
		Turn{Text: "a long story", Faults: []Fault{faultSilence, faultHang}},
	)
	k.fails(llm.FailedSilent)
	k.fails(llm.FailedSilent)
}

// endedWithin: cancelling a request does not wait for the model.
func endedWithin(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{}, Turn{Text: "a long story", Faults: []Fault{faultHang, faultSilence}})
	for range 2 {
		ctx, cancel := context.WithCancelCause(t.Context())
		why, hangs := errors.New("a person ended it"), k.server.Hanging()
		go func() {
			<-hangs
			cancel(why)
		}()
		if _, err := llm.NewSteady(k.model).Reply(ctx, k.req, nil); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	}
}

func flood(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{Largest: 4 << 20}, Turn{Text: "a flood", Faults: []Fault{faultFlood}})
	k.fails(llm.FailedFlood)
}

func noServer(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{})
	k.server.Close()
	k.fails(llm.FailedConnection)
}

// redirected checks that another host does not get the key.
func redirected(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{}, Turn{Text: "yes", Faults: []Fault{faultRedirect, faultRedirect, faultRedirect}})
	k.fails(llm.FailedConnection)
	for _, r := range k.server.Requests() {
		if !strings.HasPrefix(r.Host, "127.0.0.1:") {
			t.Errorf("the key went to %s", r.Host)
		}
	}
}

// otherModels checks that another provider's thinking is not sent, but its words are.
func otherModels(t *testing.T, p Provider) {
	k := newTalk(t, p, llm.Options{})
	k.req.Messages = append(k.req.Messages, llm.Message{Role: llm.RoleAssistant, Content: []llm.Block{
		{Type: llm.TypeThinking, Text: "secret thought", Provider: "other", Raw: json.RawMessage(`{"type":"strange"}`)},
		{Type: llm.TypeText, Text: "hello", Provider: "other", Raw: json.RawMessage(`{"type":"strange"}`)},
		{
			Type: llm.TypeCall, ID: "c1", Tool: "LS", Input: json.RawMessage(`{}`), Provider: "other",
			Raw: json.RawMessage(`{"type":"strange"}`),
		},
	}})
	k.results("a", false)
	k.req.Messages = append(k.req.Messages, llm.Message{Role: llm.RoleAssistant, Content: []llm.Block{
		{
			Type: llm.TypeThinking, Text: "nothing but thought", Provider: "other",
			Raw: json.RawMessage(`{"type":"strange"}`),
		},
	}})
	k.say("go on")
	k.sendConversation()
	k.end()
	body := string(k.server.Requests()[0].Body)
	if !strings.Contains(body, "hello") || strings.Contains(body, "thought") || strings.Contains(body, "strange") {
		t.Errorf("sent %s", body)
	}
}

func keyInNoError(t *testing.T, p Provider) {
	for _, fault := range faults {
		if fault == faultFlood {
			continue
		}
		k := newTalk(
			t, p, llm.Options{Patience: 20 * time.Millisecond},
			Turn{Text: "a long story", Faults: []Fault{fault, fault, fault}},
		)
		_, err := k.model.Reply(t.Context(), k.req, nil)
		if err == nil || strings.Contains(err.Error(), ModelKey) {
			t.Errorf("%s: %v", fault, err)
		}
	}
}

// brokenRequest: the server rejects malformed requests, which gives meaning to the ones it accepts.
func brokenRequest(t *testing.T, p Provider) {
	call := llm.Message{Role: llm.RoleAssistant, Content: []llm.Block{llm.Call("c1", "LS", nil)}}
	result := func(ids ...string) llm.Message {
		m := llm.Message{Role: llm.RoleUser}
		for _, id := range ids {
			m.Content = append(m.Content, llm.Result(id, "a", false))
		}
		return m
	}
	text := llm.Message{Role: llm.RoleUser, Content: []llm.Block{llm.Text("well?")}}
	for name, messages := range map[string][]llm.Message{
		"a call without a result":    {call, text},
		"a call at the end":          {call},
		"two results for one call":   {call, result("c1", "c1")},
		"a result without a call":    {{Role: llm.RoleAssistant, Content: []llm.Block{llm.Text("a")}}, result("c1")},
		"a result of another call":   {call, result("c2")},
		"the same call in two turns": {call, result("c1"), call, text},
	} {
		k := newTalk(t, p, llm.Options{})
		k.req.Messages = append(k.req.Messages, messages...)
		_, err := k.model.Reply(t.Context(), k.req, nil)
		if _, ok := errors.AsType[*llm.BadRequestError](err); !ok || len(k.server.Refused()) != 1 ||
			len(k.server.Requests()) != 0 {
			t.Errorf("%s: got %v, refused %v", name, err, k.server.Refused())
		}
	}
}
