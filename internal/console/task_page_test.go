package console_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/task"
)

// A desk drafts the same task for each session.
type desk struct{}

func (desk) Draft(*task.Task) (made task.Task, left []string) {
	made = task.Task{Title: "Fix <b>it</b>", For: 2 * 3600e9, Lines: []task.Line{
		{Times: 20, Most: umpire.Reversible, Tool: "Edit", Match: umpire.Match{PathGlob: "src/**"}}}}
	return made, []string{"rm -rf /\u202e"}
}

func (desk) Describe(_ context.Context, t *task.Task) (*task.Card, error) {
	return &task.Card{Task: *t, Questions: 4, Answered: 3, Lines: make([]task.CardLine, len(t.Lines))}, nil
}

// A task is drafted, edited and approved on its page with a code, which is for one text.
func TestApproveATask(t *testing.T) {
	t.Parallel()
	b, p := signedIn(t, "en")
	id := string(b.session.ID)
	show := func(text string) string {
		return b.send(t, http.MethodGet, "/sessions/task?id="+id+"&text="+url.QueryEscape(text), "").body
	}
	if page := b.send(t, http.MethodGet, "/session?id="+id, "").body; !strings.Contains(page, "/sessions/task?id="+id) {
		t.Errorf("the session's page does not lead there:\n%s", plain(page))
	}
	page := show("")
	checkSafe(t, page)
	for _, want := range []string{"20x Edit(src/**) reversible · answers 0 of 4 questions so far", "always asks: rm -rf /"} {
		if !strings.Contains(plain(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, plain(page))
		}
	}
	all := bodies(page, "/sessions/task/approve")
	if len(all) != 1 {
		t.Fatalf("%q", all)
	}
	approve := func(body string) answer { return b.send(t, http.MethodPost, "/sessions/task/approve", body) }
	if a := approve(strings.Replace(all[0], "20x", "90x", 1)); a.status != http.StatusConflict {
		t.Errorf("another text than was shown: %d %s", a.status, a.body)
	}
	for _, body := range []string{`{}`, `{`} {
		if a := approve(body); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	coded := func(body string) string {
		if a := b.send(t, http.MethodPost, "/sessions/task/code", body); a.status != http.StatusNoContent {
			t.Fatalf("no code: %d %s", a.status, a.body)
		}
		_, code, _ := strings.Cut(p.line(t), "code ")
		code, title, _ := strings.Cut(code, ": ")
		if !strings.HasPrefix(title, "approve the task ") {
			t.Errorf("the terminal shows %q", title)
		}
		return strings.TrimSuffix(body, "}") + `,"code":"` + code + `"}`
	}
	if a := approve(all[0]); a.status != http.StatusForbidden {
		t.Errorf("without a code: %d %s", a.status, a.body)
	}
	if a := approve(coded(all[0])); a.status != http.StatusOK || !strings.Contains(a.body, "to end it: umpire task end k") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	edit := umpire.Call{ID: "e", Tool: "Edit", Dir: b.session.Dir, Input: []byte(
		`{"file_path":"src/x.txt","old_string":"a","new_string":"b"}`)}
	batch := ok(b.gate.Submit(t.Context(), umpire.Submission{
		Session: b.session.ID, Batch: "approved", Calls: []umpire.Call{edit},
	}))(t)
	if batch.Calls[0].Verdict != umpire.Allow {
		t.Errorf("the call is not allowed: %s", batch.Calls[0].Reason)
	}

	page = show("task: x\nfor: 1h\nmay:\n  2x reversible Bash")
	if !strings.Contains(plain(page), "line 4: Bash allows every use of the tool") ||
		len(bodies(page, "/sessions/task/approve")) > 0 {
		t.Errorf("a text that cannot be approved:\n%s", plain(page))
	}
	push := bodies(show("task: Push\nfor: 1h\nmay:\n  2x outward Bash(=git push origin fix)"), "/sessions/task/approve")
	first := coded(push[0])
	if a := approve(strings.Replace(coded(all[0]), `"digest":"`, `"digest":"0`, 1)); a.status != http.StatusConflict {
		t.Errorf("another digest: %d %s", a.status, a.body)
	}
	if a := approve(first); a.status != http.StatusOK {
		t.Errorf("with its code: %d %s", a.status, a.body)
	}
	if grants := ok(b.gate.Grants().List(t.Context(), b.session.Dir))(t); len(grants) != 4 {
		t.Errorf("%d grants", len(grants))
	}
}
