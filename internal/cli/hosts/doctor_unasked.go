package hosts

import (
	"context"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/view"
)

const (
	// unaskedEvents is how many events of the timeline are looked through at most.
	unaskedEvents = 5000
	// unaskedFor is how long a call counts. After that, a fixed fault is forgotten.
	unaskedFor = 7 * 24 * time.Hour
)

// readTimeline reads the latest events, in which doctor finds the calls that agents ran unasked.
func (d *doctor) readTimeline(ctx context.Context) {
	gate, done, err := d.FindGate(ctx)
	if err == nil && gate == nil {
		return
	}
	if err == nil {
		defer done()
		d.timeline, err = gate.Events(ctx, umpire.Filter{Last: unaskedEvents})
	}
	if err != nil {
		d.warn("timeline", "umpire timeline",
			"cannot tell which calls ran unasked, because the timeline cannot be read: %v", err)
	}
}

// unasked reports an agent that told of calls after they ran and that did not ask about them before,
// or ran them although they were not allowed.
func (d *doctor) unasked(h *host.Host) {
	const remedy = "umpire timeline --all-projects --detail"
	if count, last := d.count(h, umpire.EventCallRanRefused); last != nil {
		d.fail(h.Name, remedy,
			"%s ran %s in the last seven days that umpire had not allowed, the last at %s (%s): it did not wait "+
				"for its hook's answer, or ignored it", h.Title,
			count, last.At.Local().Format(time.DateTime), names{view.Refusal(last)})
	}
	if count, last := d.count(h, umpire.EventCallRanUnasked); last != nil {
		d.warn(h.Name, remedy,
			"%s ran %s in the last seven days without asking umpire, the last at %s: its hook was off or could not "+
				"start", h.Title,
			count, last.At.Local().Format(time.DateTime))
	}
}

// count counts the events of a kind about an agent's calls, and returns the last one, or nil.
func (d *doctor) count(h *host.Host, kind umpire.EventKind) (count app.Count, last *umpire.Event) {
	n := 0
	for i := range d.timeline {
		e := &d.timeline[i]
		agent, _, _ := strings.Cut(e.Agent, "/")
		if e.Kind == kind && agent == h.Name && d.Now().Sub(e.At) < unaskedFor {
			n, last = n+1, e
		}
	}
	return app.NewCount(n, "%d call", "%d calls"), last
}
