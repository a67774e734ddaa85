package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// A narrow model has a context of so many bytes of outputs, and plays a script.
type narrow struct {
	*scripted

	room int
	sent []int // bytes of outputs in each request
}

func (m *narrow) Reply(ctx context.Context, r llm.Request, onDelta func(llm.Delta)) (llm.Message, error) {
	n := 0
	for _, message := range r.Messages {
		for _, b := range message.Results() {
			n += len(b.Output)
		}
	}
	m.sent = append(m.sent, n)
	if n > m.room {
		return llm.Message{}, &llm.ReplyError{Kind: llm.FailedTooLong, Status: 400}
	}
	return m.scripted.Reply(ctx, r, onDelta)
}

// TestContextThatIsFull: outputs are left out oldest first, stay out, and are tried again
// once.
func TestContextThatIsFull(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		model := &narrow{scripted: s.model, room: 10_000}
		s.agent.Model = model
		s.tools.run = func(_ context.Context, started umpire.Started) umpire.Result {
			return umpire.Result{Status: umpire.ResultOK, Output: strings.Repeat(string(started.Call.ID), 4000)}
		}
		s.begin("go").finish()
		results := s.model.last().Results()
		if len(results) != 1 || results[0].Output != strings.Repeat("d", 4000) {
			s.Errorf("the latest output: %d results", len(results))
		}
		var left []string
		for _, m := range s.model.requests[len(s.model.requests)-1].Messages {
			for _, b := range m.Results() {
				left = append(left, b.Output[:1])
			}
		}
		if got := strings.Join(left, ""); got != "[[cd" { // [Elided]
			s.Errorf("outputs begin with %s", got)
		}
		if s.gate.results["a"].Output != strings.Repeat("a", 4000) {
			s.Error("the store has not kept an output")
		}
		tooLong := slices.DeleteFunc(slices.Clone(model.sent), func(n int) bool { return n <= model.room })
		if len(tooLong) != 1 {
			s.Errorf("sent %v", model.sent)
		}
	}, say(use("a", "Read")), say(use("b", "Read")), say(use("c", "Read")), say(use("d", "Read")))
}

// A measured model says how large its context is, and what each reply has cost: a token for
// each byte of outputs.
type measured struct{ *narrow }

func (m measured) Window() int64 { return int64(m.room) }

func (m measured) Reply(ctx context.Context, r llm.Request, onDelta func(llm.Delta)) (llm.Message, error) {
	message, err := m.narrow.Reply(ctx, r, onDelta)
	message.Usage.Input = int64(m.sent[len(m.sent)-1])
	return message, err
}

// TestContextThatFillsUp: outputs are left out before the model refuses, the same ones by
// another run, and those that were left out stay out.
func TestContextThatFillsUp(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		model := measured{&narrow{scripted: s.model, room: 10_000}}
		s.agent.Model = model
		s.tools.run = func(_ context.Context, started umpire.Started) umpire.Result {
			return umpire.Result{Status: umpire.ResultOK, Output: strings.Repeat(string(started.Call.ID), 3000)}
		}
		s.begin("go").finish()
		beginnings := func() string {
			var left []string
			for _, m := range s.model.requests[len(s.model.requests)-1].Messages {
				for _, b := range m.Results() {
					left = append(left, b.Output[:1])
				}
			}
			return strings.Join(left, "")
		}
		if got := beginnings(); got != "[[cd" { // 9000 bytes were too near to 10000
			s.Errorf("outputs begin with %s", got)
		}
		if most := slices.Max(model.sent); most > model.room {
			s.Errorf("sent %v", model.sent)
		}
		s.begin("and?").finish()
		if got := beginnings(); got != "[[cd" {
			s.Errorf("in another run outputs begin with %s", got)
		}
	}, say(use("a", "Read")), say(use("b", "Read")), say(use("c", "Read")), say(use("d", "Read")))
}

// TestContextThatStaysFull: if leaving out outputs does not help, the run fails, and no request is
// repeated in vain.
func TestContextThatStaysFull(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		model := &narrow{scripted: s.model, room: 50}
		s.agent.Model = model
		s.tools.run = func(context.Context, umpire.Started) umpire.Result {
			return umpire.Result{Status: umpire.ResultOK, Output: strings.Repeat("a", 4000)}
		}
		r := s.begin("go")
		<-r.ended
		if kind, ok := llm.KindOf(r.err); !ok || kind != llm.FailedTooLong || len(model.sent) != 3 {
			s.Errorf("got %v after %v", r.err, model.sent)
		}
		r = s.begin("")
		<-r.ended
		if kind, _ := llm.KindOf(r.err); kind != llm.FailedTooLong {
			s.Errorf("got %v", r.err)
		}
	}, say(use("a", "Read")))
}

// TestBrokenCall: a call that a model did not finish writing never runs, under any rules, and has
// its one result; the other calls of the message run.
func TestBrokenCall(t *testing.T) {
	t.Parallel()
	broken := llm.Arguments("b", "Bash", `{"command": "rm`, true)
	twice := llm.Call("c", "Bash", json.RawMessage(`{"command": "a", "command": "b"}`))
	play(t, func(s *stage) {
		s.gate.decide = func(c umpire.Call) umpire.Verdict {
			if len(c.Input) == 0 || c.Input[0] != '{' {
				return umpire.Deny // like the real gate: the input is not an object
			}
			return umpire.Allow
		}
		s.begin("go").finish()
		s.stands("a d", 2)
		results := s.model.last().Results()
		if len(results) != 4 || !results[1].IsError || !strings.HasPrefix(results[1].Output, "Error: The call was not run. The reply was cut off") ||
			!results[2].IsError || !strings.Contains(results[2].Output, "appears twice") {
			s.Errorf("results %+v", results)
		}
	}, say(use("a", "Bash"), broken, twice, use("d", "Bash")))
}

// TestReplyThatEndsEarly: it is reported when it is the last one.
func TestReplyThatEndsEarly(t *testing.T) {
	t.Parallel()
	cut := func(m llm.Message) llm.Message { m.Stop = llm.StopCut; return m }
	play(t, func(s *stage) {
		r := s.begin("go")
		r.finish()
		if r.outcome.Stop != llm.StopEnd {
			s.Errorf("stop %q, although the model went on", r.outcome.Stop)
		}
	}, cut(say(use("a", "Read"))), say("all"))
	play(t, func(s *stage) {
		r := s.begin("go")
		r.finish()
		if r.outcome.Stop != llm.StopCut {
			s.Errorf("stop %q", r.outcome.Stop)
		}
	}, cut(say("half a sen")))
}

// TestThinkingAlone is sent back with something that can be sent.
func TestThinkingAlone(t *testing.T) {
	t.Parallel()
	thought := llm.Block{Type: llm.TypeThinking, Text: "hm", Provider: "p", Raw: json.RawMessage(`{}`)}
	play(t, func(s *stage) {
		s.begin("go").finish()
		s.begin("and?").finish()
		request := s.model.requests[1]
		if err := llm.Check(request); err != nil || request.Messages[1].Text() != silence || len(request.Messages[1].Content) != 2 {
			s.Errorf("%v: %+v", err, request.Messages)
		}
	}, say(thought, " \n"))
}
