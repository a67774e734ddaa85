//go:build interop

package interop

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/host"
)

// reporting are the drivers of agents that report to umpire when a call has run.
func reporting() []*driver {
	return slices.DeleteFunc(slices.Clone(drivers), func(d *driver) bool {
		h := host.Find(d.Name)
		return h == nil || d.Proxy != "" ||
			!slices.ContainsFunc(h.Events(), func(e host.HookEvent) bool { return e.Kind == host.AfterTool })
	})
}

// TestHostsThatRunWhatIsDenied: no agent reports a denied call as run, unless it has run it. That one is on
// the timeline as such, here because something between the agent and umpire loses the answers.
func TestHostsThatRunWhatIsDenied(t *testing.T) {
	t.Parallel()
	for _, d := range reporting() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			m := startModel(t)
			w := newLab(t, d.Name, m)
			w.git("init", "-q")
			w.write("home/.umpire/permissions.json", `{"version": 1, "rules": [
				{"id": "denied", "action": "deny", "tool": "Bash", "match": {"commandPrefix": "touch denied"}}]}`)
			if err := os.Chmod(w.Path("home/.umpire"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Prepare(), w.Register(t.Context())); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), sessionLimit)
			defer cancel()
			w.serve(ctx)
			really := w.Path("bin/really")
			if err := os.Link(w.Umpire, really); err != nil {
				t.Fatal(err)
			}
			play := func(id, line string) string {
				call := d.Shell(line)
				call.ID = id
				m.Main = []turn{{call}}
				if out, err := w.Play(ctx, freeMode); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				events, _ := w.start(really, "timeline", "--detail")
				return events
			}
			events := play("call_a", "touch denied")
			if w.Exists("project/denied") || !strings.Contains(events, "PermissionRejected") || strings.Contains(events, "CallRan") {
				t.Fatalf("a denied call ran, or passes for one that did:\n%s", events)
			}
			w.replaceUmpire("#!/bin/sh\n" + really + ` "$@" >/dev/null 2>&1` + "\nexit 0\n")
			if events = play("call_b", "touch denied"); !w.Exists("project/denied") || strings.Count(events, "CallRanRefused") != 1 {
				t.Errorf("one call ran although it was denied, and the timeline is\n%s", events)
			}
			if events = play("call_c", "touch denied && false"); strings.Count(events, "CallRanRefused") != 2 {
				t.Errorf("a call ran although it was denied, and failed, and the timeline is\n%s", events)
			}
		})
	}
}

// TestHostsAskAboutAll: for each call that an agent reports afterwards, the gate has an earlier
// question. umpire doctor therefore does not complain about agents that ask.
func TestHostsAskAboutAll(t *testing.T) {
	t.Parallel()
	for _, d := range reporting() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			m := startModel(t)
			w := newLab(t, d.Name, m)
			w.git("init", "-q")
			w.triesFirst() // edits run, and some are rewritten
			calls := turn{
				d.Shell("ls"), d.Shell("ls"), d.Shell("mkdir -p src && touch src/a"), d.WriteFile(w.Path("project/b.txt"), "b\n"),
				d.Shell("ls not-there"), d.WriteFile(w.Path("project/b.txt/c"), "c\n"),
			}
			if d.Background != nil {
				calls = append(calls, d.Background("ls -l"))
			}
			for i := range calls {
				calls[i].ID = "call_" + string(rune('a'+i))
				m.Main = append(m.Main, turn{calls[i]})
			}
			if err := w.Prepare(); err != nil {
				t.Fatal(err)
			}
			if err := w.Register(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), sessionLimit)
			defer cancel()
			w.serve(ctx)
			if out, err := w.Play(ctx, freeMode); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			events, _ := w.start(w.Umpire, "timeline", "--detail")
			asked := strings.Count(events, "BatchSubmitted ") + strings.Count(events, "PermissionBypassedByRule ")
			if asked < len(calls) || strings.Contains(events, "CallRanUnasked") {
				t.Errorf("%d calls, and the timeline is\n%s", len(calls), events)
			}
		})
	}
}
