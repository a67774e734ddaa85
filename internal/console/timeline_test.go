package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// run answers a question for once, starts the call and ends it.
func (w *world) run(t testing.TB, q *umpire.Pending) {
	t.Helper()
	ok(w.gate.Resolve(t.Context(), umpire.Answer{
		Request: q.Request, ArgsHash: q.ArgsHash, ShownDigest: q.ShownDigest, Choice: umpire.Approve, Scope: umpire.ScopeOnce,
	}))(t)
	started := ok(w.gate.Start(t.Context(), umpire.Start{
		Session: q.Session, Batch: q.Batch, Call: q.Call, Epoch: w.session.Epoch,
	}))(t)
	if !started.Go {
		t.Fatalf("the call does not start: %+v", started)
	}
	ok(w.gate.Finish(t.Context(), umpire.Result{
		Session: q.Session, Batch: q.Batch, Call: q.Call, Epoch: w.session.Epoch, Status: umpire.ResultOK, Output: "done",
	}))(t)
}

// refuse denies a question.
func (w *world) refuse(t testing.TB, q *umpire.Pending, reason string) {
	t.Helper()
	ok(w.gate.Resolve(t.Context(), umpire.Answer{
		Request: q.Request, ArgsHash: q.ArgsHash, ShownDigest: q.ShownDigest, Choice: umpire.Refuse,
		Reason: reason,
	}))(t)
}

var tags = regexp.MustCompile(`<[^>]*>`)

// linesOf are the lines of a page of the timeline, as text.
func linesOf(page string) (lines []string) {
	for _, line := range strings.Split(page, `<li class="event`)[1:] {
		_, line, _ = strings.Cut(line, ">")
		lines = append(lines, strings.Join(strings.Fields(tags.ReplaceAllString(line, " ")), " "))
	}
	return lines
}

// One line has the way of a call from asked to ended; filters choose lines.
func TestTimeline(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	b.run(t, &b.ask(t, write("a.txt"))[0])
	b.refuse(t, &b.ask(t, bash("npm install left-pad"))[0], "use <b>pnpm</b>")
	b.ask(t, write("b.txt"))
	for query, want := range map[string][]string{
		"":             {"b.txt", "npm install left-pad", "a.txt", "session opened"},
		"?kind=asked":  {"b.txt", "npm install left-pad", "a.txt"},
		"?kind=denied": {"npm install left-pad"},
		"?kind=kept":   {},
		"?q=WRITE+a.t": {"a.txt"},
		"?q=nothing":   {},
		"?session=s1":  {},
		"?session=" + string(b.session.ID) + "&project=" + string(b.session.Project) + "&kind=denied": {"npm install left-pad"},
	} {
		lines := linesOf(b.send(t, http.MethodGet, "/timeline"+query, "").body)
		if len(lines) != len(want) {
			t.Errorf("%s: %d lines, want %d: %q", query, len(lines), len(want), lines)
			continue
		}
		for i, text := range want {
			if !strings.Contains(lines[i], text) {
				t.Errorf("%s: line %d is %q, want %q in it", query, i, lines[i], text)
			}
		}
	}
	lines := linesOf(b.send(t, http.MethodGet, "/timeline", "").body)
	for i, want := range []string{`^\d+s asked a person Write b.txt webshop · Claude Code$`,
		`^\d+s asked a person denied Bash npm install left-pad webshop · Claude Code$`,
		`^\d+s asked a person approved \(once\) Write a.txt webshop · Claude Code$`,
	} {
		if !regexp.MustCompile(want).MatchString(lines[i]) {
			t.Errorf("line %d is %q, want %s", i, lines[i], want)
		}
	}
	if a := b.send(t, http.MethodGet, "/timeline?before=x", ""); a.status != http.StatusBadRequest {
		t.Errorf("?before=x: %d", a.status)
	}
}

// editGreeting is a call that changes a file, with the diff of it.
func editGreeting() umpire.Call {
	input, _ := json.Marshal(map[string]string{
		"file_path": "greet.sh", "old_string": "echo \"Hello\"", "new_string": "echo \"Hello, ${name:-world}\"",
	})
	return umpire.Call{Tool: "Edit", Input: input}
}

// A row of the timeline opens to the card, the answer with its reason, the change, the output and every event.
func TestCallOfTheTimeline(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	edited := b.ask(t, editGreeting())[0]
	b.run(t, &edited)
	refused := b.ask(t, bash("npm install left-pad && git push"))[0]
	b.refuse(t, &refused, "use <b>pnpm</b>")
	waits := b.ask(t, write("c.txt"))[0]
	for _, tt := range []struct {
		asked *umpire.Pending
		want  []string
	}{
		{&edited, []string{"approved (once)", "Hello, ${name:-world}", "done", "request: ", "Events"}},
		{&refused, []string{"Publishes commits, and installs", ">denied<", "use &lt;b&gt;pnpm&lt;/b&gt;", "npm install left-pad", "git push"}},
		{&waits, []string{"Writes c.txt", `href="/?call=`, "Answer it"}},
	} {
		path := "/timeline/call?session=" + string(tt.asked.Session) + "&call=" + string(tt.asked.Call)
		if rows := b.send(t, http.MethodGet, "/timeline", "").body; !strings.Contains(rows, string(tt.asked.Call)) {
			t.Errorf("no row opens to %s", path)
		}
		page := b.send(t, http.MethodGet, path, "").body
		for _, text := range tt.want {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, page)
			}
		}
	}
	for _, query := range []string{"", "?session=none&call=x", "?session=" + string(b.session.ID) + "&call=x"} {
		if a := b.send(t, http.MethodGet, "/timeline/call"+query, ""); a.status != http.StatusNotFound {
			t.Errorf("%q: %d", query, a.status)
		}
	}
}

var olderPage = regexp.MustCompile(`rel="next" href="([^"]+)"`)

// Pages of the timeline have 60 lines at most, and together every call once, with all of its steps.
func TestTimelinePages(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	const calls = 150
	var asked []umpire.Pending
	for i := range calls {
		asked = append(asked, b.ask(t, write(fmt.Sprintf("f%03d.txt", i)))...)
	}
	for i := range asked {
		b.refuse(t, &asked[i], "")
	}
	seen := map[string]int{}
	pages := 0
	for path := "/timeline?kind=asked"; path != ""; pages++ {
		page := b.send(t, http.MethodGet, path, "").body
		lines := linesOf(page)
		if len(lines) > 60 || len(page) > 150<<10 {
			t.Errorf("a page has %d lines and %d bytes", len(lines), len(page))
		}
		for _, line := range lines {
			seen[regexp.MustCompile(`f\d+`).FindString(line)]++
			if !strings.Contains(line, "asked a person denied") {
				t.Errorf("a line lacks its end: %s", line)
			}
		}
		path = ""
		if found := olderPage.FindStringSubmatch(page); found != nil && pages < 20 {
			path = strings.ReplaceAll(found[1], "&amp;", "&")
		}
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s stands on %d pages", name, n)
		}
	}
	if len(seen) != calls || pages != 3 {
		t.Errorf("%d calls on %d pages", len(seen), pages)
	}
}

// A line of the timeline undoes the changes of its call.
func TestUndoFromTheTimeline(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	q := b.ask(t, write("a.txt"))[0]
	b.run(t, &q)
	b.undoable.Store(&map[umpire.CallID][]console.Undoable{q.Call: {
		{ID: "k0", Session: "another", Paths: []string{"/other"}},
		{ID: "k1", Session: q.Session, Paths: []string{"/p/a<b>.txt"}},
	}})
	page := b.send(t, http.MethodGet, "/timeline", "").body
	if !strings.Contains(page, `data-post="/undo" data-body="{&#34;id&#34;:&#34;k1&#34;}"`) || strings.Contains(page, "&#34;k0&#34;") || !strings.Contains(page, "/p/a&lt;b&gt;.txt") {
		t.Errorf("the line does not offer it:\n%s", page)
	}
	for body, want := range map[string]int{
		`{"id":"k1"}`: http.StatusOK, `{"id":"k2"}`: http.StatusConflict,
		`{}`: http.StatusBadRequest, `{`: http.StatusBadRequest,
	} {
		if a := b.send(t, http.MethodPost, "/undo", body); a.status != want {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if a := b.send(t, http.MethodPost, "/undo", `{"id":"k1"}`, "Umpire-Signature", ""); a.status != http.StatusUnauthorized {
		t.Errorf("without a signature: %d", a.status)
	}
}

// TestAllThatAnUndoTakesBackIsCounted: paths that the list omits are counted.
func TestAllThatAnUndoTakesBackIsCounted(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	q := b.ask(t, write("a.txt"))[0]
	b.run(t, &q)
	b.undoable.Store(&map[umpire.CallID][]console.Undoable{
		q.Call: {{ID: "k1", Session: q.Session, Paths: make([]string, 23)}},
	})
	if page := b.send(t, http.MethodGet, "/timeline", "").body; !strings.Contains(page, "... and 3 more") {
		t.Errorf("three paths are undone that the page does not tell of:\n%s", page)
	}
}

// undo undoes the changes offered by the test.
func (w *world) undo(_ context.Context, _ *catalogue.Language, _ umpire.Gate, id string) (string, error) {
	if id != "k1" {
		return "", errors.New("nothing like that")
	}
	w.undoable.Store(&map[umpire.CallID][]console.Undoable{})
	return "Undid 1 change", nil
}

// kept returns the changes that the test offers to undo.
func (w *world) kept() (map[umpire.CallID][]console.Undoable, error) {
	if all := w.undoable.Load(); all != nil {
		return *all, nil
	}
	return nil, nil
}
