package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/notice"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/webpush"
)

const (
	subscribePath   = "/notices/add"
	unsubscribePath = "/notices/remove"
)

// pushPages say which browsers get notices by Web Push.
type pushPages struct{ *Console }

// push returns what keeps the browsers that get notices, nil where no other machine reaches the console.
func (c *pushPages) push() *notice.Push {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.remote == nil {
		return nil
	}
	return c.remote.push
}

var errNoPush = umpire.Errorf("no notices are sent from here: %w", umpire.ErrState)

// subscribe has notices sent to the browser that asks.
func (c *pushPages) subscribe(w http.ResponseWriter, r *http.Request) {
	var in webpush.Subscription
	c.changeBrowsers(w, r, &in, func(push *notice.Push) error {
		return push.Add(&notice.Browser{Subscription: in, Added: c.now(), SignIn: signInOf(r).id})
	}, func(text *catalogue.Language) string {
		return fmt.Sprintf(text.Of("notices come here by %s"), view.Visible(in.Host()))
	})
}

// unsubscribe ends the notices to a browser. It is no more than a person can do there, so it needs no code.
func (c *pushPages) unsubscribe(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID string `json:"id"`
	}
	c.changeBrowsers(w, r, &in, func(push *notice.Push) error {
		return push.Remove(func(b *notice.Browser) bool { return browserID(b) == in.ID })
	}, func(text *catalogue.Language) string { return text.Of("no more notices go there") })
}

// changeBrowsers reads what a page sends, changes which browsers get notices, and answers what was done.
func (c *pushPages) changeBrowsers(
	w http.ResponseWriter, r *http.Request, in any,
	apply func(*notice.Push) error, done func(*catalogue.Language) string,
) {
	err := readJSON(w, r, in)
	push := c.push()
	switch {
	case err != nil:
	case push == nil:
		err = errNoPush
	default:
		err = apply(push)
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: done(textOf(r))})
}

// removeOf ends the notices to browsers whose sign-ins have ended.
func (c *pushPages) removeOf(signIns []string) error {
	push := c.push()
	if push == nil || len(signIns) == 0 {
		return nil
	}
	return push.Remove(func(b *notice.Browser) bool { return slices.Contains(signIns, b.SignIn) })
}

// browserID names a browser to a page, which does not get the address that takes its notices.
func browserID(b *notice.Browser) string {
	sum := sha256.Sum256([]byte(b.Endpoint))
	return hex.EncodeToString(sum[:8])
}

// drawBrowsers lists the browsers that get notices, and lets one on another machine get them.
func (c *pushPages) drawBrowsers(remote bool, text *catalogue.Language) part {
	push := c.push()
	if push == nil {
		return parts(nil)
	}
	key, err := push.PublicKey()
	var all []notice.Browser
	if err == nil {
		all, err = push.Browsers()
	}
	if err != nil {
		return paragraph("settled", view.Visible(text.Error(err)))
	}
	row := func(b notice.Browser) part {
		name := view.Visible(b.Host())
		return element("li", class("event"),
			element("div", class("line"), element("span", class("tool"), written(name))),
			paragraph("note", b.Added.Local().Format(time.DateOnly)),
			element("details", class("act"), drawSummary(text.Of("remove"), name),
				drawAct(unsubscribePath, map[string]any{"id": browserID(&b)},
					element("button", class("no"), written(text.Of("send no more notices there"))))))
	}
	return element("section", class("notices"),
		element("h2", written(text.Of("Notices"))),
		paragraph("note", text.Of("A notice says that a call waits. The push service of the browser's maker "+
			"delivers it and cannot read it; a tap opens the question.")),
		element("ol", class("lines"), each(all, row)),
		when(remote, drawAct(subscribePath, map[string]any{}, attr("data-push", key),
			attr("data-denied", text.Of("the browser does not let this page show notices")),
			element("button", class("go"), written(text.Of("Notify me on this phone"))))))
}
