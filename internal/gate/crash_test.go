package gate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// The crash matrix: a child process plays one conversation and is killed by SIGKILL at a named
// place. Then the test reopens the store and compares its state and the recovery with the table in
// docs/batch.md.
//
// The conversation is one message with two calls: a Write that asks, and a Read. The Write appends
// a line to a file, which would reveal a second run.

const (
	crashPlace = "UMPIRE_TEST_CRASH" // PLACE:NTH
	crashDir   = "UMPIRE_TEST_CRASH_DIR"
)

// TestCrashChild is the child. Alone it does nothing.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("only runs as the child of TestCrashMatrix")
	}
	d := crashDesk(t, dir)
	never := d.endAtPlace()
	d.play()
	never()
}

// endAtPlace has the process end itself at the place that its environment names. The function
// that it returns fails the test of a child that has not come there.
func (d *testGate) endAtPlace() (never func()) {
	d.t.Helper()
	place, nth, _ := strings.Cut(os.Getenv(crashPlace), ":")
	left, err := strconv.Atoi(nth)
	if err != nil {
		d.t.Fatal(err)
	}
	d.be.crash = func(at string) {
		if at != place {
			return
		}
		if left--; left == 0 {
			_ = must(os.FindProcess(os.Getpid()))(d.t).Kill()
			select {}
		}
	}
	return func() { d.t.Fatalf("never came to %s a %s. time", place, nth) }
}

func crashDesk(t *testing.T, dir string) *testGate {
	t.Helper()
	d := &testGate{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "p"), clock: time.Now().UTC()}
	d.database = filepath.Join(d.home, "state", "umpire.db")
	d.settings = config.Settings{Settings: policy.Settings{Mode: umpire.ModeDefault}, MaxPending: 100}
	d.open()
	return d
}

func (d *testGate) effects() string { return filepath.Join(filepath.Dir(d.project), "effects") }

// perform runs a call.
func (d *testGate) perform(id umpire.CallID) {
	d.t.Helper()
	f, err := os.OpenFile(d.effects(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := f.WriteString(string(id) + "\n"); err != nil {
		d.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		d.t.Fatal(err)
	}
}

func (d *testGate) performed() []string {
	text, err := os.ReadFile(d.effects())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
	return strings.Fields(string(text))
}

func (d *testGate) crashSubmission(s umpire.Session) umpire.Submission {
	return umpire.Submission{Session: s.ID, Batch: "m1", Epoch: s.Epoch, Message: json.RawMessage(`"m1"`), Calls: []umpire.Call{
		call("w", "Write", `{"file_path":`+quoted(d.file("w.txt"))+`,"content":"w"}`),
		command("n", "npm install x"),
		call("r", "Read", `{"file_path":`+quoted(d.file("w.txt"))+`}`),
	}}
}

// play is the conversation.
func (d *testGate) play() {
	ctx := context.Background()
	s := must(d.sessions.Open(ctx, umpire.Opening{ID: "s1", Dir: d.project, Runner: "runner"}))(d.t)
	must(d.conversations.Prompt(ctx, umpire.Prompt{Session: s.ID, Text: "go", Epoch: s.Epoch}))(d.t)
	must(d.conversations.Compose(ctx, s.ID, s.Epoch))(d.t)
	must(d.Submit(ctx, d.crashSubmission(s)))(d.t)
	d.approve("w", umpire.ScopeOnce)
	d.approve("n", umpire.ScopeOnce)
	d.goOn(s)
}

// goOn runs the calls that may run, and passes the results to the model.
func (d *testGate) goOn(s umpire.Session) {
	d.t.Helper()
	ctx := context.Background()
	b := must(d.Batch(ctx, s.ID, "m1"))(d.t)
	for b.State == umpire.BatchRunning {
		next := b.Next()
		started := must(d.Start(ctx, umpire.Start{Session: s.ID, Batch: b.ID, Call: next.ID, Epoch: s.Epoch, Runner: "runner"}))(d.t)
		if !started.Go {
			d.t.Fatalf("call %s does not start: %+v", next.ID, started.Batch)
		}
		d.perform(next.ID)
		b = must(d.Finish(ctx, umpire.Result{Session: s.ID, Batch: b.ID, Call: next.ID, Status: umpire.ResultOK, Output: "done", Epoch: s.Epoch}))(d.t)
	}
	if b.State != umpire.BatchFinished {
		return
	}
	must(d.conversations.Compose(ctx, s.ID, s.Epoch))(d.t)
	must(d.conversations.Reply(ctx, umpire.Reply{Session: s.ID, Message: json.RawMessage(`"end"`), Epoch: s.Epoch}))(d.t)
}

// A crashRow is one row of the matrix.
type crashRow struct {
	name, at string
	// found checks the state that the crash left.
	found func(*testing.T, *testGate)
	// recover does the next steps of a person and a runner.
	recover func(*testing.T, *testGate, umpire.Session)
	// ran are the effects in the end.
	ran []string
}

var crashRows = []crashRow{
	{"1 before the batch is stored", "judged:1", noBatch, submitAgain, []string{"w", "n", "r"}},
	{"2 stored, nobody has seen it", "submitted:1", twoPending, answerBoth, []string{"w", "n", "r"}},
	{"3 answered, not committed", "answered:1", twoPending, answerBoth, []string{"w", "n", "r"}},
	{"4 committed, acknowledgement lost", "resolved:1", firstStands, answerRest, []string{"w", "n", "r"}},
	{"5 some answered", "answered:2", noneRuns, answerRest, []string{"w", "n", "r"}},
	{"6 approved, not started", "starting:1", callIs("w", umpire.CallApproved), justGoOn, []string{"w", "n", "r"}},
	{"7 started, before its effect", "started:1", callIs("w", umpire.CallExecuting), settleLost, []string{"n", "r"}},
	{"8 after its effect, no result", "ran:1", callIs("w", umpire.CallExecuting), settleLost, []string{"w", "n", "r"}},
	{"8 a call that only looks", "ran:3", callIs("r", umpire.CallExecuting), justGoOn, []string{"w", "n", "r", "r"}},
	{"9 result stored", "finished:1", callIs("w", umpire.CallDone), justGoOn, []string{"w", "n", "r"}},
	{"10 last result stored, nobody went on", "finished:3", callIs("r", umpire.CallDone), claimOnce, []string{"w", "n", "r"}},
	{"11 taken to the model, not delivered", "composed:2", claimedNotDelivered, justGoOn, []string{"w", "n", "r"}},
	{"12 delivered, not marked", "replying:1", claimedNotDelivered, justGoOn, []string{"w", "n", "r"}},
}

func TestCrashMatrix(t *testing.T) {
	t.Parallel()
	for _, row := range crashRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "p"), 0o755); err != nil {
				t.Fatal(err)
			}
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestCrashChild$", "-test.v")
			child.Env = append(os.Environ(), crashDir+"="+dir, crashPlace+"="+row.at)
			out, err := child.CombinedOutput()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || !exit.Sys().(syscall.WaitStatus).Signaled() {
				t.Fatalf("the child was not killed: %v\n%s", err, out)
			}
			d := crashDesk(t, dir)
			defer d.shut()
			row.found(t, d)
			d.pass(lease + time.Second)
			s := must(d.sessions.Continue(t.Context(), umpire.Resumption{ID: "s1", Dir: d.project, Runner: "next"}))(t)
			row.recover(t, d, s)
			d.afterCrash(s, row.ran)
		})
	}
}

// afterCrash checks the invariants after every recovery.
func (d *testGate) afterCrash(s umpire.Session, ran []string) {
	d.t.Helper()
	if got := d.performed(); !slices.Equal(got, ran) {
		d.t.Errorf("effects are %v, want %v", got, ran)
	}
	b := must(d.Batch(d.t.Context(), s.ID, "m1"))(d.t)
	if b.State != umpire.BatchDelivered {
		d.t.Errorf("the batch is %s in the end", b.State)
	}
	events := must(d.Events(d.t.Context(), umpire.Filter{}))(d.t)
	var kinds []umpire.EventKind
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	for _, kind := range []umpire.EventKind{umpire.EventBatchSubmitted, umpire.EventBatchFinished, umpire.EventBatchDelivered} {
		if n := count(kinds, kind); n != 1 {
			d.t.Errorf("%d %s", n, kind)
		}
	}
	breaks, err := store.Verify(func(yield func(umpire.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil || len(breaks) > 0 {
		d.t.Errorf("the chain: %v %v", breaks, err)
	}
}

func noBatch(t *testing.T, d *testGate) {
	if _, err := d.Batch(t.Context(), "s1", "m1"); !errors.Is(err, umpire.ErrNotFound) {
		t.Errorf("the batch: %v", err)
	}
}

func twoPending(t *testing.T, d *testGate) {
	if n := len(must(d.Pending(t.Context(), umpire.PendingQuery{}))(t)); n != 2 {
		t.Errorf("%d questions", n)
	}
}

// firstStands: the answer whose acknowledgement was lost is the one that stands.
func firstStands(t *testing.T, d *testGate) {
	b := must(d.Batch(t.Context(), "s1", "m1"))(t)
	var late *umpire.ResolvedError
	_, err := d.Resolve(t.Context(), umpire.Answer{
		Request: b.Calls[0].Request, ArgsHash: b.Calls[0].ArgsHash, ShownDigest: "any", Choice: umpire.Refuse,
	})
	if !errors.As(err, &late) || late.Standing.Choice != umpire.Approve {
		t.Errorf("answering again gave %v", err)
	}
}

func noneRuns(t *testing.T, d *testGate) {
	started := must(d.Start(t.Context(), umpire.Start{Session: "s1", Batch: "m1", Call: "w"}))(t)
	if started.Go || started.Batch.State != umpire.BatchWaiting {
		t.Errorf("started is %+v", started)
	}
}

func callIs(id umpire.CallID, want umpire.CallState) func(*testing.T, *testGate) {
	return func(t *testing.T, d *testGate) {
		t.Helper()
		b := must(d.Batch(t.Context(), "s1", "m1"))(t)
		if got := b.Call(id).State; got != want {
			t.Errorf("call %s is %s, want %s", id, got, want)
		}
	}
}

func claimedNotDelivered(t *testing.T, d *testGate) {
	err := d.be.view(t.Context(), func(tx *store.Tx) error {
		row, err := tx.Resumes.Get("s1", "m1")
		if err == nil && !row.DeliveredAt.IsZero() {
			t.Error("it is marked as delivered")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func submitAgain(t *testing.T, d *testGate, s umpire.Session) {
	must(d.Submit(t.Context(), d.crashSubmission(s)))(t)
	answerBoth(t, d, s)
}

func answerBoth(_ *testing.T, d *testGate, s umpire.Session) {
	d.approve("w", umpire.ScopeOnce)
	d.approve("n", umpire.ScopeOnce)
	d.goOn(s)
}

func answerRest(_ *testing.T, d *testGate, s umpire.Session) {
	d.approve("n", umpire.ScopeOnce)
	d.goOn(s)
}

func justGoOn(_ *testing.T, d *testGate, s umpire.Session) { d.goOn(s) }

// settleLost: a call that may have run waits for a person, and never runs again.
func settleLost(t *testing.T, d *testGate, s umpire.Session) {
	if p := d.pending("w"); !p.Indeterminate {
		t.Errorf("the question is %+v", p)
	}
	must(d.Resolve(t.Context(), answerTo(d.pending("w"), umpire.Refuse)))(t)
	d.goOn(s)
}

// claimOnce: only one of the competing runners wins.
func claimOnce(t *testing.T, d *testGate, s umpire.Session) {
	if _, err := d.conversations.Compose(t.Context(), s.ID, s.Epoch-1); !errors.Is(err, umpire.ErrFenced) {
		t.Errorf("the runner before is not fenced off: %v", err)
	}
	d.goOn(s)
}
