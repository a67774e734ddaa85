package gate

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// coverageOf returns the coverage of the lasting answers to a question, by scope and width.
func (d *testGate) coverageOf(id string) map[string]umpire.Coverage {
	d.t.Helper()
	found := map[string]umpire.Coverage{}
	want := d.pending(id)
	if len(want.Coverage) > 0 {
		d.t.Errorf("it was not wanted: %+v", want.Coverage)
	}
	for _, p := range must(d.Pending(d.t.Context(), umpire.PendingQuery{Coverage: want.Request}))(d.t) {
		if p.Request != want.Request {
			d.t.Errorf("question %s was not named", p.Request)
		}
		for _, c := range p.Coverage {
			found[c.Scope.String()+" "+string(c.Width)] = c
		}
	}
	return found
}

// TestCoverage: each width of an approval says how many of the calls that asked it would have settled, and
// the worst of these. The question itself and calls that are allowed by now do not count.
func TestCoverage(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	ask := func(id string, c umpire.Call) {
		d.submit(d.session(umpire.Opening{}), "m"+id, c) // in a separate session: one refuses twice by itself
		d.refuse(id, "")
	}
	for i, line := range []string{"git commit -m x", "git commit -m y", "git commit -m y", "git stash drop", "chmod 600 a"} {
		id := fmt.Sprintf("c%d", i)
		ask(id, command(id, line))
	}
	ask("w", call("w", "Write", `{"file_path":`+quoted(d.file("src/b.txt"))+`,"content":"b"}`))
	s := d.session(umpire.Opening{})
	d.submit(s, "now", command("n", "git commit -m y"))
	d.counts("n", 6, map[string]int{
		"session ": 2, "project ": 2, "global ": 2, "session subcommand": 3, "project subcommand": 3, "global subcommand": 3,
	})
	if worst := d.coverageOf("n")["project subcommand"].Worst; worst == nil || worst.Program != "git" {
		t.Errorf("the worst is %+v", worst)
	}
	d.approve("n", umpire.ScopeProject) // a rule allows two of them from now on
	d.submit(d.session(umpire.Opening{}), "then", call("v", "Write", `{"file_path":`+quoted(d.file("src/c.txt"))+`,"content":"c"}`))
	d.counts("v", 4, map[string]int{
		"session ": 1, "project ": 0, "global ": 0, "session folder": 1, "project folder": 1, "global folder": 1,
		"session tool": 1, "project tool": 1, "global tool": 1,
	})
}

// counts wants how many calls the answers to a question would have settled, of so many.
func (d *testGate) counts(id string, of int, want map[string]int) {
	d.t.Helper()
	got := map[string]int{}
	for key, c := range d.coverageOf(id) {
		if got[key] = c.Calls; c.Of != of || (c.Worst == nil) != (c.Calls == 0) {
			d.t.Errorf("%s: %+v, want one of %d", key, c, of)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.t.Errorf("%s (-want +got):\n%s", id, diff)
	}
}

// TestCoverageIsBounded: old calls are left out, and of many so few are read that a card is not kept waiting.
func TestCoverageIsBounded(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	s := d.session(umpire.Opening{})
	d.submit(s, "old", command("old", "npm install x"))
	d.refuse("old", "")
	d.pass(31 * 24 * time.Hour)
	s = d.session(umpire.Opening{})
	d.submit(s, "now", command("n", "npm install x"))
	if c := d.coverageOf("n")["session "]; c.Of != 0 {
		t.Errorf("an old call counts: %+v", c)
	}
	d.refuse("n", "")
	for i := range 130 {
		id := fmt.Sprintf("c%d", i)
		d.submit(d.session(umpire.Opening{}), "m"+id, command(id, "npm install x"))
		d.refuse(id, "")
	}
	d.submit(s, "last", command("last", "npm install last"))
	var counts store.Counts
	ctx := store.WithCounts(t.Context(), &counts)
	request := d.pending("last").Request
	for _, p := range must(d.Pending(ctx, umpire.PendingQuery{Coverage: request}))(t) {
		if c := p.Coverage[0]; c.Calls != 0 || c.Of != 99 {
			t.Errorf("%+v", c)
		}
	}
	if counts.Rows > 120 {
		t.Errorf("%d rows were read", counts.Rows)
	}
}
