package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/sample"
)

// TestListsHavePages checks that no request makes the gate hold all questions or
// sessions, and that our own client requests all pages.
func TestListsHavePages(t *testing.T) {
	t.Parallel()
	const many = 1203
	each(t, func(t *testing.T, w *world) {
		w.gate.fill(many)
		c := w.client(t, credentials.Person)
		for list, method := range map[string]string{"pending": "GateService/ListPending", "sessions": "SessionService/List"} {
			for query, want := range map[string]int{`{}`: 500, `{"limit":9999}`: 500, `{"limit":3}`: 3} {
				if got := readPage(t, w.call(t, method, credentials.Person, query)); len(got.entries(list)) != want || !got.More {
					t.Errorf("%s %s: %d, want %d and more", list, query, len(got.entries(list)), want)
				}
			}
			if got := w.call(t, method, credentials.Person, `{"limit":-1}`); got.status != 400 {
				t.Errorf("%s: %d %s", list, got.status, got.body)
			}
		}
		for limit, want := range map[int]int{0: many, 3: 3, 200: 200, 201: 201, 2 * many: many} {
			var ids []string
			pending, err := c.Pending(t.Context(), umpire.PendingQuery{Limit: limit})
			for i := range pending {
				ids = append(ids, string(pending[i].Request))
			}
			if len(ids) != want || !slices.IsSorted(ids) || err != nil {
				t.Errorf("limit %d: %d questions, want %d: %v", limit, len(ids), want, err)
			}
			sessions, err := c.Sessions().List(t.Context(), umpire.SessionQuery{Limit: limit})
			for i := range sessions {
				if id := fmt.Sprintf("s%05d", many-1-i); string(sessions[i].ID) != id {
					t.Fatalf("limit %d: session %d is %s, want %s", limit, i, sessions[i].ID, id)
				}
			}
			if len(sessions) != want || err != nil {
				t.Errorf("limit %d: %d sessions, want %d: %v", limit, len(sessions), want, err)
			}
		}
	})
}

// TestListKeepsSessionsThatBecomeActive covers a session that moves to the front while pages are read.
func TestListKeepsSessionsThatBecomeActive(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.gate.fill(300)
		w.gate.moves = "s00000"
		all, err := w.client(t, credentials.Person).Sessions().List(t.Context(), umpire.SessionQuery{})
		if err != nil || len(all) != 300 || all[0].ID != "s00000" {
			t.Errorf("%d sessions, %v", len(all), err)
		}
	})
}

// A page is the response of any list.
type page struct {
	Events   []json.RawMessage `json:"events"`
	Pending  []json.RawMessage `json:"pending"`
	Sessions []json.RawMessage `json:"sessions"`
	More     bool              `json:"more"`
	size     int
}

func (p page) entries(list string) []json.RawMessage {
	return map[string][]json.RawMessage{"events": p.Events, "pending": p.Pending, "sessions": p.Sessions}[list]
}

func readPage(t *testing.T, a answer) page {
	t.Helper()
	p := page{size: len(a.body)}
	if err := json.Unmarshal(a.body, &p); err != nil || a.status != 200 {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return p
}

// TestPagesAreBoundedByBytes checks that large entries make short pages, and that a
// client that would mistake a short page for the last one gets an error.
func TestPagesAreBoundedByBytes(t *testing.T) {
	t.Parallel()
	const many, large, most = 200, 100 << 10, 3<<20 + 4096
	each(t, func(t *testing.T, w *world) {
		w.gate.fill(many)
		text := strings.Repeat("x", large)
		var want []string
		for i := range many {
			w.gate.pending[i].Tool, w.gate.sessions[i].Agent = text, text
			w.gate.tell(umpire.Event{Session: "s1", Tool: text})
			want = append(want, fmt.Sprint(3*i+3))
		}
		for list, method := range map[string]string{
			"events": "TimelineService/List", "pending": "GateService/ListPending", "sessions": "SessionService/List",
		} {
			got := readPage(t, w.call(t, method, credentials.Person, `{"paged":true}`))
			if n := len(got.entries(list)); n < 25 || got.size > most || !got.More {
				t.Errorf("%s: a page of %d entries and %d bytes, more: %v", list, n, got.size, got.More)
			}
			if got := w.call(t, method, credentials.Person, `{"limit":190}`); got.status != 429 || got.fields["reason_code"] != "limit" {
				t.Errorf("%s by count alone: %d %s", list, got.status, got.body)
			}
			got = readPage(t, w.call(t, method, credentials.Person, `{"limit":100}`))
			if len(got.entries(list)) != 100 || !got.More {
				t.Errorf("%s: %d entries, want 100 and more", list, len(got.entries(list)))
			}
		}
		got := readPage(t, w.call(t, "TimelineService/List", credentials.Person, `{"last":999,"before":300,"paged":true}`))
		if n := len(got.Events); n < 25 || got.size > most || !got.More || !strings.HasPrefix(string(got.Events[n-1]), `{"seq":297,`) {
			t.Errorf("the last: a page of %d events and %d bytes, more: %v", n, got.size, got.More)
		}
		c := w.client(t, credentials.Person)
		for _, row := range []struct {
			filter umpire.Filter
			want   []string
		}{{umpire.Filter{}, want}, {umpire.Filter{Last: 70}, want[130:]}, {umpire.Filter{Limit: 70}, want[:70]}} {
			events, err := c.Events(t.Context(), row.filter)
			var seqs []string
			for i := range events {
				seqs = append(seqs, fmt.Sprint(events[i].Seq))
			}
			if err != nil || !slices.Equal(seqs, row.want) {
				t.Errorf("%+v: %v, want %v: %v", row.filter, seqs, row.want, err)
			}
		}
		pending, err := c.Pending(t.Context(), umpire.PendingQuery{})
		if err != nil || len(pending) != many || pending[many-1].Request != w.gate.pending[many-1].Request {
			t.Errorf("%d questions, want %d: %v", len(pending), many, err)
		}
		sessions, err := c.Sessions().List(t.Context(), umpire.SessionQuery{})
		if err != nil || len(sessions) != many || sessions[many-1].ID != "s00000" {
			t.Errorf("%d sessions, want %d: %v", len(sessions), many, err)
		}
	})
}

// TestAnEntryLargerThanAPage checks that it is a page by itself.
func TestAnEntryLargerThanAPage(t *testing.T) {
	t.Parallel()
	sample.OnlyFull(t)
	each(t, func(t *testing.T, w *world) {
		for range 3 {
			w.gate.tell(umpire.Event{Tool: strings.Repeat("x", 4<<20)})
		}
		events, err := w.client(t, credentials.Person).Events(t.Context(), umpire.Filter{})
		if err != nil || len(events) != 3 {
			t.Errorf("%d events, want 3: %v", len(events), err)
		}
	})
}
