package hosts

import (
	"context"
	"time"

	"github.com/umpirehq/umpire/internal/host"
)

// slowCanary is when people begin to feel the hook at every call.
const slowCanary = 500 * time.Millisecond

// canary starts the registered hook as the host would.
func (d *doctor) canary(ctx context.Context, h *host.Host, r registered) {
	if d.observes {
		return
	}
	again := "umpire setup " + h.Name
	canary := newCanary(ctx, d.App, h)
	defer func() {
		if err := canary.End(ctx); err != nil {
			d.warn("canary", "umpire sessions", "the canaries' session could not be ended: %v", err)
		}
	}()
	denied := canary.Ask(ctx, r.Registration, "rm -rf /")
	switch {
	case denied.Err != nil:
		d.fail("canary", again, "%s: the hook does not answer: %v", r.where(), denied.Err)
		return
	case !denied.Denied:
		d.fail("canary", again, "%s: `rm -rf /` is not denied: %s", r.where(), denied)
		return
	}
	d.ok("canary", "`rm -rf /` is denied (%s)", roundMilli(denied.Took))
	allowed := canary.Ask(ctx, r.Registration, "ls")
	passes := allowed.Decision == "allow" || allowed.Decision == "" && !h.SaysAllow()
	switch {
	case allowed.Err != nil:
		d.fail("canary", again, "%s: the hook does not answer: %v", r.where(), allowed.Err)
	case passes && allowed.Took > slowCanary:
		d.warn("canary", "umpire status", "`ls` is allowed, but slowly (%s)", roundMilli(allowed.Took))
	case passes:
		d.ok("canary", "`ls` is allowed (%s)", roundMilli(allowed.Took))
	case d.strict(ctx, h, canary):
		d.ok("canary", "`ls`: %s, because of the mode or a rule (%s)", allowed, roundMilli(allowed.Took))
	default:
		d.fail("canary", "umpire check ls", "%s: `ls` is not allowed: %s", r.where(), allowed)
	}
}

// strict reports whether this umpire too would not let `ls` pass.
func (d *doctor) strict(ctx context.Context, h *host.Host, c *canary) bool {
	out, err := newResponder(d.App).Answer(ctx, host.Question{
		Agent: h.Name, Payload: c.Payload("ls"), Dir: c.Folder(), Deadline: time.Minute,
	})
	return err == nil && h.DecisionOf(out.Stdout, out.Exit) != "allow"
}
