package console_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
)

// signedIn is a world with one browser that is signed in.
func signedIn(t *testing.T, lang string) (*browser, *terminal) {
	t.Helper()
	w, p := newWorld(t, lang)
	b := w.browser(t)
	if a := b.signIn(t, p.token(t)); a.status != http.StatusOK {
		t.Fatalf("signing in: %d %s", a.status, a.body)
	}
	return b, p
}

// give submits an answer, and returns the status with the state, or the error.
func (b *browser) give(t testing.TB, path string, p *umpire.Pending, fields map[string]any) (status int, said string) {
	t.Helper()
	a := b.send(t, http.MethodPost, path, bound(t, p, fields))
	var out struct {
		State    string `json:"state"`
		Error    string `json:"error"`
		Standing string `json:"standing"`
	}
	_ = json.Unmarshal([]byte(a.body), &out)
	return a.status, out.State + out.Error + out.Standing
}

func (w *world) standing(t testing.TB, p *umpire.Pending) umpire.Standing {
	t.Helper()
	for _, e := range ok(w.gate.Events(t.Context(), umpire.Filter{Session: p.Session}))(t) {
		if e.Request == p.Request && e.Kind != umpire.EventPermissionAsked {
			s := umpire.Standing{Choice: umpire.Refuse, Actor: e.Actor, Code: e.Code, Reason: e.Reason}
			if e.Kind == umpire.EventPermissionApproved {
				s.Choice, s.Scope = umpire.Approve, *e.Scope
			}
			return s
		}
	}
	return umpire.Standing{}
}

// M-128: once leaves a card approved, every wider scope approvedAll, all else denied.
func TestAnswers(t *testing.T) {
	t.Parallel()
	b, p := signedIn(t, "en")
	var code = regexp.MustCompile(`^code ([a-z]{4}): approve \((\w+)\)`)
	for _, tt := range []struct {
		name   string
		call   umpire.Call
		fields map[string]any
		coded  bool
		state  string
		choice umpire.Choice
		scope  umpire.Scope
	}{
		{"once", write("a.txt"), nil, false, "approved", umpire.Approve, umpire.ScopeOnce},
		{
			"session", write("b.txt"), map[string]any{"scope": "session"}, false,
			"approvedAll", umpire.Approve, umpire.ScopeSession,
		},
		{
			"project", bash("git push origin c"), map[string]any{"scope": "project"}, true,
			"approvedAll", umpire.Approve, umpire.ScopeProject,
		},
		{
			"global", bash("git push origin d"), map[string]any{"scope": "global", "width": "subcommand"}, true,
			"approvedAll", umpire.Approve, umpire.ScopeGlobal,
		},
		{"high", bash("rm -rf build"), nil, true, "approved", umpire.Approve, umpire.ScopeOnce},
		{"deny", bash("npm install e"), map[string]any{"answer": "deny", "reason": " 用 pnpm "}, false, "denied", umpire.Refuse, 0},
		{"deny without a reason", bash("npm install f"), map[string]any{"answer": "deny", "reason": "  "}, false, "denied", umpire.Refuse, 0},
		{"cancel", bash("npm install g"), map[string]any{"answer": "cancel"}, false, "denied", umpire.Refuse, 0},
	} {
		asked := b.ask(t, tt.call)
		if len(asked) != 1 {
			t.Fatalf("%s: %d calls ask", tt.name, len(asked))
		}
		q := &asked[0]
		fields := map[string]any{}
		maps.Copy(fields, tt.fields)
		if tt.coded {
			if status, said := b.give(t, "/answer", q, fields); status != http.StatusForbidden {
				t.Errorf("%s without a code: %d %s", tt.name, status, said)
			}
			if status, said := b.give(t, "/code", q, fields); status != http.StatusNoContent {
				t.Fatalf("%s: no code: %d %s", tt.name, status, said)
			}
			shown := code.FindStringSubmatch(p.line(t))
			if shown == nil || shown[2] != tt.scope.String() {
				t.Fatalf("%s: the terminal shows %q", tt.name, shown)
			}
			fields["code"] = shown[1]
		}
		if status, said := b.give(t, "/answer", q, fields); status != http.StatusOK || said != tt.state {
			t.Errorf("%s: %d %s", tt.name, status, said)
		}
		if got := b.standing(t, q); got.Choice != tt.choice || got.Scope != tt.scope || got.Actor == "" {
			t.Errorf("%s: the gate has %+v", tt.name, got)
		}
	}
}

// A code is for one answer of one browser to one card, and a wrong one uses it up.
func TestCodes(t *testing.T) {
	t.Parallel()
	b, p := signedIn(t, "zh-CN")
	asked := b.ask(t, bash("git push origin a"), bash("git push origin b"))
	project := map[string]any{"scope": "project"}
	get := func(by *browser) string {
		if status, said := by.give(t, "/code", &asked[0], project); status != http.StatusNoContent {
			t.Fatalf("no code: %d %s", status, said)
		}
		line := p.line(t)
		if !strings.HasPrefix(line, "验证码 ") || !strings.Contains(line, "Bash") {
			t.Errorf("the terminal shows %q", line)
		}
		return strings.TrimPrefix(line, "验证码 ")[:4]
	}
	refused := func(name string, by *browser, q *umpire.Pending, fields map[string]any) {
		if status, said := by.give(t, "/answer", q, fields); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	code := get(b)
	refused("another card", b, &asked[1], map[string]any{"scope": "project", "code": code})
	refused("a wider scope", b, &asked[0], map[string]any{"scope": "global", "code": code})
	refused("another width", b, &asked[0], map[string]any{"scope": "project", "width": "subcommand", "code": code})
	second, follower := b.browser(t), openTerminal(t, b.console, "en")
	defer follower.close()
	second.signIn(t, follower.token(t))
	refused("another browser", second, &asked[0], map[string]any{"scope": "project", "code": code})
	refused("a wrong one", b, &asked[0], map[string]any{"scope": "project", "code": "zzzzz"})
	refused("the right one after a wrong one", b, &asked[0], map[string]any{"scope": "project", "code": code})
	code = get(b)
	follower.line(t) // every terminal shows it
	b.later.Store(int64(3 * time.Minute))
	refused("an old one", b, &asked[0], map[string]any{"scope": "project", "code": code})
	p.close()
	follower.close()
	status, said := b.give(t, "/code", &asked[0], project)
	if status != http.StatusConflict || !strings.Contains(said, "umpire console") {
		t.Errorf("a code with no terminal to show it: %d %s", status, said)
	}
	unseen := "cod" + string(rune('a'+b.codes.Load()%26))
	refused("one that no terminal has shown", b, &asked[0], map[string]any{"scope": "project", "code": unseen})
}

// The page may only answer the question as shown, with answers that its card offers.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	asked := b.ask(t, write("a.txt"), bash("echo \u202e > x"))
	for _, tt := range []struct {
		name   string
		q      *umpire.Pending
		fields map[string]any
		want   int
	}{
		{"another digest", &asked[0], map[string]any{"shown_digest": "x"}, 409},
		{"no digest", &asked[0], map[string]any{"shown_digest": ""}, 409},
		{"other arguments", &asked[0], map[string]any{"args_hash": "x"}, 409},
		{"a scope that is not one", &asked[0], map[string]any{"scope": "all"}, 400},
		{"an answer that is not one", &asked[0], map[string]any{"answer": ""}, 400},
		{"a rule of its own", &asked[0], map[string]any{"scope": "session", "rule": "Bash(*)"}, 400},
		{"a width that is not offered", &asked[0], map[string]any{"scope": "session", "width": "folder"}, 400},
		{"a width of once", &asked[0], map[string]any{"width": "tool"}, 400},
		{"hidden characters for longer", &asked[1], map[string]any{"scope": "session"}, 400},
		{"a question that is not one", &asked[0], map[string]any{"request_id": "none"}, 404},
	} {
		if status, said := b.give(t, "/answer", tt.q, tt.fields); status != tt.want || said == "" {
			t.Errorf("%s: %d %q", tt.name, status, said)
		}
	}
	if a := b.send(t, http.MethodPost, "/answer", strings.Repeat("x", 70<<10)); a.status != http.StatusBadRequest {
		t.Errorf("a large one: %d", a.status)
	}
	if list := ok(b.gate.Pending(t.Context(), umpire.PendingQuery{}))(t); len(list) != 2 {
		t.Errorf("%d wait", len(list))
	}
}

// Of many answers at once one counts, and the others learn which.
func TestOneAnswerWins(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	q := b.ask(t, write("a.txt"))[0]
	var all sync.WaitGroup
	results := make(chan int, 8)
	for i := range 8 {
		all.Go(func() {
			status, said := b.give(t, "/answer", &q, map[string]any{"answer": []string{"approve", "deny"}[i%2]})
			if status == http.StatusConflict && !strings.Contains(said, "already resolved: ") {
				t.Errorf("the late answer is told %q", said)
			}
			results <- status
		})
	}
	all.Wait()
	count := map[int]int{}
	for range 8 {
		count[<-results]++
	}
	if count[http.StatusOK] != 1 || count[http.StatusConflict] != 7 {
		t.Errorf("answers by status: %v", count)
	}
	page := b.send(t, http.MethodGet, "/?card="+string(q.Request)+"&session="+string(q.Session), "", "Umpire-Part", "1")
	if !strings.Contains(page.body, "already resolved: ") {
		t.Errorf("the page does not say so:\n%s", page.body)
	}
}

// After an answer the page opens the next call of the session, and after a trial the question that came of it.
func TestNextCall(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	first, second := b.ask(t, write("a.txt"))[0], b.ask(t, write("b.txt"))[0]
	opens := func(query string) string {
		page := b.send(t, http.MethodGet, "/?"+query, "", "Umpire-Part", "1").body
		_, after, found := strings.Cut(page, `class="card" data-state="idle" data-request="`)
		if !found {
			t.Errorf("%s opens no card", query)
		}
		request, _, _ := strings.Cut(after, `"`)
		return request
	}
	session := string(first.Session)
	for query, want := range map[string]umpire.RequestID{
		"after=" + session: first.Request, "after=another": first.Request,
		"card=gone&session=" + session + "&call=" + string(second.Call): second.Request,
	} {
		if got := opens(query); got != string(want) {
			t.Errorf("%s opens %s, want %s", query, got, want)
		}
	}
	if status, said := b.give(t, "/answer", &first, map[string]any{"answer": "deny"}); status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	if got := opens("after=" + session); got != string(second.Request) {
		t.Errorf("after the answer %s opens, want %s", got, second.Request)
	}
}

// Of two browsers and a terminal that answer one card one wins, and the others learn which answer counts.
func TestTwoBrowsersAndATerminal(t *testing.T) {
	t.Parallel()
	one, _ := signedIn(t, "en")
	two := one.world.browser(t)
	two.signIn(t, openTerminalOf(t, one.world).token(t))
	terminal := server.Local(one.gate, "cli")
	for i := range 5 {
		q := one.ask(t, write(fmt.Sprint("a", i, ".txt")))[0]
		var all sync.WaitGroup
		told := make(chan string, 3)
		for i, b := range []*browser{one, two} {
			all.Go(func() {
				_, said := b.give(t, "/answer", &q, map[string]any{"answer": []string{"approve", "deny"}[i]})
				told <- said
			})
		}
		all.Go(func() {
			_, err := terminal.Resolve(t.Context(), umpire.Answer{
				Request: q.Request, ArgsHash: q.ArgsHash, ShownDigest: q.ShownDigest, Choice: umpire.Refuse,
			})
			if errors.Is(err, umpire.ErrResolved) {
				told <- "already resolved"
			} else {
				told <- fmt.Sprint(err)
			}
		})
		all.Wait()
		late, answers := 0, []string{<-told, <-told, <-told}
		for _, said := range answers {
			if strings.Contains(said, "already resolved") {
				late++
			}
		}
		if late != 2 {
			t.Errorf("they are told %q", answers)
		}
	}
}

// openTerminalOf opens another terminal of a console, which ends with the test.
func openTerminalOf(t testing.TB, w *world) *terminal {
	t.Helper()
	p := openTerminal(t, w.console, "en")
	t.Cleanup(p.close)
	return p
}

// An open page learns at once that a card was answered elsewhere.
func TestEvents(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t, "en")
	r := ok(http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+"/events", nil))(t)
	r.Header.Set("User-Agent", b.agent)
	if err := b.page.Sign(r, b.base); err != nil {
		t.Fatal(err)
	}
	response, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	until := func(want string) {
		for {
			if line := ok(lines.ReadString('\n'))(t); strings.TrimSpace(line) == want {
				return
			}
		}
	}
	until(": here")
	q := b.ask(t, write("a.txt"))[0]
	until("event: pending")
	answer := umpire.Answer{Request: q.Request, ArgsHash: q.ArgsHash, ShownDigest: q.ShownDigest, Choice: umpire.Refuse}
	ok(b.gate.Resolve(t.Context(), answer))(t)
	until("event: pending")
}

// A code is short: a browser that is signed in must not be able to try many.
func TestCodesAreNotGuessed(t *testing.T) {
	t.Parallel()
	b, p := signedIn(t, "en")
	q := b.ask(t, bash("git push origin a"))[0]
	fields := map[string]any{"scope": "project"}
	for n := range 5 {
		if status, said := b.give(t, "/code", &q, fields); status != http.StatusNoContent {
			t.Fatalf("code %d: %d %s", n, status, said)
		}
		p.line(t)
		fields["code"] = "zzzz"
		if status, said := b.give(t, "/answer", &q, fields); status != http.StatusForbidden {
			t.Fatalf("wrong code %d: %d %s", n, status, said)
		}
		delete(fields, "code")
	}
	if status, _ := b.give(t, "/code", &q, fields); status != http.StatusUnauthorized {
		t.Errorf("after five wrong codes: %d", status)
	}
}
