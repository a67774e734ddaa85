package server_test

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/languages"
)

// TestFailuresAreTranslatedByTheClient checks that our own client gets errors as data,
// and all others only the English text.
func TestFailuresAreTranslatedByTheClient(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		_, err := w.client(t, credentials.Person).Resolve(t.Context(), umpire.Answer{Request: "r1", Choice: "maybe"})
		if err == nil || !strings.Contains(err.Error(), "want approve, deny, cancel or try") {
			t.Fatalf("the answer maybe: %v", err)
		}
		if got := languages.Find("zh").Error(err); !strings.Contains(got, "应为 approve、deny、cancel 或 try") {
			t.Errorf("%v is %q in Chinese", err, got)
		}
		if other := w.call(t, "GateService/Resolve", credentials.Person, `{"request_id":"r1","answer":"maybe"}`); other.fields["phrase"] != nil {
			t.Errorf("another client gets %s", other.body)
		}
	})
}
