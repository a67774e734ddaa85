//go:build unix

package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// A pair is two gates over one database, each with a separate home, and an agent that
// talks to the first.
type pair struct {
	t       *testing.T
	homes   [2]*home
	person  [2]*server.Client
	agent   [2]*server.Client
	session umpire.Session
}

func newPair(t *testing.T, server *storetest.Server) *pair {
	t.Helper()
	p := &pair{t: t}
	dir := newFolder(t)
	url := storeURL(t, server.Database(t))
	for i := range p.homes {
		h := newHome(t, filepath.Join(dir, fmt.Sprint("home", i)), url)
		p.homes[i] = h
		h.start(func(err error) { t.Error(err) })
		t.Cleanup(func() { h.end(); h.done.Wait() })
		if _, err := h.ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.person[i], p.agent[i] = p.dial(i, "person"), p.dial(i, "agent")
	}
	project := filepath.Join(dir, "p")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.session, err = p.agent[0].Sessions().Open(t.Context(), umpire.Opening{Dir: project, Agent: "a"}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) dial(i int, who string) *server.Client {
	p.t.Helper()
	c, err := p.homes[i].dial(who)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

// ask hands in a message with one call that asks, and one after it that does not, and
// returns the question as the other gate lists it.
func (p *pair) ask() umpire.Pending {
	p.t.Helper()
	const id = "m1"
	_, err := p.agent[0].Submit(p.t.Context(), umpire.Submission{Session: p.session.ID, Batch: id, Calls: []umpire.Call{
		{ID: id + "-asks", Tool: "Bash", Input: json.RawMessage(`{"command":"npm install x"}`)},
		{ID: id + "-reads", Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)},
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	list, err := p.person[1].Pending(p.t.Context(), umpire.PendingQuery{Session: p.session.ID})
	if err != nil || len(list) != 1 {
		p.t.Fatalf("asked at one gate, the other lists %d questions (%v)", len(list), err)
	}
	return list[0]
}

func answerOf(q *umpire.Pending, c umpire.Choice) umpire.Answer {
	return umpire.Answer{Request: q.Request, ArgsHash: q.ArgsHash, ShownDigest: q.ShownDigest, Version: q.Version, Choice: c}
}

// run starts and finishes the calls of a batch at a gate, and delivers its results.
func (p *pair) run(at int, id string) {
	p.t.Helper()
	for _, call := range []string{"-asks", "-reads"} {
		started, err := p.agent[at].Start(p.t.Context(), umpire.Start{Session: p.session.ID, Batch: umpire.BatchID(id), Call: umpire.CallID(id + call)})
		if err != nil || !started.Go {
			p.t.Fatalf("call %s%s does not start: %+v, %v", id, call, started.Batch, err)
		}
		p.finish(at, id, call)
	}
}

func (p *pair) finish(at int, id, call string) {
	p.t.Helper()
	_, err := p.agent[at].Finish(p.t.Context(), umpire.Result{
		Session: p.session.ID, Batch: umpire.BatchID(id), Call: umpire.CallID(id + call), Status: umpire.ResultOK,
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// watch forwards the kinds of the session's events from one gate.
func (p *pair) watch(ctx context.Context, at int) <-chan umpire.EventKind {
	kinds := make(chan umpire.EventKind, 100)
	go func() {
		defer close(kinds)
		for e, err := range p.person[at].Watch(ctx, umpire.Filter{}) {
			if err != nil {
				return
			}
			kinds <- e.Kind
		}
	}()
	return kinds
}

// until counts the events up to and with one of a kind.
func (p *pair) until(kinds <-chan umpire.EventKind, last umpire.EventKind) map[umpire.EventKind]int {
	p.t.Helper()
	count := map[umpire.EventKind]int{}
	timeout := time.After(patience)
	for count[last] == 0 {
		select {
		case kind, ok := <-kinds:
			if !ok {
				p.t.Fatalf("the watcher ended before %s", last)
			}
			count[kind]++
		case <-timeout:
			p.t.Fatalf("the watcher never heard of %s, but of %v", last, count)
		}
	}
	return count
}

// TestReplicas: several gates over one database are one gate.
func TestReplicas(t *testing.T) {
	t.Parallel()
	server := storetest.NewServer(t)
	for name, test := range map[string]func(*pair){
		"asked at one, answered at the other": askedHereAnsweredThere,
		"one of twenty answers wins":          oneAnswerWins,
		"one of twenty starts runs":           oneStartRuns,
		"one gate dies, the other goes on":    oneGateDies,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newPair(t, server))
		})
	}
}

func askedHereAnsweredThere(p *pair) {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	here := p.watch(ctx, 0)
	q := p.ask()
	p.until(here, umpire.EventPermissionAsked)
	if _, err := p.person[1].Resolve(ctx, answerOf(&q, umpire.Approve)); err != nil {
		p.t.Fatal(err)
	}
	p.until(here, umpire.EventBatchResumed)
	p.run(0, "m1")
	if n := p.until(here, umpire.EventBatchFinished)[umpire.EventBatchResumed]; n != 0 {
		p.t.Errorf("the batch was resumed %d times more", n)
	}
}

// oneAnswerWins posts as any HTTP client does: the others meet a conflict.
func oneAnswerWins(p *pair) {
	const answers = 20
	q := p.ask()
	body, err := json.Marshal(answerOf(&q, umpire.Approve))
	if err != nil {
		p.t.Fatal(err)
	}
	statuses := make(chan int, answers)
	for i := range answers {
		go func() { statuses <- p.post(i%2, "GateService/Resolve", body) }()
	}
	count := map[int]int{}
	for range answers {
		count[<-statuses]++
	}
	if count[http.StatusOK] != 1 || count[http.StatusConflict] != answers-1 {
		p.t.Errorf("answers by status: %v, want 1 with 200 and %d with 409", count, answers-1)
	}
	events, err := p.person[0].Events(p.t.Context(), umpire.Filter{Session: p.session.ID})
	if err != nil {
		p.t.Fatal(err)
	}
	kinds := map[umpire.EventKind]int{}
	for _, e := range events {
		kinds[e.Kind]++
	}
	if kinds[umpire.EventPermissionApproved] != 1 || kinds[umpire.EventBatchResumed] != 1 {
		p.t.Errorf("events: %v", kinds)
	}
}

// post returns the status of a request with the person's credential, or 0 if there was no response.
func (p *pair) post(at int, method string, body []byte) int {
	h := p.homes[at]
	token, err := server.ReadToken(filepath.Join(h.dir, "state", "person.token"))
	if err != nil {
		return 0
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", strings.TrimPrefix(h.where, "unix:"))
	}}
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, "http://localhost/umpire.v1."+method, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

func oneStartRuns(p *pair) {
	const starts = 20
	q := p.ask()
	if _, err := p.person[1].Resolve(p.t.Context(), answerOf(&q, umpire.Approve)); err != nil {
		p.t.Fatal(err)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	ran := 0
	for i := range starts {
		all.Go(func() {
			started, err := p.agent[i%2].Start(p.t.Context(), umpire.Start{Session: p.session.ID, Batch: "m1", Call: "m1-asks"})
			if err != nil {
				p.t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if started.Go {
				ran++
			}
		})
	}
	all.Wait()
	if ran != 1 {
		p.t.Errorf("the call was let go %d times", ran)
	}
	p.finish(1, "m1", "-asks")
}

func oneGateDies(p *pair) {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	q := p.ask()
	p.homes[0].stay() // and no other takes its place
	there := p.watch(ctx, 1)
	if _, err := p.person[1].Resolve(ctx, answerOf(&q, umpire.Approve)); err != nil {
		p.t.Fatal(err)
	}
	p.run(1, "m1")
	p.until(there, umpire.EventBatchFinished)
	if n := breaks(p.t, p.homes[1]); n != 0 {
		p.t.Errorf("%d breaks", n)
	}
}

// TestDatabaseCrashes: PostgreSQL dies under two gates, again and again, during
// conversations on both. Acknowledged answers survive, and no call runs twice.
func TestDatabaseCrashes(t *testing.T) {
	t.Parallel()
	const crashes = 3
	server := storetest.NewServer(t)
	k := newSystem(t, rand.New(rand.NewPCG(1, 1)), storeURL(t, server.Database(t)), 2)
	for _, h := range k.homes {
		h.databaseDies = true
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	all := k.live(ctx, t, func(ctx context.Context) {
		for range crashes {
			k.awaitAnswers(ctx, answersBetween)
			server.Stop(t, true)
			server.Start(t)
		}
		k.awaitAnswers(ctx, answersBetween)
	})
	t.Logf("\n%s\n%s", header, all.row("crashes"))
	judge(t, all)
}

// answersBetween is how many answers are acknowledged between two crashes.
const answersBetween = 5
