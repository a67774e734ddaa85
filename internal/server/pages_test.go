package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestListsHavePages: no request makes the gate hold all questions or sessions that there are, and our own
// client asks until it has them.
func TestListsHavePages(t *testing.T) {
	t.Parallel()
	const many = 1203
	each(t, func(t *testing.T, w *world) {
		w.gate.fill(many)
		c := w.client(t, credentials.Person)
		for list, method := range map[string]string{"pending": "GateService/ListPending", "sessions": "SessionService/List"} {
			for query, want := range map[string]int{`{}`: 500, `{"limit":9999}`: 500, `{"limit":3}`: 3} {
				var got map[string][]json.RawMessage
				err := json.Unmarshal(w.call(t, method, credentials.Person, query).body, &got)
				if err != nil || len(got[list]) != want {
					t.Errorf("%s %s: %d, want %d (%v)", list, query, len(got[list]), want, err)
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
			sessions, err := c.Sessions(t.Context(), umpire.SessionQuery{Limit: limit})
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

// TestListKeepsSessionsThatBecomeActive: one that moves to the front while pages are read is not left out.
func TestListKeepsSessionsThatBecomeActive(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.gate.fill(300)
		w.gate.moves = "s00000"
		all, err := w.client(t, credentials.Person).Sessions(t.Context(), umpire.SessionQuery{})
		if err != nil || len(all) != 300 || all[0].ID != "s00000" {
			t.Errorf("%d sessions, %v", len(all), err)
		}
	})
}
