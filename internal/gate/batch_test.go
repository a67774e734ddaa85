package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// D-1 to D-5, D-14, DS-2: one message is one batch; while one call waits none runs.
func TestBatchHoldsAll(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	b := d.submit(s, "m1", d.threeCalls()...)
	if b.State != umpire.BatchWaiting || b.Waiting() != 2 || b.ID != "m1" {
		t.Fatalf("batch is %+v", b)
	}
	started := must(d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: "m1", Call: "a", Epoch: s.Epoch}))(t)
	if started.Go {
		t.Error("a call ran while others wait")
	}
	if _, err := d.conversations.Compose(t.Context(), s.ID, s.Epoch); !errors.Is(err, umpire.ErrState) {
		t.Errorf("D-13: a request while calls wait gave %v", err)
	}
	b = d.approve("b", umpire.ScopeOnce)
	if b.State != umpire.BatchWaiting || b.Waiting() != 1 {
		t.Fatalf("D-4, DS-4: after one of two answers the batch is %s with %d waiting", b.State, b.Waiting())
	}
	b = d.approve("c", umpire.ScopeOnce)
	if got := d.run(s, b); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("D-5: ran %v", got)
	}
	kinds := d.kinds(s)
	if n := count(kinds, umpire.EventBatchResumed); n != 1 {
		t.Errorf("D-6: resumed %d times: %v", n, kinds)
	}
	if n := count(kinds, umpire.EventBatchFinished); n != 1 {
		t.Errorf("finished %d times", n)
	}
	if left := must(d.Pending(t.Context(), umpire.PendingQuery{}))(t); len(left) != 0 {
		t.Errorf("D-36, DS-11: %v is pending still", left)
	}
}

// D-8 to D-12: the states that a session goes through.
func TestSessionStates(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	state := func(want umpire.SessionState) {
		t.Helper()
		if got := must(d.sessions.Get(t.Context(), s.ID))(t).State; got != want {
			t.Errorf("state is %s, want %s", got, want)
		}
	}
	state(umpire.SessionIdle)
	must(d.conversations.Prompt(t.Context(), umpire.Prompt{Session: s.ID, Text: "go", Epoch: s.Epoch}))(t)
	state(umpire.SessionGenerating)
	c := must(d.conversations.Compose(t.Context(), s.ID, s.Epoch))(t)
	if len(c.Messages) != 1 || c.Messages[0].Role != "user" {
		t.Fatalf("composed %+v", c.Messages)
	}
	d.submit(s, "m1", d.threeCalls()...)
	state(umpire.SessionWaiting)
	told := must(d.conversations.Prompt(t.Context(), umpire.Prompt{Session: s.ID, Text: "and then", Epoch: s.Epoch}))(t)
	if !told.Queued || told.Waiting != 2 {
		t.Errorf("a prompt while calls wait gave %+v", told)
	}
	d.approve("b", umpire.ScopeOnce)
	b := d.approve("c", umpire.ScopeOnce)
	state(umpire.SessionGenerating)
	d.run(s, b)
	state(umpire.SessionGenerating)
	c = must(d.conversations.Compose(t.Context(), s.ID, s.Epoch))(t)
	if n := len(c.Batches["m1"].Results); n != 3 {
		t.Errorf("D-16: %d results are there when the next request is built", n)
	}
	if n := len(c.Messages); n != 3 || c.Messages[2].Role != "user" {
		t.Errorf("the queued message is not sent: %+v", c.Messages)
	}
	must(d.conversations.Reply(t.Context(), umpire.Reply{Session: s.ID, Message: json.RawMessage(`{"text":"done"}`), Epoch: s.Epoch}))(t)
	state(umpire.SessionIdle)
	if _, err := d.conversations.Compose(t.Context(), s.ID, s.Epoch); !errors.Is(err, umpire.ErrState) {
		t.Errorf("there is nothing to send, and composing gave %v", err)
	}
}

// D-15, D-23, D-27, D-39, D-47: many answer at once; one wins, the batch resumes once.
func TestResumeIsSingleFlight(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c", "npm install x"))
	p := d.pending("c")
	const many = 20
	errs := make([]error, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() { _, errs[i] = d.Resolve(context.Background(), answerTo(p, umpire.Approve)) })
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		var late *umpire.ResolvedError
		switch {
		case err == nil:
			won++
		case !errors.As(err, &late):
			t.Errorf("a late answer gave %v", err)
		case late.Standing.Choice != umpire.Approve || late.Standing.Actor != "ann":
			t.Errorf("the standing answer is %+v", late.Standing)
		}
	}
	if won != 1 {
		t.Errorf("%d answers won", won)
	}
	starts := make([]bool, many)
	for i := range many {
		all.Go(func() {
			started, err := d.Start(context.Background(), umpire.Start{Session: s.ID, Batch: "m1", Call: "c", Runner: "r"})
			starts[i] = err == nil && started.Go
		})
	}
	all.Wait()
	if n := len(slices.DeleteFunc(starts, func(ran bool) bool { return !ran })); n != 1 {
		t.Errorf("the call was started %d times", n)
	}
	if n := count(d.kinds(s), umpire.EventBatchResumed); n != 1 {
		t.Errorf("resumed %d times", n)
	}
}

// D-44, DS-5: a refused call has one error result, the others run.
func TestPartialRefusal(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"":                 `[Tool Denied] The user denied the "Write" tool call (ID: b). Please try a different approach or ask the user for guidance.`,
		"not the config":   `[Tool Denied] The user denied the "Write" tool call (ID: b). Reason: not the config. Please adjust your approach.`,
		"不要修改配置文件":         `[Tool Denied] The user denied the "Write" tool call (ID: b). Reason: 不要修改配置文件. Please adjust your approach.`,
		"{ID} %s {REASON}": `[Tool Denied] The user denied the "Write" tool call (ID: b). Reason: {ID} %s {REASON}. Please adjust your approach.`,
	} {
		t.Run("M-133 M-134 "+reason, func(t *testing.T) {
			t.Parallel()
			d := newTestGate(t)
			s := d.session(umpire.Opening{})
			d.submit(s, "m1", d.threeCalls()...)
			d.refuse("b", reason)
			b := d.approve("c", umpire.ScopeOnce)
			if ran := d.run(s, b); !slices.Equal(ran, []string{"a", "c"}) {
				t.Errorf("ran %v", ran)
			}
			results := must(d.conversations.Compose(t.Context(), s.ID, s.Epoch))(t).Batches["m1"].Results
			if len(results) != 3 || results[1].Output != want || results[1].Status != umpire.ResultDenied || results[1].Code != umpire.CodeDenied {
				t.Errorf("results are %+v", results)
			}
			for i, id := range []umpire.CallID{"a", "b", "c"} {
				if results[i].Call != id {
					t.Errorf("result %d is of %s", i, results[i].Call)
				}
			}
		})
	}
}

// D-9 in scenarios, M-117, MP-10: once is once.
func TestOnceCoversOneCall(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	write := `{"file_path":` + quoted(d.file("b.txt")) + `,"content":"b"}`
	d.submit(s, "m1", call("w1", "Write", write))
	if ran := d.run(s, d.approve("w1", umpire.ScopeOnce)); len(ran) != 1 {
		t.Fatalf("ran %v", ran)
	}
	if b := d.submit(s, "m2", call("w2", "Write", write)); b.State != umpire.BatchWaiting {
		t.Errorf("the same call later is %s", b.State)
	}
}

// M-118, MP-11, X-10: the session's approval of a file tool covers it inside the
// project, in this session.
func TestSessionScope(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	edit := func(name string) string {
		return `{"file_path":` + quoted(name) + `,"old_string":"x","new_string":"y"}`
	}
	d.submit(s, "m1", call("e1", "Edit", edit(d.file("a.ts"))))
	d.run(s, d.approve("e1", umpire.ScopeSession))
	if b := d.submit(s, "m2", call("e2", "Edit", edit(d.file("b.ts")))); b.State != umpire.BatchRunning {
		t.Errorf("b.ts is %s: %s", b.State, b.Calls[0].Reason)
	} else {
		d.run(s, b)
	}
	if b := d.submit(s, "m3", call("e3", "Edit", edit("/q/b.ts"))); b.State != umpire.BatchWaiting {
		t.Errorf("a path outside is %s", b.State)
	}
	other := d.session(umpire.Opening{})
	if b := d.submit(other, "m1", call("e1", "Edit", edit(d.file("a.ts")))); b.State != umpire.BatchWaiting {
		t.Errorf("another session is %s", b.State)
	}
	fork := must(d.sessions.Fork(t.Context(), s.ID, umpire.Resumption{Dir: d.project}))(t)
	if b := d.submit(fork, "f1", call("e1", "Edit", edit(d.file("a.ts")))); b.State != umpire.BatchWaiting {
		t.Errorf("N-2: a fork is %s", b.State)
	}
}

// MP-12, M-119, M-203, A-16: an approval for the project is a rule in its file.
func TestProjectScopeWritesARule(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c", "npm install lodash"))
	p := d.pending("c")
	if want := []string{"Bash(=npm install lodash)"}; !slices.Equal(p.Rules, want) {
		t.Errorf("the card shows %v, want %v", p.Rules, want)
	}
	a := answerTo(p, umpire.Approve)
	a.Scope, a.Rule = umpire.ScopeProject, "Bash(npm install:*)"
	d.run(s, must(d.Resolve(t.Context(), a))(t))
	text := string(must(os.ReadFile(filepath.Join(d.project, ".umpire", "permissions.json")))(t))
	if !strings.Contains(text, `"npm install"`) {
		t.Errorf("the file holds %s", text)
	}
	other := d.session(umpire.Opening{})
	b := d.submit(other, "m1", command("c", "npm install react"))
	if b.State != umpire.BatchRunning || b.Calls[0].Code != umpire.CodeRule {
		t.Errorf("a new session is %s: %s", b.State, b.Calls[0].Reason)
	}
	if n := count(d.kinds(other), umpire.EventPermissionBypassedByRule); n != 1 {
		t.Errorf("N-43: %d events tell of the rule", n)
	}
}

// TestWhoLeavesLosesNoRule: the rule of an accepted answer is written even if the client disconnects.
func TestWhoLeavesLosesNoRule(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c", "npm install lodash"))
	a := answerTo(d.pending("c"), umpire.Approve)
	a.Scope, a.Rule = umpire.ScopeProject, "Bash(npm install:*)"
	ctx, leave := context.WithCancel(t.Context())
	d.be.crash = func(at string) {
		if at == "resolved" {
			leave()
		}
	}
	d.run(s, must(d.Resolve(ctx, a))(t))
	if b := d.submit(d.session(umpire.Opening{}), "m1", command("c", "npm install react")); b.Calls[0].Code != umpire.CodeRule {
		t.Errorf("the next call is %s: %s", b.State, b.Calls[0].Reason)
	}
}

// TestNextCallMeetsTheRule: an answer sets the agent free before its rule is written. What
// the agent hands in meanwhile waits for the rule.
func TestNextCallMeetsTheRule(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s, other := d.session(umpire.Opening{}), d.session(umpire.Opening{})
	elsewhere := d.session(umpire.Opening{Dir: t.TempDir()})
	d.submit(s, "m1", command("c", "npm install lodash"))
	a := answerTo(d.pending("c"), umpire.Approve)
	a.Scope, a.Rule = umpire.ScopeProject, "Bash(npm install:*)"
	over, end := context.WithCancel(t.Context())
	end()
	next := make(chan umpire.Batch, 1)
	d.be.crash = func(at string) {
		if at != "resolved" {
			return
		}
		d.be.crash = nil
		if d.writingRules.awaitFree(over, s.Root) == nil {
			t.Error("nothing holds back what is handed in before the rule is written")
		}
		// Calls of another project do not wait: the disk of this one may hang.
		if b := d.submit(elsewhere, "m1", command("c", "npm install vue")); b.State != umpire.BatchWaiting {
			t.Errorf("a call of another project is %s", b.State)
		}
		go func() { next <- d.submit(other, "m1", command("c", "npm install react")) }()
	}
	d.run(s, must(d.Resolve(t.Context(), a))(t))
	if b := <-next; b.State != umpire.BatchRunning || b.Calls[0].Code != umpire.CodeRule {
		t.Errorf("the next call is %s: %s", b.State, b.Calls[0].Reason)
	}
}

// DS-9: a rule that a person gives with an answer is about the call that was shown.
func TestRuleOfAnotherCall(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	for i, row := range []struct {
		call  umpire.Call
		rule  string
		scope umpire.Scope
		fits  bool
	}{
		{command("c", "npm install lodash"), "Bash(rm:*)", umpire.ScopeGlobal, false},
		{command("c", "npm install react"), "Bash(rm:*)", umpire.ScopeSession, false},
		{command("c", "npm install vue"), "Write", umpire.ScopeProject, false},
		{command("c", "make it && $(foo)"), "Bash(rm:*)", umpire.ScopeGlobal, false},
		{command("c", "npm install preact"), "Bash(npm install:*)", umpire.ScopeSession, true},
		{command("c", "make x > log"), "Edit(log)", umpire.ScopeProject, true},
		{call("c", "Write", `{"file_path":"/q/x/y","content":"x"}`), "Write(/q/z/**)", umpire.ScopeProject, false},
		{call("c", "Write", `{"file_path":"/q/x/y","content":""}`), "Write(/q/x/**)", umpire.ScopeProject, true},
	} {
		row.call.ID = umpire.CallID(fmt.Sprint("c", i))
		d.submit(s, fmt.Sprint("m", i), row.call)
		p := d.pending(string(row.call.ID))
		a := answerTo(p, umpire.Approve)
		a.Rule, a.Scope = row.rule, row.scope
		b, err := d.Resolve(t.Context(), a)
		if row.fits != (err == nil) || err != nil && !errors.Is(err, umpire.ErrInvalid) {
			t.Errorf("%s for %s: %v", row.rule, row.call.Input, err)
		}
		if err != nil {
			b = must(d.Resolve(t.Context(), answerTo(p, umpire.Refuse)))(t)
		}
		d.run(s, b)
	}
	text, err := os.ReadFile(filepath.Join(d.home, "permissions.json"))
	if err == nil {
		t.Errorf("written for everything: %s", text)
	}
}

// D-25, A-14, X-28: a call that asks while the batch runs stops it; finished calls stay finished.
func TestAskWhileRunning(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	read := func(id, name string) umpire.Call {
		return call(id, "Read", `{"file_path":`+quoted(d.file(name))+`}`)
	}
	b := d.submit(s, "m1", read("a", "a.txt"), read("b", "link"), read("c", "c.txt"))
	if b.State != umpire.BatchRunning {
		t.Fatalf("batch is %s", b.State)
	}
	if err := os.Symlink("/etc/hostname", d.file("link")); err != nil {
		t.Fatal(err)
	}
	ran := d.run(s, b)
	if !slices.Equal(ran, []string{"a"}) {
		t.Fatalf("ran %v", ran)
	}
	b = must(d.Batch(t.Context(), s.ID, "m1"))(t)
	if b.State != umpire.BatchWaiting || b.Calls[0].State != umpire.CallDone || b.Calls[1].State != umpire.CallAsked {
		t.Fatalf("batch is %+v", b)
	}
	if ran := d.run(s, d.approve("b", umpire.ScopeOnce)); !slices.Equal(ran, []string{"b", "c"}) {
		t.Errorf("then ran %v", ran)
	}
}

// Approval binding: an approval covers the call as shown. If the call would do something else by
// the time it runs, it asks again.
func TestApprovalIsBoundToWhatWasShown(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	if err := os.Mkdir(d.file("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.file("two"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("one", d.file("link")); err != nil {
		t.Fatal(err)
	}
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", call("w", "Write", `{"file_path":`+quoted(d.file("link/x"))+`,"content":"x"}`))
	b := d.approve("w", umpire.ScopeOnce)
	if err := os.Remove(d.file("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("two", d.file("link")); err != nil {
		t.Fatal(err)
	}
	if ran := d.run(s, b); len(ran) != 0 {
		t.Fatalf("ran %v", ran)
	}
	if p := d.pending("w"); p.Version != 2 || !strings.Contains(catalogue.English.Text(p.Reason), "has changed") {
		t.Errorf("the new question is %+v", p)
	}
}

// Answers that do not fit change nothing.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c", "npm install x"), call("k", "Write", `{"file_path":`+quoted(d.file(".git/hooks/pre-commit"))+`,"content":"x"}`))
	p, control := d.pending("c"), d.pending("k")
	before := len(d.kinds(s))
	change := func(p umpire.Pending, f func(*umpire.Answer)) umpire.Answer {
		a := answerTo(p, umpire.Approve)
		f(&a)
		return a
	}
	for name, tt := range map[string]struct {
		answer umpire.Answer
		want   error
		says   string
	}{
		"unknown request": {change(p, func(a *umpire.Answer) { a.Request = "nope" }), umpire.ErrNotFound, "nope"},
		"no request":      {change(p, func(a *umpire.Answer) { a.Request = "" }), umpire.ErrInvalid, "request_id"},
		"no hash":         {change(p, func(a *umpire.Answer) { a.ArgsHash = "" }), umpire.ErrInvalid, "args_hash"},
		"other hash":      {change(p, func(a *umpire.Answer) { a.ArgsHash = control.ArgsHash }), umpire.ErrChanged, "args_hash"},
		"no card":         {change(p, func(a *umpire.Answer) { a.ShownDigest = "" }), umpire.ErrChanged, "shown_digest"},
		"deny, no card":   {change(p, func(a *umpire.Answer) { a.ShownDigest, a.Choice = "", umpire.Refuse }), umpire.ErrChanged, "shown_digest"},
		"other card":      {change(p, func(a *umpire.Answer) { a.ShownDigest = control.ShownDigest }), umpire.ErrChanged, "shown_digest"},
		"stale version":   {change(p, func(a *umpire.Answer) { a.Version = 7 }), umpire.ErrInvalid, "version"},
		"no choice":       {change(p, func(a *umpire.Answer) { a.Choice = "" }), umpire.ErrInvalid, "answer"},
		"bad scope":       {change(p, func(a *umpire.Answer) { a.Scope = 9 }), umpire.ErrInvalid, "scope"},
		"rule with once":  {change(p, func(a *umpire.Answer) { a.Rule = "Bash(npm:*)" }), umpire.ErrInvalid, "rule"},
		"broken rule":     {change(p, func(a *umpire.Answer) { a.Scope, a.Rule = umpire.ScopeProject, "Bash(" }), umpire.ErrInvalid, "rule"},
		"long reason":     {change(p, func(a *umpire.Answer) { a.Reason = strings.Repeat("x", maxReason+1) }), umpire.ErrInvalid, "reason"},
		"control file":    {change(control, func(a *umpire.Answer) { a.Scope = umpire.ScopeSession }), umpire.ErrInvalid, "once at a time"},
		"control rule":    {change(control, func(a *umpire.Answer) { a.Scope = umpire.ScopeGlobal }), umpire.ErrInvalid, "once at a time"},
	} {
		_, err := d.Resolve(t.Context(), tt.answer)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(d.kinds(s)); n != before {
		t.Errorf("%d events came of bad answers", n-before)
	}
	if n := len(must(d.Pending(t.Context(), umpire.PendingQuery{}))(t)); n != 2 {
		t.Errorf("%d questions are left", n)
	}
}

// N-33, N-88: a critical call is refused at once and cannot be approved.
func TestCriticalCannotBeApproved(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	b := d.submit(s, "m1", command("c", "rm -rf /"))
	if b.State != umpire.BatchFinished || b.Calls[0].Result.Status != umpire.ResultDenied {
		t.Fatalf("batch is %+v", b)
	}
	if n := len(must(d.Pending(t.Context(), umpire.PendingQuery{}))(t)); n != 0 {
		t.Errorf("%d questions", n)
	}
}

// N-15 in scenarios, C-70, N-69: a headless session refuses at once, on the record.
func TestHeadless(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{Headless: true})
	b := d.submit(s, "m1", command("c", "npm install x"))
	if b.State != umpire.BatchFinished {
		t.Fatalf("batch is %s", b.State)
	}
	results := must(d.conversations.Compose(t.Context(), s.ID, s.Epoch))(t).Batches["m1"].Results
	if !strings.HasPrefix(results[0].Output, "non_interactive confirmation required") || results[0].Code != umpire.CodeAutoDeny {
		t.Errorf("result is %+v", results[0])
	}
	kinds := d.kinds(s)
	if count(kinds, umpire.EventPermissionAsked) != 1 || count(kinds, umpire.EventPermissionRejected) != 1 {
		t.Errorf("events are %v", kinds)
	}
}

// C-26 to C-33, X-23: auto mode gives an answer again, never a refusal.
func TestAutoRemembers(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.Mode = umpire.ModeAuto
	s := d.session(umpire.Opening{})
	prompt := func() {
		must(d.conversations.Prompt(t.Context(), umpire.Prompt{Session: s.ID, Text: "go", Epoch: s.Epoch}))(t)
		must(d.conversations.Compose(t.Context(), s.ID, s.Epoch))(t)
	}
	prompt()
	d.submit(s, "m1", command("c1", "make build"))
	d.run(s, d.approve("c1", umpire.ScopeOnce))
	if b := d.submit(s, "m2", command("c2", "make build")); b.State != umpire.BatchRunning || b.Calls[0].Code != umpire.CodeRemembered {
		t.Fatalf("C04: the same again is %s (%s)", b.State, b.Calls[0].Code)
	} else {
		d.run(s, b)
	}
	d.submit(s, "m3", command("c3", "make build X=1"))
	d.refuse("c3", "no")
	if b := d.submit(s, "m4", command("c4", "make build X=1")); b.State != umpire.BatchFinished || b.Calls[0].Result.Status != umpire.ResultDenied {
		t.Errorf("MP-16: refused again in the same turn, it is %s", b.State)
	}
	must(d.conversations.Reply(t.Context(), umpire.Reply{Session: s.ID, Message: json.RawMessage(`"x"`), Epoch: s.Epoch}))(t)
	prompt()
	if b := d.submit(s, "m5", command("c5", "make build X=1")); b.State != umpire.BatchWaiting {
		t.Errorf("C05, C-33: in the next turn it is %s", b.State)
	}
}

// C-30, C-31: three refusals in a row, and auto mode asks; it is told once.
func TestAutoDegrades(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.Mode = umpire.ModeAuto
	s := d.session(umpire.Opening{})
	for i := range 4 {
		id := fmt.Sprintf("c%d", i)
		d.submit(s, "m"+id, command(id, "make clean"+id))
		d.refuse(id, "")
	}
	if n := count(d.kinds(s), umpire.EventNotice); n != 1 {
		t.Errorf("%d notices", n)
	}
	if b := d.submit(s, "r", call("r", "Read", `{"file_path":`+quoted(d.file("a"))+`}`)); b.State != umpire.BatchWaiting {
		t.Errorf("a read is %s", b.State)
	}
}

// D-28, D-30 to D-35, D-40, D-41, DS-6, DS-7: what a question bears.
func TestQuestionBearsEverything(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{Agent: "tester"})
	bg := command("c", "sleep 5 && npm install react")
	bg.Background = true
	bg.Extra = map[string]json.RawMessage{"customMeta": json.RawMessage(`{"deep":[1,2]}`)}
	d.submit(s, "m1", bg, call("e", "Edit", `{"file_path":"/q/x","old_string":"a","new_string":"b"}`))
	p := d.pending("c")
	if p.CommandInfo == nil || p.CommandInfo.Command != "sleep 5 && npm install react" || p.CommandSignature == "" || p.CommandInfo.Risk == "" ||
		p.Access != "command" || p.Position != 1 || p.Total != 2 || p.Agent != "tester" || p.Type != umpire.ShellExecute || len(p.Accesses) == 0 {
		t.Errorf("the question is %+v", p)
	}
	var card map[string]any
	if err := json.Unmarshal(data(p), &card); err != nil {
		t.Fatal(err)
	}
	if got := string(data(card["customMeta"])); got != `{"deep":[1,2]}` {
		t.Errorf("customMeta is %s", got)
	}
	if e := d.pending("e"); !slices.Equal(e.Paths, []string{"/q/x"}) || e.Type != umpire.ExternalDirectory || e.Access != "write" {
		t.Errorf("the question is %+v", e)
	}
}

// Cancelling stops the turn: every call has its result, none runs any more.
func TestCancel(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", d.threeCalls()...)
	b := must(d.Resolve(t.Context(), answerTo(d.pending("b"), umpire.Cancel)))(t)
	if b.State != umpire.BatchFinished || !b.Cancelled {
		t.Fatalf("batch is %+v", b)
	}
	for _, c := range must(d.Batch(t.Context(), s.ID, "m1"))(t).Calls {
		if r := c.Result; r == nil || r.Status != umpire.ResultCancelled {
			t.Errorf("call %s has %+v", c.ID, r)
		}
	}
	if got := must(d.sessions.Get(t.Context(), s.ID))(t).State; got != umpire.SessionIdle {
		t.Errorf("session is %s", got)
	}
}

// A question has its time, and the end of a session ends it.
func TestExpiryAndEnd(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.PendingTimeout = time.Minute
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c", "npm install x"))
	late := answerTo(d.pending("c"), umpire.Approve)
	d.pass(2 * time.Minute)
	var resolved *umpire.ResolvedError
	if _, err := d.Resolve(t.Context(), late); !errors.As(err, &resolved) || resolved.Standing.Code != umpire.CodeTimeout {
		t.Errorf("a late approval gave %v", err)
	}
	if r := must(d.Batch(t.Context(), s.ID, "m1"))(t).Calls[0].Result; r == nil || r.Status != umpire.ResultTimeout {
		t.Errorf("the result is %+v", r)
	}
	d.submit(s, "m2", command("c2", "npm install y"))
	d.pass(2 * time.Minute)
	if err := d.tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b := must(d.Batch(t.Context(), s.ID, "m2"))(t); b.State != umpire.BatchFinished {
		t.Errorf("after its time the batch is %s", b.State)
	}
	d.submit(s, "m3", command("c3", "npm install z"))
	p := d.pending("c3")
	if err := d.sessions.End(t.Context(), s.ID, "bye"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Resolve(t.Context(), answerTo(p, umpire.Approve)); !errors.As(err, &resolved) || resolved.Standing.Choice != umpire.Refuse {
		t.Errorf("an answer after the end gave %v", err)
	}
	if _, err := d.Submit(t.Context(), umpire.Submission{Session: s.ID, Batch: "m4", Calls: []umpire.Call{command("x", "ls")}}); !errors.Is(err, umpire.ErrState) {
		t.Errorf("a call after the end gave %v", err)
	}
}

// A submission that comes twice is stored once.
func TestSubmitTwice(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", d.threeCalls()...)
	d.submit(s, "m1", d.threeCalls()...)
	if n := count(d.kinds(s), umpire.EventBatchSubmitted); n != 1 {
		t.Errorf("submitted %d times", n)
	}
	_, err := d.Submit(t.Context(), umpire.Submission{Session: s.ID, Batch: "m1", Calls: []umpire.Call{command("c", "ls")}})
	if !errors.Is(err, umpire.ErrState) {
		t.Errorf("the same id with other calls gave %v", err)
	}
	_, err = d.Submit(t.Context(), umpire.Submission{Session: s.ID, Batch: "m2", Calls: []umpire.Call{command("z", "ls")}})
	if !errors.Is(err, umpire.ErrState) {
		t.Errorf("a second open batch gave %v", err)
	}
}

// pending.max_per_session keeps a person from being buried.
func TestPendingLimit(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.MaxPending = 2
	s := d.session(umpire.Opening{})
	_, err := d.Submit(t.Context(), umpire.Submission{
		Session: s.ID, Batch: "m", Calls: []umpire.Call{command("a", "npm i a"), command("b", "npm i b"), command("c", "npm i c")},
	})
	if !errors.Is(err, umpire.ErrLimit) {
		t.Errorf("three questions over a limit of two gave %v", err)
	}
	if n := len(d.kinds(s)); n != 1 {
		t.Errorf("%d events", n)
	}
}

// M-190, X-07, X-09: allowAll is the workspace's, and lifts no deny and nothing critical.
func TestAllowAll(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	must(d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: s.ID, AllowAll: new(true)}))(t)
	other := d.session(umpire.Opening{})
	if b := d.submit(other, "m1", call("p", "GitPush", `{}`)); b.State != umpire.BatchRunning || b.Calls[0].Code != umpire.CodeAllowAll {
		t.Errorf("GitPush is %s (%s)", b.State, b.Calls[0].Code)
	} else {
		d.run(other, b)
	}
	if b := d.submit(other, "m2", command("c", "rm -rf /")); b.Calls[0].Code != umpire.CodeCritical {
		t.Errorf("rm -rf / is %+v", b.Calls[0])
	}
}

// Watch yields stored events and then new ones, each once and in order.
func TestWatch(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	seen := make(chan umpire.Event, 100)
	go func() {
		defer close(seen)
		for e, err := range d.Watch(ctx, umpire.Filter{Session: s.ID}) {
			if err != nil {
				return
			}
			seen <- e
		}
	}()
	if e := <-seen; e.Kind != umpire.EventSessionOpened {
		t.Fatalf("first came %s", e.Kind)
	}
	d.submit(s, "m1", command("c", "npm install x"))
	last := int64(0)
	for _, want := range []umpire.EventKind{umpire.EventModelReplied, umpire.EventBatchSubmitted, umpire.EventPermissionAsked} {
		e := <-seen
		if e.Kind != want || e.Seq <= last {
			t.Errorf("came %s (%d), want %s", e.Kind, e.Seq, want)
		}
		last = e.Seq
	}
	stop()
	for range seen {
		t.Error("an event nobody caused")
	}
}
