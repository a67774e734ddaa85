package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// secondProject makes another project beside the one of the gate.
func (d *testGate) secondProject() string { return d.t.TempDir() }

// N-2, N-17 to N-24, N-65: each project continues its own sessions.
func TestContinueStaysInTheProject(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	b := d.secondProject()
	a1 := d.session(umpire.Opening{})
	a2 := d.session(umpire.Opening{})
	b1 := d.session(umpire.Opening{Dir: b})
	d.session(umpire.Opening{Parent: a2.ID}) // a sub-agent's session is not a root session
	from := umpire.Resumption{Dir: d.project}
	if s := must(d.sessions.Continue(t.Context(), from))(t); s.ID != a2.ID || s.Epoch != a2.Epoch+1 {
		t.Errorf("N-21: continued %s at epoch %d", s.ID, s.Epoch)
	}
	from.ID = a1.ID
	must(d.sessions.Continue(t.Context(), from))(t)
	if s := must(d.sessions.Continue(t.Context(), umpire.Resumption{Dir: d.project}))(t); s.ID != a1.ID {
		t.Errorf("A-25: the latest activity was %s, continued %s", a1.ID, s.ID)
	}
	from.ID = b1.ID
	_, err := d.sessions.Continue(t.Context(), from)
	if !errors.Is(err, umpire.ErrOtherProject) {
		t.Fatalf("N-22: %v", err)
	}
	for _, want := range []string{string(b1.ID), a1.Project.Short(), b1.Project.Short(), "--allow-cross-project-session"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("N-25 to N-27: %q is not in %q", want, err)
		}
	}
	from.AllowCrossProject = true
	must(d.sessions.Continue(t.Context(), from))(t)
	events := must(d.Events(t.Context(), umpire.Filter{Session: b1.ID}))(t)
	if last := events[len(events)-1]; last.Kind != umpire.EventSessionResumed || !strings.Contains(string(last.Data), `"cross_project":true`) {
		t.Errorf("N05: the override is not on record: %s %s", last.Kind, last.Data)
	}
	if _, err := d.sessions.Fork(t.Context(), b1.ID, from); !errors.Is(err, umpire.ErrOtherProject) {
		t.Errorf("N-24, A-26: a fork across projects gave %v", err)
	}
	if _, err := d.sessions.Continue(t.Context(), umpire.Resumption{Dir: d.secondProject()}); !errors.Is(err, umpire.ErrState) {
		t.Errorf("A-27: a project without sessions gave %v", err)
	}
}

// N-25, log injection: an id that would forge a line is refused, and quoted where a
// message names it.
func TestSessionIDsAreShownSafely(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	const evil = "x\n\x1b[31mok"
	_, opening := d.sessions.Open(t.Context(), umpire.Opening{ID: evil, Dir: d.project})
	_, continuing := d.sessions.Continue(t.Context(), umpire.Resumption{ID: evil, Dir: d.project})
	for _, err := range []error{opening, continuing} {
		if err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("the error is %q", err)
		}
	}
	if !errors.Is(opening, umpire.ErrInvalid) {
		t.Error(opening)
	}
}

// N-13 to N-16, N-61: the facts about its place that a session keeps.
func TestSessionFields(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	sub := filepath.Join(d.project, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", d.project).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := d.session(umpire.Opening{Dir: sub, Agent: "tester"})
	got := must(d.sessions.Get(t.Context(), s.ID))(t)
	if got.Root != s.Root || got.Dir != sub || !got.IsRoot || got.GitDir == "" || len(got.Project) != 64 || got.Agent != "tester" {
		t.Errorf("the session is %+v", got)
	}
}

// Sessions from before projects were recorded have no project until they are continued, and that is
// reported.
func TestLegacySession(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	err := d.be.update(t.Context(), func(tx *store.Tx) error {
		return tx.Sessions.Insert(umpire.Session{
			ID: "old", IsRoot: true, Mode: umpire.ModeDefault, State: umpire.SessionIdle, Permission: umpire.StateIdle, Epoch: 1, CreatedAt: d.now(), ActiveAt: d.now(),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	s := must(d.sessions.Continue(t.Context(), umpire.Resumption{ID: "old", Dir: d.project}))(t)
	if s.Project == "" || s.Root == "" {
		t.Errorf("the session is %+v", s)
	}
	if n := count(d.kinds(s), umpire.EventNotice); n != 1 {
		t.Errorf("%d notices", n)
	}
	if last := must(d.sessions.Continue(t.Context(), umpire.Resumption{Dir: d.project}))(t); last.ID != "old" {
		t.Errorf("continued %s", last.ID)
	}
}

// N-20, N-66: fifty sessions of two projects in parallel, with deletes: no entry of
// an index dangles or is foreign, and no grant crosses.
func TestFiftySessionsOfTwoProjects(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	dirs := []string{d.project, d.secondProject()}
	const each = 25
	var all sync.WaitGroup
	var mu sync.Mutex
	kept := map[umpire.ProjectID][]umpire.SessionID{}
	for _, dir := range dirs {
		for i := range each {
			all.Go(func() {
				s, err := d.liveThrough(dir, i)
				if err != nil {
					t.Error(err)
					return
				}
				if i%3 == 0 {
					if err := d.sessions.Delete(context.Background(), s.ID); err != nil {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				defer mu.Unlock()
				kept[s.Project] = append(kept[s.Project], s.ID)
			})
		}
	}
	all.Wait()
	if len(kept) != 2 {
		t.Fatalf("%d projects", len(kept))
	}
	for project, want := range kept {
		var got []umpire.SessionID
		for _, s := range must(d.sessions.List(t.Context(), umpire.SessionQuery{Project: project}))(t) {
			got = append(got, s.ID)
			if s.Project != project {
				t.Errorf("session %s of project %s is in the index of %s", s.ID, s.Project, project)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("the index of %s has %v, want %v", project, got, want)
		}
		err := d.be.view(t.Context(), func(tx *store.Tx) error {
			last, err := tx.Sessions.LastRoot(project)
			if !slices.Contains(want, last) {
				t.Errorf("the last session of %s is %s", project, last)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// liveThrough is one session: it asks, is approved for the session, and another one
// of its project is asked all the same.
func (d *testGate) liveThrough(dir string, i int) (umpire.Session, error) {
	ctx := context.Background()
	s, err := d.sessions.Open(ctx, umpire.Opening{Dir: dir})
	if err != nil {
		return s, err
	}
	file := quoted(filepath.Join(dir, fmt.Sprint(i)))
	b, err := d.Submit(ctx, umpire.Submission{Session: s.ID, Batch: "m1", Calls: []umpire.Call{
		call("w", "Write", `{"file_path":`+file+`,"content":"x"}`),
	}})
	if err != nil {
		return s, err
	}
	if b.State != umpire.BatchWaiting {
		return s, fmt.Errorf("session %d of %s was not asked: a grant crossed", i, dir)
	}
	cards, err := d.Pending(ctx, umpire.PendingQuery{Session: s.ID})
	if err != nil || len(cards) != 1 || cards[0].Project != s.Project {
		return s, fmt.Errorf("questions %+v: %w", cards, err)
	}
	a := answerTo(cards[0], umpire.Approve)
	a.Scope = umpire.ScopeSession
	_, err = d.Resolve(ctx, a)
	return s, err
}

// A host that asks call by call keeps no open batches behind, and may take up a
// session that had ended.
func TestExternalSession(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	opening := umpire.Opening{ID: "host", Dir: d.project, External: true}
	s := d.session(opening)
	for i := range 3 {
		id := fmt.Sprintf("t%d", i)
		must(d.Submit(t.Context(), umpire.Submission{
			Session: s.ID, Batch: umpire.BatchID(id), Lane: id, Calls: []umpire.Call{command(id, "ls")},
		}))(t)
	}
	for i := range 3 {
		id := umpire.BatchID(fmt.Sprintf("t%d", i))
		if !must(d.Start(t.Context(), umpire.Start{Session: s.ID, Batch: id, Call: umpire.CallID(id)}))(t).Go {
			t.Fatalf("%s does not start beside the others", id)
		}
		must(d.Finish(t.Context(), umpire.Result{Session: s.ID, Batch: id, Call: umpire.CallID(id), Status: umpire.ResultOK}))(t)
	}
	err := d.be.view(t.Context(), func(tx *store.Tx) error {
		open, err := tx.Batches.ListOpen(s.ID)
		if len(open) != 0 {
			t.Errorf("%d batches are open", len(open))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := d.sessions.End(t.Context(), s.ID, "over"); err != nil {
		t.Fatal(err)
	}
	again := d.session(opening)
	if again.State != umpire.SessionIdle || again.Epoch <= s.Epoch {
		t.Errorf("taken up again it is %+v", again)
	}
	opening.Dir = d.secondProject()
	if _, err := d.sessions.Open(t.Context(), opening); err == nil {
		t.Error("another project took the session over by its id")
	}
}

// TestTaskOfExternalSession: the gate keeps the first message of the user as the task of an agent that runs its calls
// itself, with secrets masked, and no later one.
func TestTaskOfExternalSession(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{ID: "host", Dir: d.project, External: true})
	for _, text := range []string{"fix the build, API_KEY=sk-ant-REDACTED", "and now the tests"} {
		must(d.Conversations().Prompt(t.Context(), umpire.Prompt{Session: s.ID, Text: text}))(t)
	}
	c := must(d.Conversations().Read(t.Context(), umpire.ConversationQuery{Session: s.ID}))(t)
	if len(c.Messages) != 1 || !strings.Contains(string(c.Messages[0].Content), "fix the build") ||
		strings.Contains(string(c.Messages[0].Content), "0123456789abcdef") || c.Session.Turn != 2 {
		t.Errorf("the conversation is %+v", c)
	}
}

// N-43: a rule that lets a read leave the project is reported.
func TestRuleForAReadOutsideIsTold(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	outside := filepath.Join(d.secondProject(), "x")
	if _, err := d.rules.Add(t.Context(), d.project, umpire.ScopeGlobal, umpire.Rule{
		ID: "out", Action: umpire.Allow, Tool: "Read", Match: umpire.Match{PathGlob: filepath.Dir(outside) + "/**"},
	}, umpire.Actor{}); err != nil {
		t.Fatal(err)
	}
	s := d.session(umpire.Opening{})
	b := d.submit(s, "m1", call("r", "Read", `{"file_path":`+quoted(outside)+`}`))
	if b.State != umpire.BatchRunning {
		t.Fatalf("the batch is %s: %s", b.State, b.Calls[0].Reason)
	}
	for _, e := range must(d.Events(t.Context(), umpire.Filter{Session: s.ID}))(t) {
		if e.Kind == umpire.EventPermissionBypassedByRule && e.Rule == "out" {
			return
		}
	}
	t.Error("no event tells of the rule")
}

// A folder that no project can be found for is the asker's mistake, and is never read as
// one below the gate's own.
func TestFoldersAreWhole(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	file := d.file("a.txt")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"relative", ".", "\x00", "/a\x00b", "/" + strings.Repeat("x", 5000), "/" + strings.Repeat("x", 300), file} {
		asks := map[string]error{}
		_, asks["Open"] = d.sessions.Open(t.Context(), umpire.Opening{Dir: dir})
		_, asks["Continue"] = d.sessions.Continue(t.Context(), umpire.Resumption{Dir: dir})
		_, asks["Fork"] = d.sessions.Fork(t.Context(), s.ID, umpire.Resumption{Dir: dir})
		_, asks["Rules"] = d.rules.List(t.Context(), dir)
		_, asks["RuleStatus"] = d.rules.Status(t.Context(), dir)
		_, asks["AddRule"] = d.rules.Add(t.Context(), dir, umpire.ScopeProject, umpire.Rule{Action: umpire.Deny, Tool: "Edit"}, umpire.Actor{})
		asks["RemoveRule"] = d.rules.Remove(t.Context(), dir, umpire.ScopeProject, "x", umpire.Actor{})
		_, asks["Trust"] = d.rules.Trust(t.Context(), umpire.TrustChange{Dir: dir})
		for name, err := range asks {
			if !errors.Is(err, umpire.ErrInvalid) {
				t.Errorf("%s in %.40q: %v", name, dir, err)
			}
		}
	}
	for _, dir := range []string{"relative", "/a\x00b"} {
		c := call("c", "Read", `{"file_path":"a.txt"}`)
		c.Dir = dir
		if _, err := d.Submit(t.Context(), umpire.Submission{Session: s.ID, Batch: "m", Calls: []umpire.Call{c}}); !errors.Is(err, umpire.ErrInvalid) {
			t.Errorf("a call in %q: %v", dir, err)
		}
		c.Session = s.ID
		if answer, err := d.Check(t.Context(), c); !errors.Is(err, umpire.ErrInvalid) || answer.Verdict != umpire.Deny {
			t.Errorf("a check in %q: %v, %v", dir, answer.Verdict, err)
		}
	}
	if _, err := d.rules.List(t.Context(), ""); !errors.Is(err, umpire.ErrInvalid) {
		t.Errorf("no folder: %v", err)
	}
}

// TestConversationIsRead: messages are read without continuing the session, the last ones if a
// limit is given, and for a fork the ones it came with.
func TestConversationIsRead(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	said := func(q umpire.ConversationQuery) (said []string, results int) {
		c := must(d.conversations.Read(t.Context(), q))(t)
		for _, m := range c.Messages {
			said = append(said, fmt.Sprintf("%d %s %s", m.N, m.Role, m.Content))
		}
		for _, done := range c.Batches {
			results += len(done.Results)
		}
		return said, results
	}
	must(d.conversations.Prompt(t.Context(), umpire.Prompt{Session: s.ID, Text: "look", Epoch: s.Epoch}))(t)
	must(d.conversations.Compose(t.Context(), s.ID, s.Epoch))(t)
	b := must(d.Submit(t.Context(), umpire.Submission{
		Session: s.ID, Batch: "m1", Epoch: s.Epoch, Calls: []umpire.Call{command("c1", "ls")}, Message: json.RawMessage(`"I look"`),
	}))(t)
	d.run(s, b)
	must(d.conversations.Compose(t.Context(), s.ID, s.Epoch))(t)
	must(d.conversations.Reply(t.Context(), umpire.Reply{Session: s.ID, Message: json.RawMessage(`"done"`), Epoch: s.Epoch}))(t)

	all := []string{`1 user "look"`, `2 assistant "I look"`, `3 assistant "done"`}
	for limit, want := range map[int][]string{0: all, 2: all[1:], 9: all} {
		if got, results := said(umpire.ConversationQuery{Session: s.ID, Limit: limit}); !slices.Equal(got, want) || results != 1 {
			t.Errorf("limit %d: %q, %d results", limit, got, results)
		}
	}
	if got, results := said(umpire.ConversationQuery{Session: s.ID, Limit: 1}); !slices.Equal(got, all[2:]) || results != 0 {
		t.Errorf("the last one: %q, %d results", got, results)
	}
	if latest := must(d.sessions.Latest(t.Context(), umpire.LatestQuery{Dir: s.Dir}))(t); latest.ID != s.ID {
		t.Errorf("%q would be gone on with, want %q", latest.ID, s.ID)
	}
	forked := must(d.sessions.Fork(t.Context(), s.ID, umpire.Resumption{Dir: s.Dir, Runner: s.Runner}))(t)
	if got, results := said(umpire.ConversationQuery{Session: forked.ID}); len(got) != 3 || results != 1 {
		t.Errorf("of a fork: %q, %d results", got, results)
	}
	if _, err := d.sessions.Latest(t.Context(), umpire.LatestQuery{Dir: d.secondProject()}); !errors.Is(err, umpire.ErrState) {
		t.Errorf("the latest of a project without sessions: %v", err)
	}
	if _, err := d.conversations.Read(t.Context(), umpire.ConversationQuery{Session: "none"}); !errors.Is(err, umpire.ErrNotFound) {
		t.Errorf("of no session: %v", err)
	}
	if _, err := d.conversations.Read(t.Context(), umpire.ConversationQuery{Session: s.ID, Limit: -1}); !errors.Is(err, umpire.ErrInvalid) {
		t.Errorf("fewer than none: %v", err)
	}
}

// One runner cannot bury the store in sessions, nor people in questions, however it
// spreads them; another runner is not held back by it.
func TestAgentsAreBounded(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	for i := range maxOpenSessions {
		s := umpire.Session{ID: umpire.SessionID(fmt.Sprint("s", i)), Runner: "other:1:1", Epoch: 1, Pending: maxOpenPending / maxOpenSessions, CreatedAt: d.now(), ActiveAt: d.now()}
		if err := d.be.update(t.Context(), func(tx *store.Tx) error { return tx.Sessions.Insert(s) }); err != nil {
			t.Fatal(err)
		}
	}
	o := umpire.Opening{Dir: d.project, Runner: "other:1:1", Limited: true}
	if _, err := d.sessions.Open(t.Context(), o); !errors.Is(err, umpire.ErrLimit) {
		t.Errorf("session %d gave %v", maxOpenSessions+1, err)
	}
	if err := d.sessions.End(t.Context(), "s0", ""); err != nil {
		t.Fatal(err)
	}
	must(d.sessions.Open(t.Context(), o))(t)
	o.Runner = "other:2:2"
	must(d.sessions.Open(t.Context(), o))(t)
	err := d.be.view(t.Context(), func(tx *store.Tx) error { return roomForQuestions(tx, "other:1:1", maxOpenPending/4) })
	if !errors.Is(err, umpire.ErrLimit) {
		t.Errorf("too many questions gave %v", err)
	}
	if err := d.be.view(t.Context(), func(tx *store.Tx) error { return roomForQuestions(tx, "other:2:2", maxOpenPending) }); err != nil {
		t.Error(err)
	}
}

// An agent's own process is the runner of its session, also after a restart.
func TestRestartedAgentIsTheRunner(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	dead := map[string]bool{}
	d.be.config.Alive = func(runner string) (bool, bool) { return !dead[runner], true }
	o := umpire.Opening{ID: "cc", Dir: d.project, External: true, Runner: "h:1:1"}
	must(d.sessions.Open(t.Context(), o))(t)
	o.Runner = "h:2:2"
	if s := must(d.sessions.Open(t.Context(), o))(t); s.Runner != "h:1:1" || s.Epoch != 1 || !slices.Equal(s.Runners, []string{"h:2:2"}) {
		t.Errorf("beside a process that lives: %s and %v at epoch %d", s.Runner, s.Runners, s.Epoch)
	}
	dead["h:1:1"] = true
	if s := must(d.sessions.Open(t.Context(), o))(t); s.Runner != "h:2:2" || s.Runners != nil || s.Epoch != 2 {
		t.Errorf("after that process: %s and %v at epoch %d", s.Runner, s.Runners, s.Epoch)
	}
	dead["h:2:2"] = true
	o.Runner = "h:3:3"
	if s := must(d.sessions.Open(t.Context(), o))(t); s.Runner != "h:3:3" || s.Epoch != 3 {
		t.Errorf("after all of them: %s at epoch %d", s.Runner, s.Epoch)
	}
}

// TestRunnersOfASession: no process takes another one's place while that lives, however many say that they run the
// session; one that has ended, also one whose number another process has by now, leaves.
func TestRunnersOfASession(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	dead := map[string]bool{}
	d.be.config.Alive = func(runner string) (bool, bool) { return !dead[runner], !strings.HasPrefix(runner, "other:") }
	s := d.session(umpire.Opening{ID: "cc", External: true, Runner: "h:1:1"})
	all := []string{"h:1:1"}
	for i := 2; i <= maxRunners; i++ {
		runner := fmt.Sprintf("h:%d:1", i)
		if i == 2 {
			runner = "other:2:1" // on another machine: it is unknown whether it is alive
		}
		all = append(all, runner)
		if err := d.AddRunner(t.Context(), &s, runner); err != nil {
			t.Fatal(err)
		}
	}
	for _, known := range []string{"", "h:1:1", all[1], all[maxRunners-1]} {
		if err := d.AddRunner(t.Context(), &s, known); err != nil {
			t.Errorf("%q: %v", known, err)
		}
	}
	if err := d.AddRunner(t.Context(), &s, "h:0:1"); !errors.Is(err, umpire.ErrLimit) {
		t.Errorf("one too many: %v", err)
	}
	got := must(d.sessions.Get(t.Context(), "cc"))(t)
	if !slices.Equal(got.AllRunners(), all) || got.Epoch != 1 {
		t.Errorf("the runners are %v at epoch %d", got.AllRunners(), got.Epoch)
	}
	for _, runner := range all {
		dead[runner] = true
		found := must(d.sessions.List(t.Context(), umpire.SessionQuery{Runners: []string{runner}}))(t)
		if len(found) != 1 {
			t.Errorf("nobody guards %s", runner)
		}
	}
	if err := d.AddRunner(t.Context(), &s, "h:1:1"); err != nil || !slices.Equal(s.AllRunners(), all) {
		t.Errorf("a process that has ended was added: %v, %v", err, s.AllRunners())
	}
	if err := d.AddRunner(t.Context(), &s, "h:1:2"); err != nil || !slices.Equal(s.AllRunners(), []string{"other:2:1", "h:1:2"}) {
		t.Errorf("the next one with its number: %v, %v", err, s.AllRunners())
	}
	if err := d.sessions.End(t.Context(), "cc", ""); err != nil {
		t.Fatal(err)
	}
	if got := must(d.sessions.Get(t.Context(), "cc"))(t); len(got.AllRunners()) > 0 {
		t.Errorf("an ended session has the runners %v", got.AllRunners())
	}
}

// A host's session outlives the first commit of its repository, which gives the project
// another id: the session keeps the one it was pinned to, and the change is told once.
func TestExternalSessionKeepsItsProject(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", d.project, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q")
	opening := umpire.Opening{ID: "host", Dir: d.project, External: true}
	before := d.session(opening)
	git("commit", "-q", "--allow-empty", "-m", "first")
	d.shut()
	d.open()
	for range 2 {
		if again := d.session(opening); again.Project != before.Project {
			t.Errorf("the session went from %s to %s", before.Project, again.Project)
		}
	}
	if n := count(d.kinds(before), umpire.EventNotice); n != 1 {
		t.Errorf("%d notices, want one", n)
	}
	if other := d.session(umpire.Opening{}); other.Project == before.Project {
		t.Fatal("the commit did not change the project's id, so nothing was tried")
	}
	// Another change is reported with the next call, without anything being opened.
	git("checkout", "-q", "--orphan", "other")
	git("commit", "-q", "--allow-empty", "-m", "other")
	for i := range 3 {
		d.pass(2 * identifyEvery)
		id := umpire.BatchID(fmt.Sprint("b", i))
		call := command(string(id), "ls")
		must(d.Submit(t.Context(), umpire.Submission{Session: "host", Batch: id, Lane: string(id), Calls: []umpire.Call{call}}))(t)
	}
	if n := count(d.kinds(before), umpire.EventNotice); n != 2 {
		t.Errorf("%d notices after another change, want two", n)
	}
}

// TestGrantsStayWithTheirProject: a session that is continued at its root uses the grants of its
// project only as long as that is the project there.
func TestGrantsStayWithTheirProject(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", d.project, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	s := d.session(umpire.Opening{})
	all := true
	must(d.sessions.SetMode(t.Context(), umpire.ModeChange{Session: s.ID, AllowAll: &all}))(t)
	check := func(want umpire.Verdict) {
		t.Helper()
		call := command("c", "npm install x")
		call.Session = s.ID
		if got := must(d.Check(t.Context(), call))(t); got.Verdict != want {
			t.Errorf("the verdict is %v, want %v: %s", got.Verdict, want, got.Reason)
		}
	}
	check(umpire.Allow)
	if err := os.RemoveAll(filepath.Join(d.project, ".git")); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "of another repository")
	d.shut()
	d.open()
	if again := must(d.sessions.Continue(t.Context(), umpire.Resumption{Dir: d.project}))(t); again.ID != s.ID || again.Project != s.Project {
		t.Errorf("continued %s of %s", again.ID, again.Project)
	}
	check(umpire.Ask)
}
