package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// rules opens the page of rules, with a query beside the world's own session.
func (b *browser) rules(t testing.TB, query string) string {
	t.Helper()
	a := b.send(t, http.MethodGet, "/rules?session="+string(b.session.ID)+query, "")
	if a.status != http.StatusOK {
		t.Fatalf("%s: %d %s", query, a.status, a.body)
	}
	return a.body
}

// plain is a page as text.
func plain(page string) string {
	return html.UnescapeString(strings.Join(strings.Fields(tags.ReplaceAllString(page, " ")), " "))
}

// addRule writes a rule into umpire's own file of a scope.
func (b *browser) addRule(t testing.TB, scope umpire.Scope, id string, action umpire.Verdict, command string) {
	t.Helper()
	rule := ok(policy.ParseShort("Bash(" + command + ":*)"))(t)
	rule.ID, rule.Action = umpire.RuleID(id), action
	ok(b.gate.Rules().Add(t.Context(), b.session.Root, scope, rule, umpire.Actor{}))(t)
}

var postForm = regexp.MustCompile(`data-post="([^"]+)" data-body="([^"]+)"`)

// bodies returns the bodies that a page's forms post to a path.
func bodies(page, path string) (all []string) {
	for _, form := range postForm.FindAllStringSubmatch(page, -1) {
		if form[1] == path {
			all = append(all, html.UnescapeString(form[2]))
		}
	}
	return all
}

// A rule is tried on the calls of the past: the page shows the effect, or the error, and stores nothing.
func TestRuleIsTried(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	page := b.rules(t, "&action=ask&rule="+url.QueryEscape("Bash(frob:*)"))
	want := "ask Bash(frob:*) in " + filepath.Base(b.session.Root) + " since false &lt;b&gt;"
	if !strings.Contains(page, want) || !strings.Contains(page, `value="ask" selected`) {
		t.Errorf("the page lacks %q:\n%s", want, plain(page))
	}
	if a := b.send(t, http.MethodGet, "/rules?rule=Bash(", ""); a.status != http.StatusBadRequest {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if rules := ok(b.gate.Rules().List(t.Context(), b.session.Root))(t); len(rules) != 0 {
		t.Errorf("stored %v", rules)
	}
}

// The rules of every source are listed with file and line, and a command is decided by them.
func TestRules(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	b.addRule(t, umpire.ScopeProject, "pads", umpire.Allow, "frob")
	b.addRule(t, umpire.ScopeGlobal, "pushes", umpire.Deny, "git push")
	page := plain(b.rules(t, ""))
	for _, want := range []string{
		`Rules of this project allow Bash\(frob:\*\) .*pads · \.umpire/permissions\.json:\d+ remove`,
		`Your rules for all projects deny Bash\(git push:\*\) .*pushes · /\S+/permissions\.json:\d+ remove`,
		`\d+ built-in rules`, `Grants no grants`,
		`rule files .*ok /\S+/permissions\.json project · umpire · 1 rule`,
	} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	for command, want := range map[string]string{
		"git push origin main": `deny .*rule pushes \(global /\S+/permissions\.json:\d+\)`,
		"frob --all":           `allow .*rule pads \(project \.umpire/permissions\.json:\d+\)`,
		"ls":                   `allow`, "frobnicate": `ask`, `echo "<b>"`: `allow`,
	} {
		page := b.rules(t, "&command="+url.QueryEscape(command))
		_, decided, _ := strings.Cut(page, `class="decided"`)
		decided, _, _ = strings.Cut(decided, "<h2>")
		if !regexp.MustCompile(`> `+want).MatchString("> "+strings.TrimPrefix(plain("<x"+decided), "> ")) || strings.Contains(page, "<b>\"") {
			t.Errorf("%s: want %s in %q", command, want, plain("<x"+decided))
		}
	}
	if a := b.send(t, http.MethodGet, "/rules?command="+strings.Repeat("x", 5000), ""); a.status != http.StatusBadRequest {
		t.Errorf("a long command: %d", a.status)
	}
	if a := b.send(t, http.MethodGet, "/rules?session=nothing", ""); a.status != http.StatusNotFound {
		t.Errorf("a session that is not there: %d", a.status)
	}
	if waits := ok(b.gate.Events(t.Context(), umpire.Filter{Session: b.session.ID}))(t); len(waits) != 1 {
		t.Errorf("a test left %d events", len(waits)-1)
	}
}

// A rule is removed with the code that the terminal shows, and only as the page showed it.
func TestRemoveARule(t *testing.T) {
	t.Parallel()
	b, p := signedIn(t, "en")
	b.addRule(t, umpire.ScopeProject, "pads", umpire.Deny, "npm install")
	b.addRule(t, umpire.ScopeGlobal, "pushes", umpire.Deny, "git push")
	all := bodies(b.rules(t, ""), "/rules/remove")
	if len(all) != 2 {
		t.Fatalf("%d rules can be removed", len(all))
	}
	code := regexp.MustCompile(`^code ([a-z]{4}): remove the rule deny Bash\((npm install|git push):\*\)`)
	ask := func(body string) string {
		if a := b.send(t, http.MethodPost, "/rules/code", body); a.status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", body, a.status, a.body)
		}
		found := code.FindStringSubmatch(p.line(t))
		if found == nil {
			t.Fatal("the terminal shows no code")
		}
		return found[1]
	}
	with := func(body, code string) string {
		return strings.TrimSuffix(body, "}") + fmt.Sprintf(`,"code":%q}`, code)
	}
	remove := func(body string) int { return b.send(t, http.MethodPost, "/rules/remove", body).status }
	first := ask(all[0])
	for what, got := range map[string]int{"without a code": remove(all[1]), "with another's code": remove(with(all[1], first))} {
		if got != http.StatusForbidden {
			t.Errorf("%s: %d", what, got)
		}
	}
	changed := regexp.MustCompile(`"shown":"."`).ReplaceAllString(strings.Replace(all[0], `"shown":"`, `"shown":"x`, 1), "")
	if got := remove(with(changed, first)); got != http.StatusConflict {
		t.Errorf("another rule than was shown: %d", got)
	}
	if got := remove(with(all[0], first)); got != http.StatusOK {
		t.Errorf("with its code: %d", got)
	}
	if got := remove(with(all[0], first)); got != http.StatusNotFound {
		t.Errorf("once more: %d", got)
	}
	if left := bodies(b.rules(t, ""), "/rules/remove"); len(left) != 1 || left[0] != all[1] {
		t.Errorf("%q are left", left)
	}
	if got := remove(with(all[1], ask(all[1])+"x")); got != http.StatusForbidden {
		t.Errorf("with a wrong code: %d", got)
	}
	p.close()
	if a := b.send(t, http.MethodPost, "/rules/code", all[1]); a.status != http.StatusConflict {
		t.Errorf("without a terminal: %d", a.status)
	}
}

// The page shows the problems of a rule file, and removes no rule that the file does not have.
func TestHealthOfRules(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	text, _ := json.Marshal(map[string]any{"rules": []any{map[string]any{
		"id": hostile[0], "action": "allow", "tool": "Bash", "match": map[string]string{"command": "make"},
		"description": strings.Join(hostile, " "),
	}, map[string]any{"id": "twice", "action": "deny", "tool": hostile[1]}}})
	for _, content := range []string{string(text), `{"rules": [`} {
		dir := t.TempDir()
		file := filepath.Join(dir, ".umpire", "permissions.json")
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		b.session = ok(b.gate.Sessions().Open(t.Context(), umpire.Opening{Dir: dir, Agent: "a"}))(t)
		page := b.rules(t, "")
		if !strings.Contains(page, `class="remark"`) {
			t.Errorf("nothing is said of %s:\n%s", content, plain(page))
		}
		if removes := bodies(page, "/rules/remove"); len(removes) > 0 {
			t.Errorf("%q can be removed", removes)
		}
		checkSafe(t, page)
	}
}

// A grant is revoked from its row, and needs no code.
func TestRevokeAGrant(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	q := b.ask(t, write("a.txt"))[0]
	ok(b.gate.Resolve(t.Context(), umpire.Answer{
		Request: q.Request, ArgsHash: q.ArgsHash, ShownDigest: q.ShownDigest, Choice: umpire.Approve, Scope: umpire.ScopeSession,
	}))(t)
	page := b.rules(t, "")
	if !regexp.MustCompile(`Grants once Write: \{.* uses: 0/1 · \S+ ago.* revoke .*session Write\(a.txt\) uses: 0`).MatchString(plain(page)) {
		t.Errorf("the grant is not there:\n%s", plain(page))
	}
	all := bodies(page, "/rules/revoke")
	if len(all) != 3 {
		t.Fatalf("%d can be revoked", len(all))
	}
	for body, want := range map[string]int{`{}`: http.StatusBadRequest, `{`: http.StatusBadRequest} {
		if a := b.send(t, http.MethodPost, "/rules/revoke", body); a.status != want {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if a := b.send(t, http.MethodPost, "/rules/revoke", all[0]); a.status != http.StatusOK || !strings.Contains(a.body, "revoked") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := b.send(t, http.MethodPost, "/rules/revoke", all[0]); a.status != http.StatusNotFound {
		t.Errorf("once more: %d %s", a.status, a.body)
	}
	if left := bodies(b.rules(t, ""), "/rules/revoke"); len(left) != 2 {
		t.Errorf("%q are left", left)
	}
}
