package gate

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// The crash matrix of a trial: a child tries a script whose effects are allowed, and keeps them.
// Keeping appends a line to a file, which would reveal a second time.

// crashTrier is a runner that tries, in the folder of a child that was killed.
func crashTrier(t *testing.T, dir string) *trier {
	t.Helper()
	d := crashDesk(t, dir)
	d.settings.Autonomy = policy.AutonomyMedium.Autonomy()
	return &trier{testGate: d, sandbox: &umpire.Confinement{Level: umpire.SandboxFull, Trials: true}}
}

// tryScript takes the batch to its end, from wherever it stands.
func (r *trier) tryScript() {
	r.t.Helper()
	b := must(r.Batch(r.t.Context(), r.session.ID, "m1"))(r.t)
	for b.State != umpire.BatchFinished && b.State != umpire.BatchDelivered {
		if b.State == umpire.BatchWaiting {
			b = r.tell(r.report(r.begin().Trial, "made.txt"))
			continue
		}
		s := r.start("c")
		if b = s.Batch; !s.Go {
			continue
		}
		r.perform("kept")
		r.settle(r.settlement(s.Trial.ID, umpire.TrialKept, s.Trial.Effects.Digest))
		b = r.finish(umpire.ResultOK)
	}
}

// TestTrialCrashChild is the child. Alone it does nothing.
func TestTrialCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("only runs as the child of TestTrialCrashMatrix")
	}
	r := crashTrier(t, dir)
	never := r.endAtPlace()
	r.session = must(r.sessions.Open(t.Context(), umpire.Opening{ID: "s1", Dir: r.project, Runner: "runner"}))(t)
	r.hand(command("c", unknownScript))
	r.tryScript()
	never()
}

var trialCrashRows = []struct {
	name, at string
	trial    umpire.TrialState // that is found
	call     umpire.CallState
	lost     bool // a person is asked about the outcome of the call
	kept     int  // how often the effects were made real in the end
}{
	{"1 begun, the command has not run", "trying:1", umpire.TrialRunning, umpire.CallAsked, false, 1},
	{"2 the command has run, nobody knows", "tried:1", umpire.TrialRunning, umpire.CallAsked, false, 1},
	{"3 decided on its effects, not started", "reported:1", umpire.TrialWaiting, umpire.CallApproved, false, 1},
	{"4 started, not kept", "started:2", umpire.TrialWaiting, umpire.CallExecuting, true, 0},
	{"5 kept, nobody knows", "kept:1", umpire.TrialWaiting, umpire.CallExecuting, true, 1},
	{"6 kept and said, no result", "settled:1", "", umpire.CallExecuting, true, 1},
}

// TestTrialCrashMatrix: effects are never kept twice, and never without a start of the call.
func TestTrialCrashMatrix(t *testing.T) {
	t.Parallel()
	for _, row := range trialCrashRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "p"), 0o755); err != nil {
				t.Fatal(err)
			}
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestTrialCrashChild$", "-test.v")
			child.Env = append(os.Environ(), crashDir+"="+dir, crashPlace+"="+row.at)
			out, err := child.CombinedOutput()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || !exit.Sys().(syscall.WaitStatus).Signaled() {
				t.Fatalf("the child was not killed: %v\n%s", err, out)
			}
			r := crashTrier(t, dir)
			defer r.shut()
			b := must(r.Batch(t.Context(), "s1", "m1"))(t)
			if c := b.Calls[0]; c.TrialState != row.trial || c.State != row.call {
				t.Errorf("found a call that is %s with a trial that is %q", c.State, c.TrialState)
			}
			r.pass(lease + time.Second)
			r.session = must(r.sessions.Continue(t.Context(), umpire.Resumption{ID: "s1", Dir: r.project, Runner: "next"}))(t)
			if row.lost {
				p := r.pending("c")
				if !p.Indeterminate {
					t.Errorf("the question is %+v", p)
				}
				choice := umpire.Refuse
				if row.kept > 0 {
					choice = umpire.Approve
				}
				must(r.Resolve(t.Context(), answerTo(p, choice)))(t)
			}
			r.tryScript()
			if got := r.performed(); len(got) != row.kept {
				t.Errorf("kept %d times, want %d", len(got), row.kept)
			}
			kinds := r.kinds(r.session)
			if kept := slices.Contains(kinds, umpire.EventEffectsKept); kept != (row.kept > 0) {
				t.Errorf("the timeline says kept: %t\n%v", kept, kinds)
			}
			if b := must(r.Batch(t.Context(), "s1", "m1"))(t); b.Calls[0].Trial != "" || b.Calls[0].Result == nil {
				t.Errorf("in the end: %+v", b)
			}
		})
	}
}
