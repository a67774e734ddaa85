package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
)

// The overview counts calls, and names the rules that would settle the questions.
func TestOverview(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	overview := func(query string) string {
		a := b.send(t, http.MethodGet, "/overview"+query, "")
		if a.status != http.StatusOK || len(a.body) > 40<<10 {
			t.Fatalf("%d, %d bytes", a.status, len(a.body))
		}
		return a.body
	}
	if page := plain(overview("")); !strings.Contains(page, "0 calls: 0 allowed unasked, 0 asked, 0 denied") {
		t.Errorf("before any call:\n%s", page)
	}
	b.run(t, &b.ask(t, write("a.txt"))[0])
	b.refuse(t, &b.ask(t, bash("npm install left-pad"))[0], "")
	b.refuse(t, &b.ask(t, bash("npm install right-pad"))[0], "")
	b.ask(t, bash("ls"))
	b.ask(t, bash("rm -rf /"))
	for i, text := range hostile {
		b.ask(t, bash("frob"+text+" "+strings.Repeat("x", i)))
	}
	for _, query := range []string{"", "?period=week", "?period=%3Cscript%3E"} {
		raw := overview(query)
		checkSafe(t, raw)
		page := plain(raw)
		for _, want := range []string{
			`\d+ calls: 1 allowed unasked, \d+ asked, 1 denied`, `all agents \d+ \d+ \d+\.\d`, `Claude Code \d+ \d+`,
			`1 of 1 approvals came within two seconds|0 of 1 approvals`, `longer 0 Rules that would have saved the most questions`,
			`Calls by verdict, in numbers from allow ask deny \d\d-\d\d \d\d:\d\d 1 \d+ 1`,
		} {
			if !regexp.MustCompile(want).MatchString(page) {
				t.Errorf("%s: the page lacks %s:\n%s", query, want, page)
			}
		}
	}
}

// The overview suggests rules when a person asks for them.
func TestOverviewSuggests(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	raw := b.send(t, http.MethodGet, "/overview?period=week&suggest=1", "").body
	checkSafe(t, raw)
	const want = "Rules that would have saved the most questions 3 umpire rules add allow X copy saves 3 questions · the worst it could allow: lost · of calls such as: x"
	if page := plain(raw); !strings.Contains(page, want) {
		t.Errorf("the page lacks them:\n%s", page)
	}
}

// An empty inbox shows what ran meanwhile, and a rule shows its last use.
func TestWhatRanUnasked(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	b.addRule(t, umpire.ScopeProject, "frobs", umpire.Deny, "frob")
	b.run(t, &b.ask(t, write("a.txt"))[0])
	b.ask(t, bash("frob it"))
	page := plain(b.send(t, http.MethodGet, "/", "").body)
	if !strings.Contains(page, "Last hour: 0 ran unasked, 0 tried and kept, 1 approved, 1 denied") {
		t.Errorf("the inbox does not say it:\n%s", page)
	}
	if page := plain(b.rules(t, "")); !regexp.MustCompile(`frobs · \S+ · last used \S+ ago`).MatchString(page) {
		t.Errorf("the rule does not say it:\n%s", page)
	}
	b.later.Store(int64(2 * time.Hour))
	page = plain(b.send(t, http.MethodGet, "/", "").body)
	if strings.Contains(page, "Last hour") || !strings.Contains(page, "The gate runs") {
		t.Errorf("hours later:\n%s", page)
	}
}
