package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/umpirehq/umpire"
)

// TestAskOnTheSpot: one question at a time, in the order of the calls; one that is
// answered elsewhere is withdrawn.
func TestAskOnTheSpot(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write", "Bash")
		answers := make(chan umpire.Choice)
		s.agent.Ask = func(ctx context.Context, p umpire.Pending) error {
			s.recorder.note("asks %s", p.Call)
			select {
			case choice := <-answers:
				return s.gate.answer(p.Call, choice)
			case <-ctx.Done():
				s.recorder.note("withdraws %s", p.Call)
				return ctx.Err()
			}
		}
		r := s.begin("go")
		s.stands("", 1)
		s.answer("c", umpire.Approve) // elsewhere, and not the one that is shown
		s.stands("", 1)
		s.answer("a", umpire.Approve) // elsewhere, the one that is shown
		s.stands("", 1)
		answers <- umpire.Refuse
		synctest.Wait()
		r.finish()
		s.stands("a c", 2)
		want := "waiting 3\nasks a\nwaiting 2\nwaiting 1\nwithdraws a\nasks b\nended b denied\nended a ok\nended c ok\nsaid done"
		if got := s.recorder.text(); got != want {
			s.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}, say(use("a", "Write"), use("b", "Bash"), use("c", "Write")))
}

// TestAskAboutLargeMessage: an approval does not read every call of its message, nor every question.
func TestAskAboutLargeMessage(t *testing.T) {
	t.Parallel()
	const calls = 200
	var blocks []any
	for i := range calls {
		blocks = append(blocks, use(fmt.Sprintf("c%03d", i), "Write"))
	}
	play(t, func(s *stage) {
		s.gate.decide = asking("Write")
		s.agent.Ask = func(_ context.Context, p umpire.Pending) error {
			return s.gate.answer(p.Call, umpire.Approve)
		}
		r := s.begin("go")
		r.finish()
		if ended := strings.Count(s.recorder.text(), "ended c"); ended != calls {
			t.Errorf("%d calls ended", ended)
		}
		if s.gate.listed > 20*calls {
			t.Errorf("%d calls and questions were read for %d", s.gate.listed, calls)
		}
	}, say(blocks...))
}

// TestAskThatFails ends the run, because the person is gone. The question stays waiting.
func TestAskThatFails(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write")
		gone := errors.New("the terminal is closed")
		s.agent.Ask = func(context.Context, umpire.Pending) error { return gone }
		r := s.begin("go")
		<-r.ended
		if !errors.Is(r.err, gone) || s.gate.session.State != umpire.SessionWaiting {
			s.Errorf("got %v, the session is %s", r.err, s.gate.session.State)
		}
	}, say(use("a", "Write")))
}

// TestAskThatComesLate: somebody else was faster.
func TestAskThatComesLate(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write")
		s.agent.Ask = func(ctx context.Context, p umpire.Pending) error {
			if err := s.gate.answer(p.Call, umpire.Refuse); err != nil {
				return err
			}
			return s.gate.answer(p.Call, umpire.Approve)
		}
		s.begin("go").finish()
		s.stands("", 2)
	}, say(use("a", "Write")))
}
