package server_test

import (
	"encoding/json"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestTimelineIsListedInPages checks that no request makes the gate hold all events, and
// that our own client requests all pages.
func TestTimelineIsListedInPages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const events = 5600
		for range events {
			w.gate.tell(umpire.Event{Session: "s1", Project: "p1", Kind: umpire.EventSessionOpened})
		}
		for query, want := range map[string]int{
			`{"session_id":"s1"}`: 5000, `{"session_id":"s1","limit":9999}`: 5000, `{"session_id":"s1","limit":3}`: 3,
		} {
			var got struct {
				Events []json.RawMessage `json:"events"`
			}
			err := json.Unmarshal(w.call(t, "TimelineService/List", credentials.Agent, query).body, &got)
			if err != nil || len(got.Events) != want {
				t.Errorf("%s: %d events, want %d (%v)", query, len(got.Events), want, err)
			}
		}
		for limit, want := range map[int]int{0: events, 3: 3, 1000: 1000, 1001: 1001, 2 * events: events} {
			all, err := w.client(t, credentials.Agent).Events(t.Context(), umpire.Filter{Session: "s1", Limit: limit})
			if err != nil || len(all) != want {
				t.Errorf("limit %d: %d events, want %d (%v)", limit, len(all), want, err)
			}
			for i := 1; i < len(all); i++ {
				if all[i].Seq <= all[i-1].Seq {
					t.Fatalf("limit %d: event %d comes after event %d", limit, all[i].Seq, all[i-1].Seq)
				}
			}
		}
	})
}
