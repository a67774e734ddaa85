package gate

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/policy"
)

// Every call that starts under a grant counts as a use of it, in any scope.
func TestGrantsAreCounted(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	uses := func() map[umpire.GrantKind]int {
		all := map[umpire.GrantKind]int{}
		for _, g := range must(d.grants.List(t.Context(), d.project))(t) {
			if g.Kind != umpire.GrantOnce {
				all[g.Kind] = g.Uses
			}
		}
		return all
	}
	want := func(want map[umpire.GrantKind]int) {
		t.Helper()
		if got := uses(); !maps.Equal(got, want) {
			t.Errorf("uses are %v, want %v", got, want)
		}
	}
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", command("c1", "make one"))
	b := d.approve("c1", umpire.ScopeSession)
	want(map[umpire.GrantKind]int{umpire.GrantSession: 0})
	d.run(s, b) // under a grant for once, which came with the other
	want(map[umpire.GrantKind]int{umpire.GrantSession: 0})
	d.run(s, d.submit(s, "m2", command("c2", "make one"), command("c3", "make one && make one")))
	d.refuse("c3", "no")
	d.run(s, must(d.Batch(t.Context(), s.ID, "m2"))(t))
	want(map[umpire.GrantKind]int{umpire.GrantSession: 1})
	for _, id := range []string{"m3", "m4"} {
		d.run(s, d.submit(s, id, command(id, "make one")))
	}
	want(map[umpire.GrantKind]int{umpire.GrantSession: 3})

	d.settings.Mode = umpire.ModeAuto
	auto := d.session(umpire.Opening{})
	d.submit(auto, "m1", command("c1", "make build"))
	d.run(auto, d.approve("c1", umpire.ScopeOnce))
	d.run(auto, d.submit(auto, "m2", command("c2", "make build")))
	d.run(auto, d.submit(auto, "m3", command("c3", "make build")))
	want(map[umpire.GrantKind]int{umpire.GrantSession: 3, umpire.GrantRemembered: 2})
}

// What a profile may edit is read when a call is decided, and again when it starts.
func TestSuffixesCountAtOnce(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	limit := func(suffixes ...string) {
		d.settings.Profiles = map[string]policy.Profile{"main": {EditableSuffixes: suffixes}}
	}
	edit := func(id, name string) umpire.Call {
		return call(id, "filesystem-edit", `{"filePath":`+quoted(name)+`,"startLine":1,"endLine":1,"newContent":"x"}`)
	}
	limit(".md", ".py")
	s := d.session(umpire.Opening{})
	d.submit(s, "m1", edit("held", "a.py"))
	limit(".md")
	if _, err := d.Resolve(t.Context(), answerTo(d.pending("held"), umpire.Approve)); !errors.Is(err, umpire.ErrState) {
		t.Errorf("approving what the list does not permit any more: %v", err)
	}
	limit(".md", ".py")
	b := d.approve("held", umpire.ScopeOnce)
	limit(".md")
	if ran := d.run(s, b); len(ran) > 0 {
		t.Errorf("%v ran although the list was narrowed meanwhile", ran)
	}
	if b := d.submit(s, "m2", edit("c2", "a.py")); b.Calls[0].Code != umpire.CodeSuffix {
		t.Errorf("after narrowing the call is %s (%s)", b.Calls[0].State, b.Calls[0].Code)
	}
	limit()
	if b := d.submit(s, "m3", edit("c3", "a.py")); b.Calls[0].State != umpire.CallAsked {
		t.Errorf("without a list the call is %s (%s)", b.Calls[0].State, b.Calls[0].Code)
	}
	d.refuse("c3", "no")
	limit(".md")
	d.submit(s, "m4", edit("c4", "b.md"))
	d.refuse("c4", "no")
	d.settings = config.Settings{Settings: d.settings.Settings, MaxPending: 100} // the profile is gone
	if b := d.submit(s, "m5", edit("c5", "a.go")); b.Calls[0].Code != umpire.CodeSuffix {
		t.Errorf("a profile that was taken away limits no more: %s (%s)", b.Calls[0].State, b.Calls[0].Code)
	}
}

// A list of files all of which rules or suffixes refuse has a result for each of them.
func TestRefusedListHasResults(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	d.settings.Profiles = map[string]policy.Profile{"main": {EditableSuffixes: []string{".md"}}}
	rules := filepath.Join(d.home, ".umpire", "permissions.json")
	text := `{"version":1,"rules":[{"action":"deny","tool":"Edit","match":{"pathGlob":"secret/**"},"reason":"not there"}]}`
	if err := errors.Join(os.MkdirAll(filepath.Dir(rules), 0o700), os.WriteFile(rules, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := d.session(umpire.Opening{})
	for _, tt := range []struct{ files, want string }{
		{`["secret/a.md","b.py"]`, `"path":"secret/a.md"`},
		{`["secret/a.md","secret/b.md"]`, `"path":"secret/b.md"`},
		{`[{"path":"secret/a.md"}]`, `"path":"secret/a.md"`},
	} {
		for _, tool := range []string{"filesystem-edit", "filesystem-edit_search"} {
			id := tool + tt.files
			b := d.submit(s, id, call(id, tool, `{"filePath":`+tt.files+`}`))
			if r := b.Calls[0].Result; r == nil || !strings.Contains(r.Output, tt.want) || strings.Contains(r.Output, `"edited":true`) {
				t.Errorf("%s of %s: %+v", tool, tt.files, r)
			}
		}
	}
	// With one file left the call asks about it.
	b := d.submit(s, "left", call("left", "filesystem-edit", `{"filePath":["secret/a.md","c.md"]}`))
	if b.Calls[0].State != umpire.CallAsked {
		t.Errorf("a list with a file that is left is %s: %s", b.Calls[0].State, b.Calls[0].Reason)
	}
}
