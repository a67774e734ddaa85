package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// busy is a tool that works until it is asked to end.
func busy(ctx context.Context, _ umpire.Started) umpire.Result {
	<-ctx.Done()
	return umpire.Result{Status: umpire.ResultCancelled, Output: "half done"}
}

// TestInterrupted: the running call is stopped and its result kept. Another run continues with the
// next call, and no call runs twice.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.tools.run = func(ctx context.Context, started umpire.Started) umpire.Result {
			if started.Call.ID == "b" {
				return busy(ctx, started)
			}
			return umpire.Result{Status: umpire.ResultOK, Output: "ran"}
		}
		r := s.begin("go")
		s.stands("a b", 1)
		r.cancel()
		<-r.ended
		if !errors.Is(r.err, context.Canceled) {
			s.Errorf("got %v", r.err)
		}
		s.gate.takeOver()
		s.begin("").finish()
		s.stands("a b c", 2)
		results := s.model.last().Results()
		if len(results) != 3 || !results[1].IsError || !strings.HasPrefix(results[1].Output, "[Interrupted]") || !strings.HasSuffix(results[1].Output, "half done") {
			s.Errorf("results %+v", results)
		}
	}, say(use("a", "Read"), use("b", "Bash"), use("c", "Write")))
}

// TestInterruptedBetweenStartAndRun: a call that the gate has let go is accounted for,
// although it never ran.
func TestInterruptedBetweenStartAndRun(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		var r *running
		ready := make(chan struct{})
		s.gate.breaks(func(method string, after bool) error {
			if method == "Start" && after {
				<-ready
				r.cancel()
			}
			return nil
		})
		r = s.begin("go")
		close(ready)
		<-r.ended
		s.stands("", 1)
		if result := s.gate.results["a"]; result.Status != umpire.ResultCancelled || !strings.Contains(result.Output, "was not run") {
			s.Errorf("result %+v", result)
		}
	}, say(use("a", "Bash")))
}

// TestFenced: another runner has the session. The running call is ended at the next sign of it, and
// nothing more is written.
func TestFenced(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.tools.run = busy
		r := s.begin("go")
		began := time.Now()
		s.gate.takeOver()
		<-r.ended
		if !errors.Is(r.err, umpire.ErrFenced) || time.Since(began) > renewEvery {
			s.Errorf("got %v after %v", r.err, time.Since(began))
		}
		if _, stored := s.gate.results["a"]; stored || s.tools.stopped == 0 {
			s.Errorf("stored %v, background commands stopped %d times", stored, s.tools.stopped)
		}
	}, say(use("a", "Bash")))
}

// TestLeaseInDanger: a gate that is away too long ends the running call before the lease is over:
// 20 s of 30 after the last renewal.
func TestLeaseInDanger(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		var ended time.Time
		s.tools.run = func(ctx context.Context, started umpire.Started) umpire.Result {
			defer func() { ended = time.Now() }()
			return busy(ctx, started)
		}
		r := s.begin("go")
		renewed := time.Now()
		s.gate.breaks(func(string, bool) error { return errAway })
		<-r.ended
		if took := ended.Sub(renewed); took < 10*time.Second || took > killAfter {
			s.Errorf("the call was ended after %v", took)
		}
		if !errors.Is(r.err, errLease) || !errors.Is(r.err, errAway) || s.tools.stopped == 0 {
			s.Errorf("got %v; background commands stopped %d times", r.err, s.tools.stopped)
		}
	}, say(use("a", "Bash")))
}

// TestLeaseThatHangs: the same where the gate does not even answer.
func TestLeaseThatHangs(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.tools.run = busy
		r := s.begin("go")
		began := time.Now()
		hang := make(chan struct{})
		defer close(hang)
		s.gate.breaks(func(method string, after bool) error {
			if method == "Renew" && !after {
				select {
				case <-hang:
				case <-time.After(killAfter - renewEvery):
				}
				return errAway
			}
			return nil
		})
		<-r.ended
		if !errors.Is(r.err, errLease) || time.Since(began) > killAfter+finishTime {
			s.Errorf("got %v after %v", r.err, time.Since(began))
		}
	}, say(use("a", "Bash")))
}

// TestWatchThatBreaks: events that cannot be watched are read, and in the end every event was
// passed on once.
func TestWatchThatBreaks(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.decide = asking("Write")
		r := s.begin("go")
		s.gate.breaks(func(method string, _ bool) error {
			if method == "Watch" {
				return errAway
			}
			return nil
		})
		s.answer("a", umpire.Approve)
		time.Sleep(pollEvery)
		synctest.Wait()
		s.stands("a", 2)
		s.gate.breaks(nil)
		time.Sleep(longestPause)
		synctest.Wait()
		s.answer("b", umpire.Approve)
		r.finish()
		s.stands("a b", 3)
		if diff := cmp.Diff(s.gate.events, s.recorder.events); diff != "" {
			s.Errorf("events: -stored +got\n%s", diff)
		}
	}, say(use("a", "Write")), say(use("b", "Write")))
}

// TestMachineThatSlept: on waking, a runner first ends the running call, because another runner may
// have the session, and continues if it still has it.
func TestMachineThatSlept(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		var slept atomic.Int64
		s.agent.clock = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		s.tools.run = busy
		r := s.begin("go")
		slept.Store(int64(time.Hour))
		r.finish()
		s.stands("a", 2)
		results := s.model.last().Results()
		if len(results) != 1 || !strings.Contains(results[0].Output, errLease.Error()) || s.tools.stopped == 0 {
			s.Errorf("results %+v, background commands stopped %d times", results, s.tools.stopped)
		}
	}, say(use("a", "Bash")))
}

// TestGateThatIsAwayForAWhile is waited for; an hour of work renews the lease all the
// time.
func TestGateThatIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.tools.run = func(ctx context.Context, _ umpire.Started) umpire.Result {
			sleepFor(ctx, time.Hour)
			return umpire.Result{Status: umpire.ResultOK, Output: "slept"}
		}
		r := s.begin("go")
		time.Sleep(time.Hour - 5*time.Second)
		away := time.Now()
		s.gate.breaks(func(string, bool) error {
			if time.Since(away) < 12*time.Second {
				return errAway
			}
			return nil
		})
		r.finish()
		s.stands("a", 2)
		if results := s.model.last().Results(); len(results) != 1 || results[0].Output != "slept" {
			s.Errorf("results %+v", results)
		}
		if n := strings.Count(strings.Join(s.gate.did, " "), "Renew"); n < 300 {
			s.Errorf("renewed %d times in an hour", n)
		}
	}, say(use("a", "Bash")))
}

// TestLostAnswers: the gate has done what it was asked and the answer got lost. Asking
// again changes nothing.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Submit", "Finish", "Compose"} {
		play(t, func(s *stage) {
			lost := 0
			s.gate.breaks(func(m string, after bool) error {
				if m == method && after && lost < 3 {
					lost++
					return errAway
				}
				return nil
			})
			s.begin("go").finish()
			s.stands("a b", 2)
			if lost != 3 {
				s.Errorf("%s: lost %d answers", method, lost)
			}
		}, say(use("a", "Bash"), use("b", "Write")))
	}
}

// TestSessionEndedByAPerson: the running call is ended, and so is the run.
func TestSessionEndedByAPerson(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.tools.run = busy
		r := s.begin("go")
		err := s.gate.step(s.Context(), "End", 0, func() error {
			s.gate.append(umpire.Event{Kind: umpire.EventSessionEnded})
			s.gate.session.State = umpire.SessionOver
			return nil
		})
		if err != nil {
			s.Fatal(err)
		}
		<-r.ended
		if !errors.Is(r.err, errEnded) {
			s.Errorf("got %v", r.err)
		}
	}, say(use("a", "Bash")))
}

// TestStartThatIsNotGranted for no reason that can be seen is an error, not a loop.
func TestStartThatIsNotGranted(t *testing.T) {
	t.Parallel()
	play(t, func(s *stage) {
		s.gate.breaks(func(method string, after bool) error {
			if method == "Start" && after {
				return errAway // it is executing now, and this runner does not know
			}
			return nil
		})
		r := s.begin("go")
		<-r.ended
		if !errors.Is(r.err, errAway) {
			s.Fatalf("got %v", r.err)
		}
		s.gate.breaks(nil)
		r = s.begin("")
		<-r.ended
		if !errors.Is(r.err, umpire.ErrState) {
			s.Errorf("going on in the same epoch: %v", r.err)
		}
		s.stands("", 1)
	}, say(use("a", "Bash")))
}

// TestEndsAnywhere: the runner loses its gate at every possible step, before and after the step is
// done. Another one continues, and a person settles doubtful calls. In every case, each call has
// one result, none has run twice, all ran in order, and the model gets an answer to each.
func TestEndsAnywhere(t *testing.T) {
	t.Parallel()
	script := []llm.Message{
		say("one", use("a", "Read"), use("b", "Bash"), use("c", "Write")), say("two", use("d", "Bash")), say("three"),
	}
	for _, late := range []bool{false, true} {
		for at := 1; ; at++ {
			reached := false
			play(t, func(s *stage) { reached = s.endAt(at, late) }, script...)
			if !reached {
				if at < 15 {
					t.Errorf("only %d steps", at)
				}
				break
			}
		}
	}
}

// endAt makes the runner lose its gate at one step, and checks the result.
func (s *stage) endAt(at int, late bool) (reached bool) {
	name := fmt.Sprintf("step %d, late %v", at, late)
	s.gate.effect = func(c umpire.Call) umpire.Effect {
		if c.Tool == "Read" {
			return umpire.EffectPure
		}
		return umpire.EffectUnknown
	}
	s.gate.decide = asking("Write")
	n, lost := 0, false
	var mu sync.Mutex
	s.gate.breaks(func(method string, after bool) error {
		mu.Lock()
		defer mu.Unlock()
		if method == "Resolve" || method == "Continue" {
			return nil
		}
		if !slices.Contains([]string{"Events", "Watch", "Batch", "Renew", "Pending", "Session"}, method) && after == late {
			n++
		}
		lost = lost || n >= at
		if lost {
			return errAway
		}
		return nil
	})
	r := s.begin("go")
	mu.Lock()
	fine := !lost
	mu.Unlock()
	if fine {
		_ = s.gate.answer("c", umpire.Approve)
		synctest.Wait()
	}
	<-r.ended
	if !lost && r.err == nil { // the run is over: no other runner continues it
		s.check(name)
		return false
	}
	s.gate.breaks(nil)
	s.gate.takeOver()
	task := ""
	if len(s.gate.messages) == 0 {
		task = "go" // it was never submitted
	}
	r = s.begin(task)
	for _, c := range []umpire.CallID{"a", "b", "c", "d"} {
		_ = s.gate.answer(c, umpire.Approve) // a call that is not waiting has been answered
		synctest.Wait()
	}
	<-r.ended
	if r.err != nil {
		s.Errorf("%s: %v\n%s", name, r.err, s.gate.kinds())
	}
	s.check(name)
	return true
}

func (s *stage) check(name string) {
	s.Helper()
	ran := strings.Fields(s.tools.all())
	for _, c := range []string{"b", "c", "d"} {
		if n := strings.Count(strings.Join(ran, " "), c); n > 1 {
			s.Errorf("%s: %s ran %d times", name, c, n)
		}
	}
	if !slices.IsSorted(ran) {
		s.Errorf("%s: ran %v", name, ran)
	}
	for _, c := range []umpire.CallID{"a", "b", "c", "d"} {
		if _, ok := s.gate.results[c]; !ok {
			s.Errorf("%s: call %s has no result\n%s", name, c, s.gate.kinds())
		}
	}
	if s.gate.session.State != umpire.SessionIdle || s.gate.openBatch() != nil {
		s.Errorf("%s: the session is left %s\n%s", name, s.gate.session.State, s.gate.kinds())
	}
}
