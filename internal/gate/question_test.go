package gate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// TestQuestionNamesTheFolder: a card says where a call runs, if that is not where its session does. A tool's own
// claim does not count.
func TestQuestionNamesTheFolder(t *testing.T) {
	t.Parallel()
	d := newTestGate(t)
	for id, folder := range map[string]string{"here": d.project, "below": d.file("prod"), "unsaid": ""} {
		c := command(id, "npm install x")
		c.Dir, c.Extra = folder, map[string]json.RawMessage{umpire.ExtraDir: json.RawMessage(`"/claimed"`)}
		d.submit(d.session(umpire.Opening{}), "m"+id, c)
		card := view.New(d.pending(id), umpire.Session{Root: d.project, Dir: d.project}, "", nil, d.clock, false)
		if got := strings.Contains(card.Asker(), "folder:"); got != (id == "below") || strings.Contains(card.Whole(), "claimed") {
			t.Errorf("%s: %s", id, card.Whole())
		}
	}
}
