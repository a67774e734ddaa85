package console_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console"
)

// sessionRows are the rows of a page of sessions, as text.
func sessionRows(page string) (rows []string) {
	for _, row := range regexp.MustCompile(`<li class="session[ "]`).Split(page, -1)[1:] {
		row, _, _ = strings.Cut(row, "</li>")
		_, row, _ = strings.Cut(row, ">")
		rows = append(rows, strings.Join(strings.Fields(tags.ReplaceAllString(row, " ")), " "))
	}
	return rows
}

// nextPages are the pages from a path on.
func (b *browser) nextPages(t testing.TB, path string) (pages []string) {
	t.Helper()
	for path != "" && len(pages) < 20 {
		page := b.send(t, http.MethodGet, path, "").body
		pages = append(pages, page)
		path = ""
		if found := olderPage.FindStringSubmatch(page); found != nil {
			path = strings.ReplaceAll(found[1], "&amp;", "&")
		}
	}
	return pages
}

// A session is named by the first words of its task, in every list. Its page shows the whole task, its calls, and the
// changes that can be undone. A browser that is not signed in learns nothing of it.
func TestSessionPage(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	s := ok(b.gate.Sessions().Open(t.Context(), umpire.Opening{
		ID: "s-task", Dir: b.session.Root, Agent: "Claude Code", External: true, Runner: "host:1:2",
	}))(t)
	task := "Fix the <b>rounding</b> of prices in the basket, then add a migration\nand run every test"
	ok(b.gate.Conversations().Prompt(t.Context(), umpire.Prompt{Session: s.ID, Text: task}))(t)
	b.session = s
	q := b.ask(t, write("a.txt"))[0]
	b.run(t, &q)
	b.ask(t, bash("git push"))
	b.undoable.Store(&map[umpire.CallID][]console.Undoable{q.Call: {{ID: "k1", Session: s.ID, Paths: []string{"/p/a.txt"}}}})
	const name = "Fix the &lt;b&gt;rounding&lt;/b&gt; of prices in the basket, then add a …"
	for _, path := range []string{"/", "/timeline", "/sessions", "/session?id=s-task"} {
		if page := b.send(t, http.MethodGet, path, "").body; !strings.Contains(page, ">"+name+"<") {
			t.Errorf("%s does not name the session:\n%s", path, page)
		}
		if a := b.send(t, http.MethodGet, path, "", "Umpire-Signature", ""); strings.Contains(a.body, "rounding") {
			t.Errorf("%s names the session without a signature: %s", path, a.body)
		}
	}
	page := b.send(t, http.MethodGet, "/session?id=s-task", "").body
	for _, text := range []string{
		"in the basket, then add a migration\nand run every test", "webshop · Claude Code · mode default",
		"1 waits", "git push", "a.txt", `data-post="/undo"`, `data-post="/sessions/end"`, "Changes you can undo",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q:\n%s", text, page)
		}
	}
	if a := b.send(t, http.MethodGet, "/session?id=none", ""); a.status != http.StatusNotFound {
		t.Errorf("a session that is not there: %d", a.status)
	}
}

// The sessions of all projects are listed in pages, by folder, and chosen by project and agent.
func TestSessions(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	b.ask(t, write("a.txt"))
	shop := filepath.Dir(b.session.Root)
	var infra umpire.Session
	for i := range 140 {
		o := umpire.Opening{Dir: b.session.Root, Agent: "Claude Code"}
		if i%7 == 0 {
			o = umpire.Opening{Dir: filepath.Join(shop, "infra"), Agent: "Codex"}
		}
		s := ok(b.gate.Sessions().Open(t.Context(), o))(t)
		if o.Agent == "Codex" {
			infra = s
		}
	}
	for query, want := range map[string][]int{
		"": {60, 60, 21}, "?agent=Codex": {20}, "?project=" + string(infra.Project): {20},
		"?project=" + string(infra.Project) + "&agent=Claude+Code": {0}, "?agent=Claude+Code": {60, 60, 1}, "?project=x": {0},
	} {
		pages := b.nextPages(t, "/sessions"+query)
		if len(pages) != len(want) {
			t.Errorf("%s: %d pages, want %d", query, len(pages), len(want))
			continue
		}
		for i, page := range pages {
			if rows := sessionRows(page); len(rows) != want[i] || len(page) > 100<<10 {
				t.Errorf("%s: page %d has %d rows, want %d, and %d bytes", query, i, len(rows), want[i], len(page))
			}
		}
	}
	all := strings.Join(sessionRows(strings.Join(b.nextPages(t, "/sessions"), "")), "\n")
	if !regexp.MustCompile(`(?m)^Claude Code 1 waits \d+s end`).MatchString(all) {
		t.Errorf("the session that waits is not there:\n%s", all)
	}
	if a := b.send(t, http.MethodGet, "/sessions?after=x&active=y", ""); a.status != http.StatusBadRequest {
		t.Errorf("a page that is not there: %d", a.status)
	}
}

// A session is ended from its row: its waiting questions are denied.
func TestEndASession(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	b.ask(t, write("a.txt"))
	body := fmt.Sprintf(`{"session_id":%q}`, b.session.ID)
	for body, want := range map[string]int{
		`{"session_id":"nothing"}`: http.StatusNotFound, `{}`: http.StatusNotFound, `{`: http.StatusBadRequest,
	} {
		if a := b.send(t, http.MethodPost, "/sessions/end", body); a.status != want {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if a := b.send(t, http.MethodPost, "/sessions/end", body, "Umpire-Signature", ""); a.status != http.StatusUnauthorized {
		t.Errorf("without a signature: %d", a.status)
	}
	if a := b.send(t, http.MethodPost, "/sessions/end", body); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	if waits := ok(b.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(waits) > 0 {
		t.Errorf("%d wait", len(waits))
	}
	if rows := sessionRows(b.send(t, http.MethodGet, "/sessions", "").body); len(rows) != 1 ||
		!strings.Contains(rows[0], "ended") || strings.Contains(rows[0], "wait") {
		t.Errorf("the page has %q", rows)
	}
}
