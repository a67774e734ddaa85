package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// The figures of docs/team.md: real gates, the agents and people of this process.

// teamStores are the databases that are measured, and with how many gates.
var teamStores = []struct {
	name  string
	gates int
}{{"sqlite", 1}, {"postgres", 1}, {"replicas", 2}}

// A team is some gates over one database.
type team struct {
	b     *testing.B
	homes []*home
	dir   string
	dsn   string // "" is SQLite
}

func newTeam(b *testing.B, gates int, postgres bool) *team {
	b.Helper()
	t := &team{b: b, dir: newFolder(b)}
	store := ""
	if postgres {
		t.dsn = storetest.Postgres(b)
		store = storeURL(b, t.dsn)
	}
	for i := range gates {
		h := newHome(b, filepath.Join(t.dir, fmt.Sprint("home", i)), store)
		h.start(func(err error) { b.Error(err) })
		b.Cleanup(func() { h.end(); h.done.Wait() })
		if _, err := h.ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		t.homes = append(t.homes, h)
	}
	return t
}

func (t *team) dial(i int, who string) *server.Client {
	t.b.Helper()
	c, err := t.homes[i%len(t.homes)].dial(who)
	if err != nil {
		t.b.Fatal(err)
	}
	t.b.Cleanup(func() { c.Close() })
	return c
}

// A volume is the size of a database. For SQLite only the file size is known, and only
// after its gate has ended.
type volume struct{ disk, log, rows int64 }

func (t *team) volume() (v volume) {
	t.b.Helper()
	if t.dsn == "" {
		if info, err := os.Stat(filepath.Join(t.homes[0].dir, "state", "umpire.db")); err == nil {
			v.disk = info.Size()
		}
		return v
	}
	c, err := pgx.Connect(t.b.Context(), t.dsn)
	if err != nil {
		t.b.Fatal(err)
	}
	defer c.Close(t.b.Context())
	const count = `SELECT pg_database_size(current_database()), pg_current_wal_lsn() - '0/0'::pg_lsn,
		(SELECT SUM((xpath('/row/n/text()', query_to_xml(format('SELECT COUNT(*) AS n FROM %I', relname), false, true, '')))[1]::TEXT::BIGINT)
			FROM pg_stat_user_tables)`
	if err := c.QueryRow(t.b.Context(), count).Scan(&v.disk, &v.log, &v.rows); err != nil {
		t.b.Fatal(err)
	}
	return v
}

// stop ends the gates. Afterwards all their data is in the database itself.
func (t *team) stop() {
	for _, h := range t.homes {
		h.end()
		h.done.Wait()
	}
}

// The work of one call: an ordinary command, and its output.
const (
	askedCommand = `{"command":"npm install left-pad@1.3.0 --save-dev","description":"Install the dependency"}`
	safeCommand  = `{"command":"git log --oneline -n 20 -- internal/store","description":"Look at the history"}`
)

var (
	callOutput  = strings.Repeat("0123456789abcdef 0123456789\n", 18) // half a kilobyte
	callMessage = json.RawMessage(`{"role":"assistant","content":[{"type":"text","text":"I am going to look at this first."}]}`)
)

// A worker is one agent with a session, and the person who answers it.
type worker struct {
	agent, person *server.Client
	session       umpire.Session
	calls         int
}

func (t *team) worker(i int) *worker {
	t.b.Helper()
	dir := filepath.Join(t.dir, fmt.Sprint("p", i))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.b.Fatal(err)
	}
	w := &worker{agent: t.dial(i, "agent"), person: t.dial(i+1, "person")}
	var err error
	if w.session, err = w.agent.Sessions().Open(t.b.Context(), umpire.Opening{Dir: dir, Agent: "a"}); err != nil {
		t.b.Fatal(err)
	}
	return w
}

// answer reads the card of the one question that waits, and answers it.
func (w *worker) answer(ctx context.Context, choice umpire.Choice) error {
	cards, err := w.person.Pending(ctx, umpire.PendingQuery{Session: w.session.ID})
	if err != nil || len(cards) != 1 {
		return errors.Join(err, fmt.Errorf("%d questions wait", len(cards)))
	}
	_, err = w.person.Resolve(ctx, answerOf(&cards[0], choice))
	return err
}

// call takes one call from its message to its result. It returns how many
// transactions that took.
func (w *worker) call(ctx context.Context, asks bool) (commits int, err error) {
	w.calls++
	id := fmt.Sprint("m", w.calls)
	input := safeCommand
	if asks {
		input = askedCommand
	}
	b, err := w.agent.Submit(ctx, umpire.Submission{
		Session: w.session.ID, Batch: umpire.BatchID(id), Message: callMessage,
		Calls: []umpire.Call{{ID: umpire.CallID(id), Tool: "Bash", Input: json.RawMessage(input)}},
	})
	if err != nil {
		return 0, err
	}
	commits = 3
	if asks {
		commits++
		if err := w.answer(ctx, umpire.Approve); err != nil {
			return 0, err
		}
	}
	return commits, w.run(ctx, b.ID, b.Calls[0].ID)
}

// run begins a call, and ends it.
func (w *worker) run(ctx context.Context, b umpire.BatchID, call umpire.CallID) error {
	started, err := w.agent.Start(ctx, umpire.Start{Session: w.session.ID, Batch: b, Call: call})
	if err != nil || !started.Go {
		return errors.Join(err, fmt.Errorf("call %s: it may run: %t", call, started.Go))
	}
	_, err = w.agent.Finish(ctx, umpire.Result{
		Session: w.session.ID, Batch: b, Call: call, Status: umpire.ResultOK, Output: callOutput,
	})
	return err
}

// BenchmarkTeamCalls has 16 agents make calls at once: one operation is one call, with
// all of its requests and commits.
func BenchmarkTeamCalls(b *testing.B) {
	const agents = 16
	for _, kind := range []struct {
		name string
		asks bool
	}{{"asked", true}, {"allowed", false}} {
		for _, at := range teamStores {
			b.Run(kind.name+"/"+at.name, func(b *testing.B) {
				t := newTeam(b, at.gates, at.name != "sqlite")
				var workers []*worker
				for i := range agents {
					workers = append(workers, t.worker(i))
				}
				before := t.volume()
				commits := t.work(workers, kind.asks)
				t.stop()
				after := t.volume()
				b.ReportMetric(float64(commits)/b.Elapsed().Seconds(), "commits/s")
				b.ReportMetric(float64(commits)/float64(b.N), "commits/op")
				b.ReportMetric(float64(after.disk-before.disk)/float64(b.N), "diskbytes/op")
				if t.dsn != "" {
					b.ReportMetric(float64(after.log-before.log)/float64(b.N), "logbytes/op")
					b.ReportMetric(float64(after.rows-before.rows)/float64(b.N), "rows/op")
				}
			})
		}
	}
}

// work spreads the calls over the workers.
func (t *team) work(workers []*worker, asks bool) (commits int64) {
	b := t.b
	var left, done atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var all sync.WaitGroup
	for _, w := range workers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				n, err := w.call(b.Context(), asks)
				if err != nil {
					b.Error(err)
					return
				}
				done.Add(int64(n))
			}
		})
	}
	all.Wait()
	b.StopTimer()
	return done.Load()
}

// BenchmarkTeamLongSession makes call after call in one session, and compares the last
// tenth with the first: a session does not become slower with its calls. Run it with
// -benchtime 2000x or more.
func BenchmarkTeamLongSession(b *testing.B) {
	for _, at := range teamStores[:2] {
		b.Run(at.name, func(b *testing.B) {
			w := newTeam(b, 1, at.name != "sqlite").worker(0)
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := w.call(b.Context(), true); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			tenth := max(1, len(took)/10)
			first, last := median(took[:tenth]), median(took[len(took)-tenth:])
			b.ReportMetric(float64(last)/float64(first), "last/first")
		})
	}
}

func median(took []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)/2]
}

// BenchmarkTeamAnswer measures the way of a question and its answer over two gates: an
// agent asks at one, a person who watches the other gets the question and answers
// there, and the agent learns that it may continue.
func BenchmarkTeamAnswer(b *testing.B) {
	t := newTeam(b, 2, true)
	w := t.worker(0)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	there := moments(ctx, t.dial(1, "person"), umpire.EventPermissionAsked)
	here := moments(ctx, w.agent, umpire.EventBatchResumed, w.session.ID)
	var toPerson, toAgent, whole []time.Duration
	for b.Loop() {
		began := time.Now()
		w.calls++
		id := fmt.Sprint("m", w.calls)
		_, err := w.agent.Submit(ctx, umpire.Submission{
			Session: w.session.ID, Batch: umpire.BatchID(id), Calls: []umpire.Call{{ID: umpire.CallID(id), Tool: "Bash", Input: json.RawMessage(`{"command":"npm install ` + id + `"}`)}},
		})
		if err != nil {
			b.Fatal(err)
		}
		asked := time.Now()
		received := <-there
		toPerson = append(toPerson, received.Sub(asked))
		if err := w.answer(ctx, umpire.Refuse); err != nil {
			b.Fatal(err)
		}
		answered := time.Now()
		resumed := <-here
		toAgent = append(toAgent, resumed.Sub(answered))
		whole = append(whole, resumed.Sub(began))
	}
	for name, all := range map[string][]time.Duration{"asked-heard-ms": toPerson, "answered-heard-ms": toAgent, "whole-ms": whole} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name)
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, name+"-p99")
	}
}

// moments sends the times at which events of a kind arrived, in one session or in all.
func moments(ctx context.Context, c *server.Client, kind umpire.EventKind, session ...umpire.SessionID) <-chan time.Time {
	heard := make(chan time.Time, 16)
	f := umpire.Filter{}
	if len(session) > 0 {
		f.Session = session[0]
	}
	go func() {
		defer close(heard)
		for e, err := range c.Watch(ctx, f) {
			if err != nil {
				return
			}
			if e.Kind == kind {
				heard <- time.Now()
			}
		}
	}()
	return heard
}

// BenchmarkTeamWatchers measures the cost of a watcher for the gate: its memory, and
// the time until all watchers have received an event.
func BenchmarkTeamWatchers(b *testing.B) {
	for _, watchers := range []int{100, 1000} {
		b.Run(strconv.Itoa(watchers), func(b *testing.B) {
			t := newTeam(b, 1, false)
			w := t.worker(0)
			before := t.resident()
			heard := make(chan struct{}, watchers)
			for range watchers {
				t.watchRaw(heard)
			}
			all := func() {
				if _, err := w.call(b.Context(), false); err != nil {
					b.Fatal(err)
				}
				for range watchers {
					<-heard
				}
			}
			all()
			idle := t.resident()
			for b.Loop() {
				all()
			}
			b.ReportMetric(float64(idle-before)/float64(watchers), "bytes/watcher")
		})
	}
}

// watchRaw opens a stream of all events, and signals each finished call.
func (t *team) watchRaw(heard chan<- struct{}) {
	t.b.Helper()
	lines := t.stream(t.b.Context(), "/v1/events")
	go func() {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if strings.TrimSpace(line) == "event: "+string(umpire.EventCallFinished) {
				heard <- struct{}{}
			}
		}
	}()
}

// stream requests a stream of events from the first gate, and returns the body until ctx is done.
func (t *team) stream(ctx context.Context, path string) *bufio.Reader {
	t.b.Helper()
	h := t.homes[0]
	token, err := server.ReadToken(filepath.Join(h.dir, "state", "person.token"))
	if err != nil {
		t.b.Fatal(err)
	}
	c, err := net.Dial("unix", strings.TrimPrefix(h.where, "unix:"))
	if err != nil {
		t.b.Fatal(err)
	}
	context.AfterFunc(ctx, func() { c.Close() })
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, token); err != nil {
		t.b.Fatal(err)
	}
	lines := bufio.NewReader(c)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.b.Fatalf("watching: %q, %v", line, err)
	}
	return lines
}

// resident is how much memory the first gate takes.
func (t *team) resident() int64 {
	t.b.Helper()
	g, err := t.homes[0].ready(t.b.Context())
	if err != nil {
		t.b.Fatal(err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", g.pid))
	if err != nil {
		t.b.Fatal(err)
	}
	fields := strings.Fields(string(text))
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		t.b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
