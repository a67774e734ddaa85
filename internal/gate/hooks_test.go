//go:build unix

package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/userhook"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/secret"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

func preHook(tools, command string) rulefile.Hook {
	return rulefile.Hook{ID: "h1", Event: rulefile.PreToolUse, ToolMatch: tools, Command: command, Source: umpire.SourceUser}
}

// lines are those of a file of the project; none when it is not there.
func (d *testGate) lines(name string) []string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.project, name))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// A submission that comes again, also at the same time, runs its hooks once; and they do
// not run again when the call starts.
func TestHooksRunOncePerCall(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.Hooks = []rulefile.Hook{
		preHook("", "echo $TOOL_CALL_ID >>ran"),
		{ID: "h2", Event: rulefile.PostToolUse, Command: "echo after $TOOL_CALL_ID >>ran"},
	}
	s := d.session(umpire.Opening{})
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() { d.submit(s, "b1", command("c1", "echo 1"), command("c2", "echo 2")) })
	}
	group.Wait()
	b := d.submit(s, "b1", command("c1", "echo 1"), command("c2", "echo 2"))
	d.run(s, b)
	again := umpire.Result{Session: s.ID, Batch: "b1", Call: "c1", Status: umpire.ResultOK, Output: "ok", Epoch: s.Epoch}
	if _, err := d.Finish(t.Context(), again); err != nil {
		t.Logf("the result again: %v", err)
	}
	if got := strings.Join(d.lines("ran"), ", "); got != "c1, c2, after c1, after c2" {
		t.Errorf("ran %s", got)
	}
}

// TestTaskLeavesQuestionsOfHooks: a task does not answer for a hook that asks.
func TestTaskLeavesQuestionsOfHooks(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.Hooks = []rulefile.Hook{preHook("Bash", `case "$TOOL_INPUT_COMMAND" in *hooked*) echo '{"decision": "ask"}';; esac`)}
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c1", "mybuild a"), command("c2", "mybuild hooked"))
	d.approveTask(s, "5x lost Bash(mybuild:*)")
	waiting := must(d.Pending(t.Context(), umpire.PendingQuery{Session: s.ID}))(t)
	if len(waiting) != 1 || waiting[0].Call != "c2" {
		t.Errorf("%d wait: %+v", len(waiting), waiting)
	}
}

// a hook tightens in every mode and beside every rule and grant, and loosens nothing.
func TestHooksOnlyTighten(t *testing.T) {
	t.Parallel()
	allow := umpire.Grant{Scope: umpire.ScopeSession, Tool: "Bash"}
	for _, test := range []struct {
		name, hook, line string
		mode             umpire.Mode
		want             umpire.Verdict
		code             umpire.ReasonCode
	}{
		{"denies what is safe", "exit 1", "ls", umpire.ModeDefault, umpire.Deny, umpire.CodeBlocked},
		{"denies in bypass", "exit 1", "npm i x", umpire.ModeBypass, umpire.Deny, umpire.CodeBlocked},
		{"asks in bypass", `echo '{"decision": "ask"}'`, "npm i x", umpire.ModeBypass, umpire.Ask, umpire.CodeRule},
		{"asks about what is safe", `echo '{"decision": "ask"}'`, "ls", umpire.ModeDefault, umpire.Ask, umpire.CodeRule},
		{"asks in reject", `echo '{"decision": "ask"}'`, "ls", umpire.ModeReject, umpire.Deny, umpire.CodeAutoDeny},
		{"allows nothing that asks", `echo '{"decision": "allow"}'`, "npm i x", umpire.ModeDefault, umpire.Ask, umpire.CodeMode},
		{"allows nothing that is critical", `touch ran; echo '{"decision": "allow"}'`, "rm -rf /", umpire.ModeBypass, umpire.Deny, umpire.CodeCritical},
		{"has no objection", "true", "ls", umpire.ModeDefault, umpire.Allow, umpire.CodeSafe},
		{"is about another tool", "exit 1", "ls", umpire.ModePlan, umpire.Allow, umpire.CodeSafe},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			tools := "Bash"
			if test.mode == umpire.ModePlan {
				tools = "Edit|mcp__*"
			}
			p.be.config.Settings.Hooks = []rulefile.Hook{preHook(tools, test.hook)}
			r := p.call("Bash", `{"command":`+quoted(test.line)+`}`)
			r.Mode = test.mode
			d := p.projects.Judge(t.Context(), "", r)
			if d.Verdict != test.want || d.ReasonCode != test.code {
				t.Errorf("%s %s %q", d.Verdict, d.ReasonCode, d.Reason)
			}
			if _, err := os.Stat(filepath.Join(p.project, "ran")); err == nil {
				t.Error("a hook was run for a call that is denied anyway")
			}
		})
	}
	p := newPlace(t)
	p.be.config.Settings.Hooks = []rulefile.Hook{preHook("", "exit 1")}
	r := p.call("Bash", `{"command":"npm i x"}`)
	r.Grants, r.AllowAll = []umpire.Grant{allow}, true
	if d := p.projects.Judge(t.Context(), "", r); d.Verdict != umpire.Deny {
		t.Errorf("with a grant and allowAll: %s", d.Verdict)
	}
}

// hooks have spoken when the question is stored; approving it lets the call run
// without hearing them again.
func TestHooksBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.Hooks = []rulefile.Hook{preHook("Bash", `echo x >>ran; echo '{"decision":"ask","reason":"why?"}'`)}
	s := d.session(umpire.Opening{})
	d.submit(s, "b1", command("c1", "ls"))
	card := d.pending("c1")
	if card.Reason != umpire.Verbatim("why?") || card.Code != umpire.CodeRule || len(d.lines("ran")) != 1 {
		t.Errorf("card %q %s, runs %v", card.Reason, card.Code, d.lines("ran"))
	}
	if got := d.run(s, d.approve("c1", umpire.ScopeOnce)); len(got) != 1 || len(d.lines("ran")) != 1 {
		t.Errorf("ran %v, hooks %v", got, d.lines("ran"))
	}
	// Headless: a call that a hook asks about is denied.
	alone := d.session(umpire.Opening{Headless: true})
	b := d.submit(alone, "b2", command("c1", "ls"))
	if c := b.Call("c1"); c.State != umpire.CallDone || !strings.HasPrefix(catalogue.English.Text(c.Reason), "non_interactive confirmation required: why?") {
		t.Errorf("headless: %+v", c)
	}
}

// A hook that never ends holds nothing but its own call: the store's writer is free.
func TestHooksRunOutsideOfTransactions(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	for _, pipe := range []string{"started", "go"} {
		if err := syscall.Mkfifo(filepath.Join(d.project, pipe), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hold := preHook("LS", "echo x >started; cat go")
	hold.Timeout = time.Minute
	d.settings.Hooks = []rulefile.Hook{hold}
	s, other := d.session(umpire.Opening{}), d.session(umpire.Opening{})
	done := make(chan umpire.Batch, 1)
	go func() {
		b, _ := d.Submit(t.Context(), umpire.Submission{Session: s.ID, Batch: "b1", Epoch: s.Epoch, Calls: []umpire.Call{call("c1", "LS", `{"path":"."}`)}})
		done <- b
	}()
	d.lines("started") // returns when the hook runs
	d.run(other, d.submit(other, "b1", command("c2", "ls")))
	if err := os.WriteFile(filepath.Join(d.project, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if b := <-done; b.State != umpire.BatchRunning {
		t.Errorf("got %+v", b)
	}
}

// What a hook says of a secret is masked on the timeline.
func TestHookRanIsMasked(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.Hooks = []rulefile.Hook{preHook("Bash", "echo ghp_0123456789abcdefghijklmnopqrstuvwxyz >&2; exit 1")}
	key, err := secret.OpenKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if d.be.sealer, err = key.Sealer(); err != nil {
		t.Fatal(err)
	}
	d.be.masker = key.Masker()
	s := d.session(umpire.Opening{})
	d.submit(s, "b1", command("c1", "ls"))
	var told []umpire.Event
	for _, e := range must(d.Events(t.Context(), umpire.Filter{Session: s.ID}))(t) {
		if e.Kind == umpire.EventHookRan {
			told = append(told, e)
		}
	}
	if len(told) != 1 || strings.Contains(catalogue.English.Text(told[0].Reason), "ghp_0") {
		t.Fatalf("got %+v", told)
	}
	var data userhook.Record
	if err := json.Unmarshal(told[0].Data, &data); err != nil || data.Outcome != "failed" || data.Exit != 1 || data.OnFailure != "block" {
		t.Errorf("data %s: %v", told[0].Data, err)
	}
}

// D-29, D-30: a call can be checked for a session before it is handed in; that
// stores and runs nothing.
func TestCheckForASession(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	marker := d.file("ran")
	d.settings.Hooks = []rulefile.Hook{preHook("", "echo hook >>ran")}
	s := d.session(umpire.Opening{})
	before := len(d.kinds(s))
	for _, line := range []string{"echo x >" + marker, "touch ran", "sh -c 'touch ran'", "make ran", "npm install x"} {
		c := command("c", line)
		c.Session = s.ID
		must(d.Check(t.Context(), c))(t)
		if _, err := os.Stat(marker); !os.IsNotExist(err) {
			t.Fatalf("checking %q ran something: %v", line, err)
		}
	}
	c := command("c", "npm install x")
	c.Session = s.ID
	if got := must(d.Check(t.Context(), c))(t); got.Verdict != umpire.Ask || len(got.Accesses) == 0 {
		t.Errorf("the decision is %+v", got)
	}
	if n := len(d.kinds(s)); n != before {
		t.Errorf("%d events", n-before)
	}
}
