package gate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/umpirehq/umpire"
)

// hosted opens the session of a host that asks call by call.
func (d *testGate) hosted() {
	d.t.Helper()
	d.session(umpire.Opening{ID: "s1", Agent: "claude", External: true, Runner: "host:1:2"})
}

func single(c umpire.Call) umpire.Submission {
	return umpire.Submission{Session: "s1", Batch: umpire.BatchID(c.ID), Lane: string(c.ID), Calls: []umpire.Call{c}}
}

// inTwoSteps does the same as Admit, in two steps.
func (d *testGate) inTwoSteps(c umpire.Call) umpire.Started {
	d.t.Helper()
	b := must(d.Submit(d.t.Context(), single(c)))(d.t)
	if b.Calls[0].State != umpire.CallApproved {
		return umpire.Started{Batch: b}
	}
	return must(d.Start(d.t.Context(), umpire.Start{Session: "s1", Batch: b.ID, Call: c.ID, Runner: "host:1:2"}))(d.t)
}

// TestAdmitTellsWhatSubmitAndStartTell: for calls of every fate, the same events, the
// same rows and the same answer.
func TestAdmitTellsWhatSubmitAndStartTell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]umpire.Call{
		"safe": command("c", "ls"), "asks": command("c", "npm install x"), "denied": command("c", "rm -rf /"),
		"outside": call("c", "Read", `{"file_path":"/opt/x"}`), "tool": call("c", "Mystery", `{"a":1}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two, one := newTestGate(t), newTestGate(t)
			one.project = two.project
			two.hosted()
			one.hosted()
			want := two.inTwoSteps(c)
			got := must(one.Admit(t.Context(), single(c), "host:1:2", nil))(t)
			times := cmpopts.IgnoreFields(umpire.Event{}, "At", "Hash", "PrevHash", "Data", "Request")
			if got.Go != want.Go || got.Attempt != want.Attempt {
				t.Errorf("go %t, attempt %d; want %t, %d", got.Go, got.Attempt, want.Go, want.Attempt)
			}
			if diff := cmp.Diff(want.Decision, got.Decision); diff != "" {
				t.Error(diff)
			}
			filter := umpire.Filter{Session: "s1"}
			told, tells := must(two.Events(t.Context(), filter))(t), must(one.Events(t.Context(), filter))(t)
			if diff := cmp.Diff(told, tells, times); diff != "" {
				t.Error(diff)
			}
			for i := range told {
				if told[i].Kind == umpire.EventCallStarted && string(told[i].Data) != string(tells[i].Data) {
					t.Errorf("started as %s, want %s", tells[i].Data, told[i].Data)
				}
			}
			states := cmpopts.IgnoreFields(umpire.BatchCall{}, "Request", "Input")
			results := cmpopts.IgnoreFields(umpire.Result{}, "At")
			if diff := cmp.Diff(must(two.Batch(t.Context(), "s1", "c"))(t), must(one.Batch(t.Context(), "s1", "c"))(t), states, results); diff != "" {
				t.Error(diff)
			}
			if want.Go {
				finished := must(one.Finish(t.Context(), umpire.Result{Session: "s1", Batch: "c", Call: "c", Status: umpire.ResultOK}))(t)
				if finished.State != umpire.BatchDelivered {
					t.Errorf("the batch is %s once it ran", finished.State)
				}
			}
		})
	}
}

// TestAdmitStartsOnce: of the same call submitted many times at once, one starts.
func TestAdmitStartsOnce(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.hosted()
	const times = 8
	var started [times]umpire.Started
	var group sync.WaitGroup
	for i := range started {
		group.Go(func() {
			var err error
			if started[i], err = d.Admit(t.Context(), single(command("c", "ls")), "host:1:2", nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	runs := 0
	for _, s := range started {
		if s.Go {
			runs++
		} else if s.Batch.Calls[0].State != umpire.CallExecuting {
			t.Errorf("one that does not start hears %s", s.Batch.Calls[0].State)
		}
	}
	if runs != 1 {
		t.Errorf("%d of %d start", runs, times)
	}
	if _, err := d.Admit(t.Context(), single(command("c", "pwd")), "", nil); !errors.Is(err, umpire.ErrState) {
		t.Errorf("the same id with another call: %v", err)
	}
	if _, err := d.Admit(t.Context(), umpire.Submission{Session: "s1", Batch: "b", Calls: []umpire.Call{command("x", "ls"), command("y", "ls")}}, "", nil); !errors.Is(err, umpire.ErrInvalid) {
		t.Errorf("two calls: %v", err)
	}
}

// TestAdmitCrashChild is the child of the test below. Alone it does nothing.
func TestAdmitCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("only runs as a child")
	}
	d := crashDesk(t, dir)
	d.be.crash = func(at string) {
		if at == os.Getenv(crashPlace) {
			_ = must(os.FindProcess(os.Getpid()))(t).Kill()
			select {}
		}
	}
	d.hosted()
	must(d.Admit(t.Context(), single(command("c", "ls")), "host:1:2", nil))(t)
	t.Fatal("was not ended")
}

// TestAdmitAfterACrash: before the commit nothing was handed in, and the retry
// starts the call; after it the call is known as started, and no retry starts it.
func TestAdmitAfterACrash(t *testing.T) {
	t.Parallel()
	for place, stored := range map[string]bool{"judged": false, "submitted": true, "started": true} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "p"), 0o755); err != nil {
				t.Fatal(err)
			}
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAdmitCrashChild$", "-test.v")
			child.Env = append(os.Environ(), crashDir+"="+dir, crashPlace+"="+place)
			out, err := child.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || !exit.Sys().(syscall.WaitStatus).Signaled() {
				t.Fatalf("the child was not killed: %v\n%s", err, out)
			}
			d := crashDesk(t, dir)
			defer d.shut()
			b, err := d.Batch(t.Context(), "s1", "c")
			if stored && (err != nil || b.Calls[0].State != umpire.CallExecuting) || !stored && !errors.Is(err, umpire.ErrNotFound) {
				t.Errorf("the crash left %+v, %v", b, err)
			}
			again := must(d.Admit(t.Context(), single(command("c", "ls")), "host:1:2", nil))(t)
			if again.Go == stored || again.Batch.Calls[0].State != umpire.CallExecuting {
				t.Errorf("the retry starts it: %t, %+v", again.Go, again.Batch)
			}
		})
	}
}

// TestAdmitLeavesToTheHost: nothing waits and nothing starts, and the timeline records the calls
// left to the host. A call that a person denied in this turn is not left to the host.
func TestAdmitLeavesToTheHost(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.hosted()
	asked := func(d *umpire.Decision) umpire.Admission {
		if d.Verdict == umpire.Ask {
			return umpire.AdmitLeave
		}
		return umpire.AdmitStart
	}
	got := must(d.Admit(t.Context(), single(command("c", "npm install x")), "host:1:2", asked))(t)
	if got.Go || got.Decision.Verdict != umpire.Ask || got.Batch.ID != "" {
		t.Errorf("go %t, decision %s, batch %q", got.Go, got.Decision.Verdict, got.Batch.ID)
	}
	headless := single(command("c2", "npm install y"))
	headless.Headless = true
	if got := must(d.Admit(t.Context(), headless, "host:1:2", asked))(t); got.Decision.Verdict != umpire.Ask {
		t.Errorf("headless: leave was shown %s, want the question", got.Decision.Verdict)
	}
	left := 0
	for _, e := range must(d.Events(t.Context(), umpire.Filter{Session: "s1"}))(t) {
		if e.Code != umpire.CodeLeftToHost {
			continue
		}
		left++
		if e.Kind != umpire.EventPermissionBypassedByRule || e.Verdict == nil || *e.Verdict != umpire.Ask || e.Tool != "Bash" || len(e.Accesses) == 0 {
			t.Errorf("event %+v", e)
		}
	}
	if left != 2 {
		t.Errorf("%d events of calls left to the host, want 2", left)
	}
	if got := must(d.Admit(t.Context(), single(command("c3", "ls")), "host:1:2", asked))(t); !got.Go {
		t.Error("a call that leave does not take did not start")
	}

	held := must(d.Admit(t.Context(), single(command("c4", "npm install z")), "host:1:2", nil))(t)
	if held.Batch.Calls[0].Request == "" {
		t.Fatal("the call is not held")
	}
	d.refuse("c4", "no")
	if got := must(d.Admit(t.Context(), single(command("c5", "npm install z")), "host:1:2", asked))(t); got.Batch.ID == "" {
		t.Error("a call that a person denied in this turn was left to the host")
	}
}

// TestAdmitAfterwards: a call that has already run is recorded on the timeline with its would-be decision,
// once, and only if it was never asked about. No hook is run for it, and nothing is stored.
func TestAdmitAfterwards(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.hosted()
	leave := func(*umpire.Decision) umpire.Admission { return umpire.AdmitLeave }
	must(d.Admit(t.Context(), single(command("started", "ls")), "host:1:2", nil))(t)
	must(d.Admit(t.Context(), single(command("left", "mkdir x")), "host:1:2", leave))(t)
	must(d.Admit(t.Context(), single(command("digest-1", "ls")), "host:1:2", nil))(t)
	for _, id := range []string{"started", "left", "digest", "lef", "never", "never"} {
		ran := single(command(id, "rm -rf /"))
		ran.Ran = true
		if got := must(d.Admit(t.Context(), ran, "host:1:2", leave))(t); got.Go || len(got.Batch.Calls) > 0 && id != "started" {
			t.Errorf("%s: %+v", id, got)
		}
	}
	var told []umpire.CallID
	for _, e := range must(d.Events(t.Context(), umpire.Filter{Session: "s1"}))(t) {
		if e.Kind != umpire.EventCallRanUnasked {
			continue
		}
		told = append(told, e.Call)
		if *e.Verdict != umpire.Deny || e.Risk != "critical" || e.Tool != "Bash" || e.Batch != umpire.BatchID(e.Call) {
			t.Errorf("event %+v", e)
		}
	}
	if want := []umpire.CallID{"lef", "never"}; !slices.Equal(told, want) {
		t.Errorf("told of %v, want %v", told, want)
	}
}

// TestAdmitRefused: a call that a host ran without permission is on the timeline once, with the
// decision that was in force. An approved call that did not start does not count.
func TestAdmitRefused(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.hosted()
	submit := func(id, line string) {
		must(d.Admit(t.Context(), single(command(id, line)), "host:1:2", nil))(t)
	}
	end := func(id string, status umpire.ResultStatus) {
		r := umpire.Result{Session: "s1", Batch: umpire.BatchID(id), Call: umpire.CallID(id), Status: status, Output: "over"}
		must(d.Finish(t.Context(), r))(t)
	}
	submit("denied", "rm -rf /")
	submit("late", "npm install a")
	end("late", umpire.ResultTimeout)
	submit("gone", "npm install b")
	end("gone", umpire.ResultCancelled)
	submit("waits", "npm install c")
	submit("digest-5-1", "npm install d")
	end("digest-5-1", umpire.ResultCancelled)
	submit("refused", "npm install e")
	d.refuse("refused", "not now")
	submit("approved", "npm install f")
	d.approve("approved", umpire.ScopeOnce)
	end("approved", umpire.ResultCancelled)
	for _, id := range []string{"denied", "late", "gone", "waits", "digest-5", "refused", "approved", "denied", "digest-5"} {
		ran := single(command(id, "npm install x"))
		ran.Ran = true
		if got := must(d.Admit(t.Context(), ran, "host:1:2", nil))(t); got.Go || len(got.Batch.Calls) > 0 {
			t.Errorf("%s: %+v", id, got)
		}
	}
	var told []string
	for _, e := range must(d.Events(t.Context(), umpire.Filter{Session: "s1"}))(t) {
		switch e.Kind {
		case umpire.EventCallRanUnasked:
			t.Errorf("unasked: %s", e.Call)
		case umpire.EventCallRanRefused:
			told = append(told, fmt.Sprintf("%s %s %s", e.Call, e.Verdict, e.Code))
			if e.Batch != umpire.BatchID(e.Call) || e.Tool != "Bash" || len(e.Accesses) == 0 {
				t.Errorf("event %+v", e)
			}
		}
	}
	want := []string{
		"denied deny critical", "late deny timeout", "gone deny cancelled", "waits ask mode",
		"digest-5-1 deny cancelled", "refused deny denied",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// TestAdmitForATicket: a call that is started or tried later is stored and does not run; for a
// look nothing is stored.
func TestAdmitForATicket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chosen umpire.Admission
		want   []umpire.EventKind
		state  umpire.CallState
	}{
		{umpire.AdmitLater, []umpire.EventKind{umpire.EventBatchSubmitted}, umpire.CallApproved},
		{umpire.AdmitTrial, []umpire.EventKind{umpire.EventBatchSubmitted}, umpire.CallApproved},
		{umpire.AdmitNothing, nil, ""},
	} {
		d := newTestGate(t)
		d.hosted()
		before := len(d.kinds(umpire.Session{ID: "s1"}))
		got := must(d.Admit(t.Context(), single(command("c", "ls")), "host:1:2", func(*umpire.Decision) umpire.Admission {
			return c.chosen
		}))(t)
		if got.Go || got.Decision.Verdict != umpire.Allow || len(got.Batch.Calls) > 0 && got.Batch.Calls[0].State != c.state {
			t.Errorf("%d: %+v", c.chosen, got)
		}
		kinds := d.kinds(umpire.Session{ID: "s1"})[before:]
		if !slices.Equal(kinds, c.want) {
			t.Errorf("%d: events %v, want %v", c.chosen, kinds, c.want)
		}
	}
}

// TestAdmitLed: a connection that was led out is stored as started, although it would ask, and nobody is asked.
func TestAdmitLed(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.hosted()
	c := call("c", umpire.ConnectTool, `{"url":"https://files.example/"}`)
	led := func(*umpire.Decision) umpire.Admission { return umpire.AdmitLed }
	if got := must(d.Admit(t.Context(), single(c), "", led))(t); !got.Go {
		t.Errorf("it did not start: %+v", got.Batch)
	}
	reached := []umpire.TrialReach{{Target: "files.example:443", Times: 1}}
	must(d.Finish(t.Context(), umpire.Result{Session: "s1", Batch: "c", Call: "c", Status: umpire.ResultOK, Reached: reached}))(t)
	kinds := d.kinds(umpire.Session{ID: "s1"})
	if slices.Contains(kinds, umpire.EventPermissionAsked) || !slices.Contains(kinds, umpire.EventCallFinished) {
		t.Error(kinds)
	}
}
