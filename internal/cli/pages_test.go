package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

// TestLargeEventsArriveInPages: through a gate on each database, a page of events with large inputs stays small, and
// a client gets all of them, in their order and once.
func TestLargeEventsArriveInPages(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	for name, store := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(t.TempDir(), "umpire.db") },
		"postgres": func() string { return asURL(storetest.Postgres(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startReplica(t, store())
			asked := fillTimeline(t, g)
			pending, err := g.person.Pending(t.Context(), umpire.PendingQuery{})
			if err != nil || len(pending) != asked {
				t.Errorf("%d questions, want %d: %v", len(pending), asked, err)
			}
			for _, f := range []umpire.Filter{{}, {Limit: 1 << 20}, {Last: 1 << 20}} {
				events, err := g.person.Events(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				ends, bytes := map[umpire.SessionID]string{}, 0
				for i, e := range events {
					if e.PrevHash != ends[e.Session] || i > 0 && e.Seq <= events[i-1].Seq {
						t.Fatalf("%+v: after event %d comes %d", f, events[max(i-1, 0)].Seq, e.Seq)
					}
					ends[e.Session], bytes = e.Hash, bytes+len(e.Data)
				}
				if len(events) < 2*asked || bytes < 20<<20 {
					t.Errorf("%+v: %d events with %d bytes, want at least %d", f, len(events), bytes, 2*asked)
				}
			}
			for _, list := range []string{"TimelineService/List", "GateService/ListPending"} {
				if page := g.post(t, list, `{"paged":true}`); len(page) > 4<<20 || !strings.HasSuffix(page, `"more":true}`) {
					t.Errorf("%s: a page has %d bytes, and ends with %s", list, len(page), page[len(page)-20:])
				}
			}
		})
	}
}

// fillTimeline has many sessions write files of 16 KiB. A call is asked about, and half of the sessions end: it
// returns how many questions are left.
func fillTimeline(t *testing.T, g *replicaGate) (left int) {
	t.Helper()
	text := strings.Repeat("y", 16<<10)
	for i := range 20 {
		s := umpire.SessionID(fmt.Sprint("s", i))
		if _, err := g.agent.Sessions().Open(t.Context(), umpire.Opening{ID: s, Dir: t.TempDir(), Agent: "tester"}); err != nil {
			t.Fatal(err)
		}
		sub := umpire.Submission{Session: s, Batch: "b"}
		for k := range 80 {
			input, err := json.Marshal(map[string]string{"file_path": fmt.Sprint("f", k), "content": text})
			if err != nil {
				t.Fatal(err)
			}
			sub.Calls = append(sub.Calls, umpire.Call{ID: umpire.CallID(fmt.Sprint("c", k)), Tool: "Write", Input: input})
		}
		if _, err := g.agent.Submit(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		if left += len(sub.Calls); i%2 == 0 {
			left -= len(sub.Calls)
			if err := g.person.Sessions().End(t.Context(), s, "over"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return left
}

// post sends a request with a person's credential, and returns the answer as it came.
func (g *replicaGate) post(t *testing.T, procedure, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+g.address+"/umpire.v1."+procedure,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+g.tokens["person"])
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s: %v", procedure, response.Status, answer, err)
	}
	return string(answer)
}
