package gate

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/policy"
)

// A trier is a runner that tries commands, with effects chosen by the test.
type trier struct {
	*testGate

	session umpire.Session
	sandbox *umpire.Confinement
}

// newTrier has a session of a runner, at a level of autonomy.
func newTrier(t *testing.T, level policy.Level, o umpire.Opening) *trier {
	t.Helper()
	d := newTestGate(t)
	d.settings.Autonomy = level.Autonomy()
	o.Runner = "runner"
	return &trier{
		testGate: d, session: d.session(o),
		sandbox: &umpire.Confinement{Level: umpire.SandboxFull, Trials: true},
	}
}

// hand submits calls as the runner does.
func (r *trier) hand(calls ...umpire.Call) umpire.Batch {
	r.t.Helper()
	return must(r.Submit(r.t.Context(), umpire.Submission{
		Session: r.session.ID, Batch: "m1", Calls: calls, Epoch: r.session.Epoch, Sandbox: r.sandbox,
	}))(r.t)
}

func (r *trier) start(id string) umpire.Started {
	r.t.Helper()
	return must(r.Start(r.t.Context(), umpire.Start{
		Session: r.session.ID, Batch: "m1", Call: umpire.CallID(id), Epoch: r.session.Epoch, Runner: "runner",
		Sandbox: r.sandbox,
	}))(r.t)
}

func (r *trier) request() umpire.TrialRequest {
	return umpire.TrialRequest{
		Session: r.session.ID, Batch: "m1", Call: "c", Epoch: r.session.Epoch, Runner: "runner",
		Sandbox: r.sandbox,
	}
}

func (r *trier) begin() umpire.BegunTrial {
	r.t.Helper()
	return must(r.trials.Begin(r.t.Context(), r.request()))(r.t)
}

// report says that a trial made files of the project, by their names.
func (r *trier) report(id umpire.TrialID, names ...string) umpire.TrialReport {
	effects := umpire.TrialEffects{Whole: true, Digest: "digest of " + strings.Join(names, " ")}
	for _, name := range names {
		path := name
		if !filepath.IsAbs(path) {
			path = r.file(name)
		}
		effects.List = append(effects.List, umpire.TrialEffect{Kind: umpire.EffectCreated, Path: path, Mode: 0o644})
	}
	return umpire.TrialReport{
		Trial: id, Session: r.session.ID, Batch: "m1", Epoch: r.session.Epoch, Output: "it ran", Effects: effects,
		Sandbox: r.sandbox,
	}
}

func (r *trier) tell(report umpire.TrialReport) umpire.Batch {
	r.t.Helper()
	return must(r.trials.Report(r.t.Context(), report))(r.t)
}

func (r *trier) settlement(id umpire.TrialID, state umpire.TrialState, digest string) umpire.TrialSettlement {
	return umpire.TrialSettlement{
		Trial: id, Session: r.session.ID, Batch: "m1", Epoch: r.session.Epoch, State: state, Digest: digest,
		Sandbox: r.sandbox,
	}
}

func (r *trier) settle(s umpire.TrialSettlement) umpire.Batch {
	r.t.Helper()
	return must(r.trials.Settle(r.t.Context(), s))(r.t)
}

func (r *trier) finish(status umpire.ResultStatus) umpire.Batch {
	r.t.Helper()
	return must(r.Finish(r.t.Context(), umpire.Result{
		Session: r.session.ID, Batch: "m1", Call: "c", Status: status, Output: "it ran", Epoch: r.session.Epoch,
	}))(r.t)
}

// trialKinds are the kinds of the session's events about trials, answers and starts.
func (r *trier) trialKinds() (kinds []umpire.EventKind) {
	r.t.Helper()
	shown := []umpire.EventKind{
		umpire.EventTrialStarted, umpire.EventTrialRan, umpire.EventEffectsKept, umpire.EventEffectsDiscarded,
		umpire.EventEffectsConflicted, umpire.EventPermissionAsked, umpire.EventPermissionApproved,
		umpire.EventPermissionRejected, umpire.EventPermissionBypassedByRule, umpire.EventCallStarted, umpire.EventCallFinished,
	}
	for _, kind := range r.kinds(r.session) {
		if slices.Contains(shown, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (r *trier) wantKinds(want ...umpire.EventKind) {
	r.t.Helper()
	if got := r.trialKinds(); !slices.Equal(got, want) {
		r.t.Errorf("events\n%v, want\n%v", got, want)
	}
}

const unknownScript = "./gen.sh"

// TestTrialFirstIsKeptUnasked: at a level of autonomy that tries first, a script with effects
// inside the project runs without a question. It is started, and its runner keeps the layer.
func TestTrialFirstIsKeptUnasked(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
	if b := r.hand(command("c", unknownScript)); b.State != umpire.BatchRunning {
		t.Fatalf("handed in: %+v", b)
	}
	if s := r.start("c"); s.Go || s.Batch.State != umpire.BatchWaiting || r.pending("c").TrialOffer != umpire.TrialFirst {
		t.Fatalf("it is to be tried first: %+v", s)
	}
	begun := r.begin()
	if begun.Call.Tool != "Bash" || begun.Batch.Calls[0].TrialState != umpire.TrialRunning {
		t.Errorf("begun: %+v", begun)
	}
	report := r.report(begun.Trial, "made.txt")
	b := r.tell(report)
	if b.State != umpire.BatchRunning || b.Calls[0].State != umpire.CallApproved || b.Calls[0].TrialState != umpire.TrialWaiting {
		t.Fatalf("reported: %+v", b)
	}
	if again := r.tell(report); again.Calls[0].TrialState != umpire.TrialWaiting {
		t.Errorf("reported again: %+v", again)
	}
	s := r.start("c")
	if !s.Go || s.Trial == nil || s.Trial.ID != begun.Trial || s.Trial.Output != "it ran" || s.Decision.Verdict != umpire.Allow {
		t.Fatalf("started: %+v", s)
	}
	if _, err := r.trials.Settle(t.Context(), r.settlement(begun.Trial, umpire.TrialKept, "another")); !errors.Is(err, umpire.ErrChanged) {
		t.Errorf("kept another layer: %v", err)
	}
	r.settle(r.settlement(begun.Trial, umpire.TrialKept, report.Effects.Digest))
	r.settle(r.settlement(begun.Trial, umpire.TrialKept, report.Effects.Digest)) // its acknowledgement was lost
	if b := r.finish(umpire.ResultOK); b.State != umpire.BatchFinished || b.Calls[0].Trial != "" {
		t.Errorf("finished: %+v", b)
	}
	r.wantKinds(umpire.EventPermissionAsked, umpire.EventTrialStarted, umpire.EventTrialRan, umpire.EventPermissionApproved,
		umpire.EventPermissionBypassedByRule, umpire.EventCallStarted, umpire.EventEffectsKept, umpire.EventCallFinished)
}

// TestTrialFirstWithoutATrier: a runner that cannot try has a person asked, at once.
func TestTrialFirstWithoutATrier(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
	r.sandbox.Trials = false
	if b := r.hand(command("c", unknownScript)); b.State != umpire.BatchWaiting {
		t.Errorf("handed in: %+v", b)
	}
}

// TestTrialThatAsks: effects on a guarded place wait for a person, and what they approve is
// exactly that layer.
func TestTrialThatAsks(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
	r.hand(command("c", unknownScript), call("r", "Read", `{"file_path":`+quoted(r.file("a.txt"))+`}`))
	r.start("c")
	first := r.pending("c")
	begun := r.begin()
	report := r.report(begun.Trial, ".git/hooks/pre-commit", "made.txt")
	if b := r.tell(report); b.State != umpire.BatchWaiting || b.Calls[1].State != umpire.CallApproved {
		t.Fatalf("reported: %+v", b)
	}
	card := r.pending("c")
	if card.Request == first.Request || card.Trial == nil || card.Trial.State != umpire.TrialWaiting ||
		card.Trial.Effects.Digest != report.Effects.Digest || len(card.Trial.Effects.List) != 2 ||
		card.Code != umpire.CodeControlFile || card.TrialOffer != umpire.NoTrial {
		t.Fatalf("card: %+v", card)
	}
	if _, err := r.Resolve(t.Context(), answerTo(first, umpire.Approve)); !errors.Is(err, umpire.ErrChanged) {
		t.Errorf("the answer to the card before: %v", err)
	}
	if s := r.start("r"); s.Go {
		t.Error("a later call runs while effects wait")
	}
	r.approve("c", umpire.ScopeOnce)
	s := r.start("c")
	if !s.Go || s.Trial == nil || s.Trial.Effects.Digest != report.Effects.Digest {
		t.Fatalf("started: %+v", s)
	}
	r.settle(r.settlement(begun.Trial, umpire.TrialKept, report.Effects.Digest))
	r.finish(umpire.ResultOK)
	if s := r.start("r"); !s.Go {
		t.Errorf("the next call: %+v", s)
	}
}

// TestTrialDenied: a person who denies the effects discards them.
func TestTrialDenied(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
	r.hand(command("c", unknownScript))
	r.start("c")
	begun := r.begin()
	r.tell(r.report(begun.Trial, ".git/hooks/pre-commit"))
	r.refuse("c", "no hooks")
	b := must(r.Batch(t.Context(), r.session.ID, "m1"))(t)
	if b.Calls[0].Trial != "" || b.Calls[0].Result.Status != umpire.ResultDenied {
		t.Errorf("denied: %+v", b)
	}
	if _, err := r.trials.Settle(t.Context(), r.settlement(begun.Trial, umpire.TrialKept, "digest of .git/hooks/pre-commit")); !errors.Is(err, umpire.ErrState) {
		t.Errorf("kept what was denied: %v", err)
	}
}

// TestTrialAgainstARule: effects that a rule denies are discarded, and the call is denied with
// its reason.
func TestTrialAgainstARule(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
	rule := umpire.Rule{Action: umpire.Deny, Tool: "Write", Match: umpire.Match{PathGlob: "made.txt"}}
	must(r.rules.Add(t.Context(), r.project, umpire.ScopeProject, rule, umpire.Actor{}))(t)
	r.hand(command("c", unknownScript))
	r.start("c")
	b := r.tell(r.report(r.begin().Trial, "made.txt"))
	if b.State != umpire.BatchFinished || b.Calls[0].Code != umpire.CodeBlocked || b.Calls[0].Trial != "" {
		t.Errorf("reported: %+v", b)
	}
}

// TestTrialOfAPerson: a person who asked for a trial sees what it did, also where nothing asks
// about that.
func TestTrialOfAPerson(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyLow, umpire.Opening{})
	if b := r.hand(command("c", unknownScript)); b.State != umpire.BatchWaiting || r.pending("c").TrialOffer != umpire.TrialOffered {
		t.Fatalf("handed in: %+v", b)
	}
	begun := r.begin()
	if b := r.tell(r.report(begun.Trial)); b.State != umpire.BatchWaiting {
		t.Errorf("reported: %+v", b)
	}
	if card := r.pending("c"); card.Trial == nil || card.Trial.State != umpire.TrialWaiting {
		t.Errorf("card: %+v", card)
	}
	r.approve("c", umpire.ScopeOnce)
	if s := r.start("c"); !s.Go || s.Trial == nil {
		t.Errorf("started: %+v", s)
	}
}

// TestTrialThatCannotBeKept: one that failed without the network, or did more than a layer
// holds, is shown and discarded; approving runs the call.
func TestTrialThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*umpire.TrialReport){
		"not whole": func(r *umpire.TrialReport) { r.Effects.Whole = false },
		"offline": func(r *umpire.TrialReport) {
			r.Exit = 1
			r.Effects.Refused = []umpire.TrialAttempt{{Kind: umpire.AttemptNetwork, Target: "registry.example:443"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
			r.hand(command("c", unknownScript))
			r.start("c")
			report := r.report(r.begin().Trial, "made.txt")
			change(&report)
			r.tell(report)
			offer := umpire.NoTrial
			if name == "offline" {
				offer = umpire.TrialNetwork
			}
			if card := r.pending("c"); card.Trial == nil || card.Trial.State != umpire.TrialDiscarded || card.TrialOffer != offer {
				t.Errorf("card: %+v", card)
			}
			r.approve("c", umpire.ScopeOnce)
			if s := r.start("c"); !s.Go || s.Trial != nil {
				t.Errorf("started: %+v", s)
			}
		})
	}
}

// TestTrialWithTheNetwork: a trial that failed because it wanted the network runs again with it once a
// person says so, and its effects are decided on like any others. It is not run a third time.
func TestTrialWithTheNetwork(t *testing.T) {
	t.Parallel()
	offline := func(t *testing.T, level policy.Level) *trier {
		r := newTrier(t, level, umpire.Opening{})
		r.hand(command("c", unknownScript))
		r.start("c")
		report := r.report(r.begin().Trial)
		report.Exit = 1
		report.Effects.Refused = []umpire.TrialAttempt{{Kind: umpire.AttemptNetwork, Target: "registry.example:443"}}
		r.tell(report)
		return r
	}
	again := func(r *trier) umpire.BegunTrial {
		if _, err := r.trials.Begin(r.t.Context(), r.request()); !errors.Is(err, umpire.ErrNeedsPerson) {
			r.t.Errorf("begun with the network, and nobody wanted it: %v", err)
		}
		must(r.Resolve(r.t.Context(), answerTo(r.pending("c"), umpire.Try)))(r.t)
		begun := r.begin()
		if len(begun.Reach) != 1 || begun.Reach[0] != "registry.example:443" || begun.Decision.Obligations.Network {
			r.t.Errorf("begun with the network %t and %v", begun.Decision.Obligations.Network, begun.Reach)
		}
		return begun
	}
	for level, want := range map[policy.Level]umpire.CallState{
		policy.AutonomyLow: umpire.CallAsked, policy.AutonomyMedium: umpire.CallApproved,
	} {
		r := offline(t, level)
		if c := r.tell(r.report(again(r).Trial, "made.txt")).Calls[0]; c.State != want || c.TrialState != umpire.TrialWaiting {
			t.Errorf("reported at autonomy %s: %+v", level, c)
		}
	}
	r := offline(t, policy.AutonomyMedium)
	again(r)
	r.pass(lease + time.Second)
	r.session = must(r.sessions.Continue(t.Context(), umpire.Resumption{ID: r.session.ID, Dir: r.project, Runner: "next"}))(t)
	card := r.pending("c")
	if !card.Warning || card.TrialOffer != umpire.NoTrial ||
		!card.Reason.Is("its trial could reach hosts that you approved and was interrupted: what it sent is sent") {
		t.Errorf("lost: %+v", card)
	}
	if _, err := r.Resolve(t.Context(), answerTo(card, umpire.Try)); !errors.Is(err, umpire.ErrState) {
		t.Errorf("wanted again: %v", err)
	}
	r.approve("c", umpire.ScopeOnce)
	if s := r.start("c"); !s.Go {
		t.Errorf("started: %+v", s)
	}
}

// TestTrialIsNotPending: the card of a call is hidden while the call is tried before asking.
func TestTrialIsNotPending(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
	r.hand(command("c", unknownScript))
	r.start("c")
	begun := r.begin()
	if list := must(r.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != 0 {
		t.Errorf("pending while the trial runs: %+v", list)
	}
	r.tell(r.report(begun.Trial, ".git/hooks/pre-commit"))
	r.pending("c")
}

// TestTrialHeadless: a trial also decides in a headless session; a call that asks is denied.
func TestTrialHeadless(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]umpire.CallState{"made.txt": umpire.CallApproved, ".git/hooks/pre-commit": umpire.CallDone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTrier(t, policy.AutonomyMedium, umpire.Opening{Headless: true})
			r.hand(command("c", unknownScript))
			r.start("c")
			report := r.report(r.begin().Trial, name)
			c := r.tell(report).Calls[0]
			if c.State != want || want == umpire.CallDone && c.Code != umpire.CodeAutoDeny {
				t.Errorf("reported: %+v", c)
			}
			if want == umpire.CallApproved {
				if s := r.start("c"); !s.Go || s.Trial == nil {
					t.Errorf("started: %+v", s)
				}
			}
		})
	}
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{Headless: true})
	r.hand(command("c", unknownScript))
	r.start("c")
	b := r.settle(r.settlement(r.begin().Trial, umpire.TrialDiscarded, "")) // it could not be tried
	if c := b.Calls[0]; c.Code != umpire.CodeAutoDeny || c.State != umpire.CallDone {
		t.Errorf("not tried: %+v", c)
	}
}

// TestTrialTooLate: an answer during a trial is about a run, and discards it.
func TestTrialTooLate(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyLow, umpire.Opening{})
	r.hand(command("c", unknownScript))
	begun := r.begin()
	r.approve("c", umpire.ScopeOnce)
	if _, err := r.Start(t.Context(), umpire.Start{Session: r.session.ID, Batch: "m1", Call: "c", Epoch: r.session.Epoch, Sandbox: r.sandbox}); !errors.Is(err, umpire.ErrState) {
		t.Errorf("started while a trial runs: %v", err)
	}
	if b := r.tell(r.report(begun.Trial, "made.txt")); b.Calls[0].Trial != "" || b.Calls[0].State != umpire.CallApproved {
		t.Errorf("reported: %+v", b)
	}
	if s := r.start("c"); !s.Go || s.Trial != nil {
		t.Errorf("started: %+v", s)
	}
}

// TestTrialIsRefused: only the next call of a batch is tried, beside those of other sessions, and by the runner
// that has the session.
func TestTrialIsRefused(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyLow, umpire.Opening{})
	r.hand(command("c", unknownScript), command("d", unknownScript+" 2"), call("w", "Write", `{"file_path":`+quoted(r.file("w"))+`,"content":""}`))
	fails := func(want error, change func(*umpire.TrialRequest)) {
		t.Helper()
		request := r.request()
		change(&request)
		if _, err := r.trials.Begin(t.Context(), request); !errors.Is(err, want) {
			t.Errorf("begun: %v, want %v", err, want)
		}
	}
	fails(umpire.ErrState, func(q *umpire.TrialRequest) { q.Call = "d" })
	fails(umpire.ErrState, func(q *umpire.TrialRequest) { q.Call = "w" })
	fails(umpire.ErrNotFound, func(q *umpire.TrialRequest) { q.Call = "x" })
	fails(umpire.ErrFenced, func(q *umpire.TrialRequest) { q.Epoch = 7 })
	fails(umpire.ErrInvalid, func(q *umpire.TrialRequest) { q.Call = "" })
	begun := r.begin()
	fails(umpire.ErrState, func(*umpire.TrialRequest) {})
	first := r.session
	r.session = r.testGate.session(umpire.Opening{Runner: "other"})
	r.hand(command("c", unknownScript))
	r.begin() // beside the first one
	r.session = first
	report := r.report(begun.Trial, "made.txt")
	report.Epoch = 7
	if _, err := r.trials.Report(t.Context(), report); !errors.Is(err, umpire.ErrFenced) {
		t.Errorf("reported by another runner: %v", err)
	}
	// The runners are gone, and their leases are over: the next trial of the project ends theirs.
	r.pass(lease + time.Second)
	r.session = r.testGate.session(umpire.Opening{Runner: "third"})
	r.hand(command("c", unknownScript))
	r.begin()
	if b, err := r.Batch(t.Context(), first.ID, "m1"); err != nil || b.Calls[0].Trial != "" {
		t.Errorf("the trial of a runner that is gone: %v, %+v", err, b)
	}
}

// TestTrialOfAnother: a runner that takes the session discards a running trial, and leaves waiting
// effects.
func TestTrialOfAnother(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
	r.hand(command("c", unknownScript))
	r.start("c")
	lost := r.begin()
	take := func() umpire.Batch {
		r.pass(lease + time.Second)
		r.session = must(r.sessions.Continue(t.Context(), umpire.Resumption{ID: r.session.ID, Dir: r.project, Runner: "next"}))(t)
		return must(r.Batch(t.Context(), r.session.ID, "m1"))(t)
	}
	if b := take(); b.Calls[0].Trial != "" {
		t.Errorf("taken: %+v", b)
	}
	if b := r.tell(r.report(lost.Trial, "made.txt")); b.Calls[0].Trial != "" || b.State != umpire.BatchWaiting {
		t.Errorf("reported after it was discarded: %+v", b)
	}
	begun := r.begin()
	r.tell(r.report(begun.Trial, ".git/hooks/pre-commit"))
	if b := take(); b.Calls[0].TrialState != umpire.TrialWaiting {
		t.Errorf("taken: %+v", b)
	}
	card := r.pending("c")
	b := r.settle(r.settlement(begun.Trial, umpire.TrialDiscarded, "")) // its layer is gone
	if again := r.pending("c"); b.Calls[0].Trial != "" || again.Trial != nil || again.Request == card.Request {
		t.Errorf("discarded: %+v", again)
	}
	if _, err := r.Resolve(t.Context(), answerTo(card, umpire.Approve)); !errors.Is(err, umpire.ErrChanged) {
		t.Errorf("the answer to a card of a layer that is gone: %v", err)
	}
	r.approve("c", umpire.ScopeOnce)
	if s := r.start("c"); !s.Go || s.Trial != nil {
		t.Errorf("started: %+v", s)
	}
}

// TestTrialInConflict: effects that were not kept since somebody else changed the files end the
// call with an error, and may still be kept later.
func TestTrialInConflict(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
	r.hand(command("c", unknownScript))
	r.start("c")
	begun := r.begin()
	report := r.report(begun.Trial, "made.txt")
	r.tell(report)
	if _, err := r.trials.Settle(t.Context(), r.settlement(begun.Trial, umpire.TrialKept, report.Effects.Digest)); !errors.Is(err, umpire.ErrState) {
		t.Errorf("kept before the call was started: %v", err)
	}
	r.start("c")
	if _, err := r.Finish(t.Context(), umpire.Result{Session: r.session.ID, Batch: "m1", Call: "c", Status: umpire.ResultOK, Epoch: r.session.Epoch}); !errors.Is(err, umpire.ErrState) {
		t.Errorf("finished while its effects wait: %v", err)
	}
	conflict := r.settlement(begun.Trial, umpire.TrialConflict, "")
	conflict.Paths = []string{r.file("made.txt")}
	r.settle(conflict)
	if b := r.finish(umpire.ResultError); b.Calls[0].TrialState != umpire.TrialConflict || b.State != umpire.BatchFinished {
		t.Errorf("finished: %+v", b)
	}
	if b := r.settle(r.settlement(begun.Trial, umpire.TrialKept, report.Effects.Digest)); b.Calls[0].Trial != "" {
		t.Errorf("kept after all: %+v", b)
	}
}

// TestTrialOnTheTimeline: the events say which trial, what it changed and what it was refused,
// with secrets masked.
func TestTrialOnTheTimeline(t *testing.T) {
	t.Parallel()
	r := newTrier(t, policy.AutonomyMedium, umpire.Opening{})
	r.hand(command("c", unknownScript))
	r.start("c")
	begun := r.begin()
	report := r.report(begun.Trial, "a.txt", "b.txt")
	report.Effects.Refused = []umpire.TrialAttempt{{Kind: umpire.AttemptNetwork, Target: "example.org:443"}}
	r.tell(report)
	for _, e := range must(r.Events(t.Context(), umpire.Filter{Session: r.session.ID}))(t) {
		if e.Kind != umpire.EventTrialRan {
			continue
		}
		var d batch.Tried
		if err := json.Unmarshal(e.Data, &d); err != nil {
			t.Fatal(err)
		}
		if d.Trial != begun.Trial || d.Counts["created"] != 2 || len(d.Paths) != 2 || !slices.Equal(d.Refused, []string{"example.org:443"}) || *d.Exit != 0 {
			t.Errorf("%s", e.Data)
		}
		return
	}
	t.Error("no TrialRan")
}
