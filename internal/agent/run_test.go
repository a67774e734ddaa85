package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// A stage is a gate, a model and tools to run an agent with, in a separate bubble.
type stage struct {
	*testing.T

	gate     *fakeGate
	model    *scripted
	tools    *fakeTools
	recorder *recorder
	agent    *Agent
}

// play runs a test on a stage. Time is the bubble's.
func play(t *testing.T, test func(s *stage), replies ...llm.Message) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, gate: newFakeGate(t), model: &scripted{replies: replies}, tools: &fakeTools{}, recorder: &recorder{}}
		s.agent = &Agent{Gate: s.gate, Model: s.model, Tools: s.tools, Handler: s.recorder, Runner: "test"}
		test(s)
	})
}

// A running is a run that continues beside the test.
type running struct {
	*stage

	cancel  context.CancelFunc
	ended   chan struct{}
	outcome Outcome
	err     error
}

// begin starts a run and returns when nothing more happens by itself.
func (s *stage) begin(task string) *running {
	ctx, cancel := context.WithCancel(s.Context())
	r := &running{stage: s, cancel: cancel, ended: make(chan struct{})}
	s.Cleanup(cancel)
	session := s.gate.session
	go func() {
		defer close(r.ended)
		r.outcome, r.err = s.agent.Run(ctx, session, task)
	}()
	synctest.Wait()
	return r
}

// finish waits for the run's end, which has to be a good one.
func (r *running) finish() Outcome {
	r.Helper()
	<-r.ended
	if r.err != nil {
		r.Fatal(r.err)
	}
	return r.outcome
}

// answer gives a person's answer, and waits for its consequences.
func (s *stage) answer(c umpire.CallID, choice umpire.Choice) {
	s.Helper()
	if err := s.gate.answer(c, choice); err != nil {
		s.Fatal(err)
	}
	synctest.Wait()
}

// stands checks the progress: the calls that ran, and the number of model requests.
func (s *stage) stands(ran string, asked int) {
	s.Helper()
	if s.tools.all() != ran || s.model.asked() != asked {
		s.Fatalf("ran %q with %d requests, want %q with %d", s.tools.all(), s.model.asked(), ran, asked)
	}
}

// asking has the calls of some tools asked about.
func asking(tools ...string) func(umpire.Call) umpire.Verdict {
	return func(c umpire.Call) umpire.Verdict {
		if slices.Contains(tools, c.Tool) {
			return umpire.Ask
		}
		return umpire.Allow
	}
}

func TestRunToTheEnd(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		if o := s.begin("go").finish(); o != (Outcome{}) {
			s.Errorf("outcome %+v", o)
		}
		s.stands("a b c", 3)
		want := []llm.Message{
			{Role: llm.RoleUser, Content: []llm.Block{llm.Text("go")}},
			say("first", use("a", "Read"), use("b", "Bash")),
			{Role: llm.RoleUser, Content: []llm.Block{llm.Result("a", "ran a", false), llm.Result("b", "ran b", false)}},
			say(use("c", "Write")),
			{Role: llm.RoleUser, Content: []llm.Block{llm.Result("c", "ran c", false)}},
		}
		if diff := cmp.Diff(want, s.model.requests[2].Messages); diff != "" {
			s.Errorf("last request: -want +got\n%s", diff)
		}
		if got, want := s.recorder.text(), "said first\nended a ok\nended b ok\nended c ok\nsaid all done"; got != want {
			s.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if diff := cmp.Diff(s.gate.events, s.recorder.events); diff != "" {
			s.Errorf("events: -stored +got\n%s", diff)
		}
		order := "Prompt Compose Submit Start Finish Start Finish Compose Submit Start Finish Compose Reply"
		if got := strings.Join(s.gate.did, " "); got != order {
			s.Errorf("did %s, want %s", got, order)
		}
		if s.gate.session.State != umpire.SessionIdle {
			s.Errorf("left the session %s", s.gate.session.State)
		}
	}, say("first", use("a", "Read"), use("b", "Bash")), say(use("c", "Write")), say("all done"))
}

// TestHoldAndResume: while one call waits none runs and the model is not asked; then all run
// in their order, and the model gets all results at once.
func TestHoldAndResume(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write", "Bash")
		r := s.begin("go")
		s.stands("", 1)
		s.answer("b", umpire.Approve)
		s.stands("", 1)
		s.answer("c", umpire.Approve)
		r.finish()
		s.stands("a b c", 2)
		want := []llm.Block{llm.Result("a", "ran a", false), llm.Result("b", "ran b", false), llm.Result("c", "ran c", false)}
		if diff := cmp.Diff(want, s.model.last().Content); diff != "" {
			s.Errorf("results: -want +got\n%s", diff)
		}
		if got := s.recorder.text(); !strings.HasPrefix(got, "waiting 2\nwaiting 1\nended a ok") {
			s.Errorf("got\n%s", got)
		}
	}, say(use("a", "Read"), use("b", "Write"), use("c", "Bash")))
}

// TestLargeMessage: answers show a part of a message with many calls, and each call has its end told once.
func TestLargeMessage(t *testing.T) {
	t.Parallel()
	blocks, want := []any{"many"}, "said many\nended c30 denied"
	for i := range 3 * umpire.WholeBatch {
		id, tool := fmt.Sprintf("c%02d", i), "Read"
		switch i {
		case 20:
			tool, want = "Write", want+"\nwaiting 1"
			fallthrough
		default:
			want += "\nended " + id + " ok"
		case 30:
			tool = "Bash"
		}
		blocks = append(blocks, use(id, tool))
	}
	play(t, func(s *stage) {
		s.gate.decide = func(c umpire.Call) umpire.Verdict {
			if c.Tool == "Bash" {
				return umpire.Deny
			}
			return umpire.Allow
		}
		s.gate.again = asking("Write")
		r := s.begin("go")
		s.answer("c20", umpire.Approve)
		r.finish()
		if got := s.recorder.text(); got != want+"\nsaid done" {
			s.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}, say(blocks...))
}

// TestPartialRefusal: the one that is refused has an error for its result, in its
// place; the others run.
func TestPartialRefusal(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write", "Bash")
		r := s.begin("go")
		s.answer("c", umpire.Approve)
		s.answer("b", umpire.Refuse)
		r.finish()
		s.stands("a c", 2)
		results := s.model.last().Results()
		if len(results) != 3 || results[1].Call != "b" || !results[1].IsError || !strings.HasPrefix(results[1].Output, "[Tool Denied]") {
			s.Errorf("results %+v", results)
		}
	}, say(use("a", "Read"), use("b", "Write"), use("c", "Bash")))
}

// TestCancelStopsTheTurn: nothing of the message runs, and the model is not asked.
func TestCancelStopsTheTurn(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write")
		r := s.begin("go")
		s.answer("b", umpire.Cancel)
		if o := r.finish(); !o.Cancelled {
			s.Errorf("outcome %+v", o)
		}
		s.stands("", 1)
		if o := s.begin("").finish(); !o.Idle || o.Cancelled {
			s.Errorf("going on without a task: %+v", o)
		}
		s.stands("", 1)
		s.begin("something else").finish()
		s.stands("", 2)
		last := s.model.last().Content
		if len(last) != 3 || last[0].Call != "a" || last[1].Call != "b" || last[2].Text != "something else" {
			s.Errorf("after the next message the model hears %+v", last)
		}
	}, say(use("a", "Read"), use("b", "Write")))
}

// TestCancelWithAMessageQueued: the turn is over, and the next one begins.
func TestCancelWithAMessageQueued(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write")
		r := s.begin("go")
		if _, err := s.gate.Conversations().Prompt(s.Context(), umpire.Prompt{Text: "rather this"}); err != nil {
			s.Fatal(err)
		}
		s.answer("b", umpire.Cancel)
		if o := r.finish(); o.Cancelled {
			s.Errorf("outcome %+v", o)
		}
		s.stands("", 2)
		if last := s.model.last().Content; len(last) != 2 || last[1].Text != "rather this" {
			s.Errorf("the model hears %+v", last)
		}
	}, say(use("b", "Write")))
}

// TestQueuedMessages: a message that comes while calls wait is sent when they
// have ended, one that comes while the model speaks when it has spoken.
func TestQueuedMessages(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write")
		s.model.before = func(n int) {
			if n == 2 {
				_, _ = s.gate.Conversations().Prompt(s.Context(), umpire.Prompt{Text: "third"})
			}
		}
		r := s.begin("first")
		if prompted, err := s.gate.Conversations().Prompt(s.Context(), umpire.Prompt{Text: "second"}); err != nil || !prompted.Queued || prompted.Waiting != 1 {
			s.Errorf("%+v, %v", prompted, err)
		}
		synctest.Wait()
		s.stands("", 1)
		s.answer("b", umpire.Approve)
		r.finish()
		s.stands("b", 3)
		second, third := s.model.requests[1].Messages, s.model.requests[2].Messages
		if got := second[len(second)-1].Content; len(got) != 2 || got[0].Call != "b" || got[1].Text != "second" {
			s.Errorf("second request ends in %+v", got)
		}
		if got := third[len(third)-1].Content; len(got) != 1 || got[0].Text != "third" {
			s.Errorf("third request ends in %+v", got)
		}
	}, say(use("b", "Write")))
}

// TestACallThatAsksMidway: D-25. Decided again before it starts, a call asks: finished calls stay
// as they are, the rest wait again.
func TestACallThatAsksMidway(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.again = asking("Write")
		r := s.begin("go")
		s.stands("a", 1)
		s.answer("b", umpire.Approve)
		r.finish()
		s.stands("a b c", 2)
	}, say(use("a", "Read"), use("b", "Write"), use("c", "Bash")))
}

// TestACallThatIsRefusedMidway has an error for its result, and the rest runs.
func TestACallThatIsRefusedMidway(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.again = func(c umpire.Call) umpire.Verdict {
			return map[bool]umpire.Verdict{true: umpire.Deny, false: umpire.Allow}[c.Tool == "Write"]
		}
		s.begin("go").finish()
		s.stands("a c", 2)
		if results := s.model.last().Results(); len(results) != 3 || !results[1].IsError {
			s.Errorf("results %+v", results)
		}
	}, say(use("a", "Read"), use("b", "Write"), use("c", "Bash")))
}

// TestToolThatIsGone: one error, no question, and the conversation continues.
func TestToolThatIsGone(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Teleport", "weird*name")
		r := s.begin("go")
		s.answer("w", umpire.Refuse) // a name that would be a pattern cannot be a rule
		r.finish()
		s.stands("a", 2)
		if results := s.model.last().Results(); len(results) != 3 || !results[0].IsError || results[1].IsError {
			s.Errorf("results %+v", results)
		}
	}, say(use("t", "Teleport"), use("a", "Read"), use("w", "weird*name")))
}

// TestIDsThatComeAgain are told apart: a model may start counting again in every message.
func TestIDsThatComeAgain(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	play(t, func(s *stage) {
		s.begin("go").finish()
		ran := strings.Fields(s.tools.all())
		if len(ran) != 6 || ran[0] != "1" || ran[1] != "1-2" || ran[2] != "1-3" || ran[3] != "1-2-2" || len(ran[4]) > maxID || ran[5] == "" {
			s.Errorf("ran %q", ran)
		}
	}, say(use("1", "Read"), use("1", "Read")), say(use("1", "Read"), use("1-2", "Read")), say(use(long, "Read"), use("", "Read")))
}

func TestReplyWithoutAnything(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.begin("go").finish()
		s.begin("again").finish()
		if got := s.model.requests[1].Messages[1].Text(); got != silence {
			s.Errorf("kept %q", got)
		}
	}, say(), say("", "b"))
}

func TestModelThatFails(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		away := errors.New("no connection")
		s.agent.Model = failing{away}
		r := s.begin("go")
		<-r.ended
		if !errors.Is(r.err, away) {
			s.Errorf("got %v", r.err)
		}
		s.agent.Model = s.model
		if o := s.begin("").finish(); o != (Outcome{}) {
			s.Errorf("going on: %+v", o)
		}
		if got := s.model.last().Text(); got != "go" {
			s.Errorf("the model hears %q", got)
		}
	})
}

type failing struct{ err error }

func (f failing) Reply(context.Context, llm.Request, func(llm.Delta)) (llm.Message, error) {
	return llm.Message{}, f.err
}

func TestNothingToGoOnWith(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		if o := s.begin("").finish(); !o.Idle {
			s.Errorf("a new session: %+v", o)
		}
		s.begin("go").finish()
		if o := s.begin("").finish(); !o.Idle {
			s.Errorf("after its turn: %+v", o)
		}
		s.stands("", 1)
		s.gate.session.State = umpire.SessionOver
		r := s.begin("")
		<-r.ended
		if !errors.Is(r.err, umpire.ErrState) {
			s.Errorf("after its end: %v", r.err)
		}
	})
}

// TestHeadless: a call that would ask is refused at once and counted; a question from before ends
// the run.
func TestHeadless(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write")
		s.gate.session.Headless = true
		if o := s.begin("go").finish(); o.Unattended != 1 {
			s.Errorf("outcome %+v", o)
		}
		s.stands("a", 2)
	}, say(use("a", "Read"), use("b", "Write")))
	play(t, func(s *stage) {
		s.gate.decide = asking("Write")
		r := s.begin("go")
		r.cancel()
		<-r.ended
		s.gate.session.Headless = true
		if o := s.begin("more").finish(); o.Waiting != 1 {
			s.Errorf("outcome %+v", o)
		}
		if got := s.recorder.text(); !strings.HasSuffix(got, "queued behind 1") {
			s.Errorf("got\n%s", got)
		}
		s.stands("", 1)
	}, say(use("a", "Read"), use("b", "Write")))
}

// TestOutputIsHeardDuringTheRun: a tool's output is passed on before the end of its call, and
// dropped when there is no run.
func TestOutputIsHeardDuringTheRun(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.agent.Output("a", "too early")
		s.tools.run = func(context.Context, umpire.Started) umpire.Result {
			s.agent.Output("a", "half")
			return umpire.Result{Status: umpire.ResultOK}
		}
		s.begin("go").finish()
		s.agent.Output("a", "too late")
		if got := s.recorder.text(); !strings.HasPrefix(got, "printed a half\nended a ok") || strings.Contains(got, "too") {
			s.Errorf("got\n%s", got)
		}
	}, say(use("a", "Bash")))
}

func TestWithoutAHandler(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.agent.Handler = nil
		s.gate.decide = asking("Write")
		r := s.begin("go")
		s.answer("b", umpire.Approve)
		r.finish()
		s.stands("b", 2)
	}, say("text", use("b", "Write")))
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	prompt := Prompt(&umpire.Session{Dir: "/p/sub", Root: "/p", AddDirs: []string{"/q"}})
	before, section, found := strings.Cut(prompt, "\n## Tool Permission Handling\n")
	if !found || !strings.Contains(before, "\n## Tool Errors\n") {
		t.Errorf("M-137: the sections stand otherwise\n%s", prompt)
	}
	points := []string{
		"need the user's approval", "Do NOT retry the same tool call that was denied", "take a different approach",
		"Never try to get around a refusal", "explain why it is needed and ask the user to reconsider",
	}
	bullets := strings.Split(section, "\n- ")[1:]
	if len(bullets) != len(points) {
		t.Fatalf("M-136: %d points in\n%s", len(bullets), section)
	}
	for i, point := range points {
		if !strings.Contains(bullets[i], point) {
			t.Errorf("M-136: point %d does not say %q: %s", i+1, point, bullets[i])
		}
	}
	for _, want := range []string{"/p/sub", "Project root: /p\n", "/q"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("%q is not in it", want)
		}
	}
}
