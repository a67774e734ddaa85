package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console/notice"
	"github.com/umpirehq/umpire/internal/console/webcrypto"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const (
	subscribePath       = "/notices/add"
	noticeCodePath      = "/notices/code"
	noticeChallengePath = "/notices/challenge"
	unsubscribePath     = "/notices/remove"
)

// pushPages choose the browsers that get notices by Web Push.
type pushPages struct{ *Console }

// push returns the store of browsers that get notices, or nil if no other machine reaches the console.
func (c *pushPages) push() *notice.Push {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.remote == nil {
		return nil
	}
	return c.remote.push
}

var errNoPush = umpire.Errorf("no notices are sent from here: %w", umpire.ErrState)

// newNotices is the use of a code, or with an endpoint of a challenge, to send notices to a browser.
func newNotices(by *signIn, endpoint string) codeUse {
	return codeUse{by: by, shown: "notices " + endpoint}
}

// sendNoticeCode shows the code for notices on the terminals that follow the console.
func (c *pushPages) sendNoticeCode(w http.ResponseWriter, r *http.Request) {
	by := signInOf(r)
	c.showCode(w, r, newNotices(by, ""), by.text.Of("send notices to a browser"))
}

// sendNoticeChallenge answers with the challenge for notices to an endpoint.
func (c *pushPages) sendNoticeChallenge(w http.ResponseWriter, r *http.Request) {
	var in webcrypto.Subscription
	if err := readJSON(w, r, &in); err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	passkeys := &passkeyPages{c.Console}
	writeJSON(w, http.StatusOK, passkeys.challengeFor(originOf(r), newNotices(signInOf(r), in.Endpoint)))
}

// A wanted is a browser's request for notices, with the proof that a person wants them.
type wanted struct {
	webcrypto.Subscription

	Code      string               `json:"code"`
	Assertion *webcrypto.Assertion `json:"assertion"`
}

// subscribe starts notices to the requesting browser.
func (c *pushPages) subscribe(w http.ResponseWriter, r *http.Request) {
	var in wanted
	err := readJSON(w, r, &in)
	push, by := c.push(), signInOf(r)
	switch {
	case err != nil:
	case push == nil:
		err = errNoPush
	default:
		err = in.Check()
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	if err := c.checkWanted(r, &in); err != nil {
		sendRefusal(w, r, http.StatusForbidden, err)
		return
	}
	err = push.Add(&notice.Browser{Subscription: in.Subscription, Added: c.now(), SignIn: by.id, Person: by.person})
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	text := textOf(r)
	said := fmt.Sprintf(text.Of("this browser gets notices through %s"), view.Visible(in.Host()))
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: said})
}

// checkWanted checks the proof. Notices outlast the sign-in, so a cookie alone is too little: they
// take a passkey, or a code from a terminal for a person without passkeys.
func (c *pushPages) checkWanted(r *http.Request, in *wanted) error {
	by := signInOf(r)
	switch {
	case len(c.passkeys.of(originOf(r).party().ID, by.person)) > 0:
		return c.checkProof(r, newNotices(by, in.Endpoint), in.Assertion)
	case !c.codes.redeem(newNotices(by, ""), strings.TrimSpace(in.Code)):
		return errCode
	}
	return nil
}

// unsubscribe ends the notices to a browser. It needs no code, because the person could also do it in the browser.
func (c *pushPages) unsubscribe(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID string `json:"id"`
	}
	err := readJSON(w, r, &in)
	push := c.push()
	switch {
	case err != nil:
	case push == nil:
		err = errNoPush
	default:
		err = push.Remove(func(b *notice.Browser) bool { return b.ID() == in.ID })
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	writeJSON(w, http.StatusOK, outcome{State: stateIdle, Text: textOf(r).Of("it no longer gets notices")})
}

// removeOf ends the notices to browsers whose sign-ins have ended.
func (c *pushPages) removeOf(signIns []string) error {
	push := c.push()
	if push == nil || len(signIns) == 0 {
		return nil
	}
	return push.Remove(func(b *notice.Browser) bool { return slices.Contains(signIns, b.SignIn) })
}

// describeLeft reports that something is done, but notices still go out.
func describeLeft(done string, err error, text *catalogue.Language) string {
	left := fmt.Sprintf(text.Of("notices could not be turned off: %s"), view.Visible(text.Error(err)))
	return view.Joined(done, "; ", left)
}

// drawBrowsers lists the browsers that get notices, and offers notices to one on another machine.
func (c *pushPages) drawBrowsers(o *origin, by *signIn, text *catalogue.Language) part {
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
		name := view.Visible(b.Name())
		return element("li", class("event"),
			element("div", class("line"), element("span", class("tool"), written(name))),
			paragraph("note", joinNotes(b.Person, b.Added.Local().Format(time.DateOnly))),
			element("details", class("act"), drawSummary(text.Of("remove"), name),
				drawAct(unsubscribePath, map[string]any{"id": b.ID()},
					element("button", class("no"), written(text.Of("stop notices to it"))))))
	}
	return element("section", class("notices"),
		element("h2", written(text.Of("Notices"))),
		paragraph("note", text.Of("A notice tells you that a call waits; tap it to open the question. The push "+
			"service of the browser's maker delivers it and cannot read it.")),
		element("ol", class("lines"), each(all, row)),
		when(o.remote, c.drawSubscribe(o, key, by, text)))
}

// drawSubscribe offers notices to the browser that shows the page, with the required proof.
func (c *pushPages) drawSubscribe(o *origin, key string, by *signIn, text *catalogue.Language) part {
	does := text.Of("Notify me on this phone")
	form := func(proof ...part) part {
		return drawAct(subscribePath, map[string]any{}, attr("data-push", key),
			attr("data-denied", text.Of("the browser does not allow notices from this page")), parts(proof),
			element("button", class("go"), written(does)))
	}
	if len(c.passkeys.of(o.party().ID, by.person)) > 0 {
		return form(attr("data-challenge", noticeChallengePath))
	}
	return element("details", class("act"), drawSummary(does, ""),
		form(attr("data-code", noticeCodePath), drawCode(text)))
}
