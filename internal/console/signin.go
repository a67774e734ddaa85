package console

import (
	"fmt"
	"net/http"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console/notice"
	"github.com/umpirehq/umpire/internal/console/webcrypto"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/languages"
)

const (
	signInPath  = "/sign-in"
	signOutPath = "/sign-out"
)

var errLink = umpire.Errorf(
	"this link was already used or has expired: umpire console, or umpire console pair for a phone, shows another")

var errStale = umpire.Errorf("this sign-in was already used or has expired: try again")

// signInPages sign browsers in and out.
type signInPages struct{ *Console }

// showShell serves the shell, which is the same for every navigation. Its script requests the
// console by signed requests, and without a key explains how to sign in.
func (c *signInPages) showShell(w http.ResponseWriter, r *http.Request) {
	p := newPage(r, "umpire")
	how := p.text.Of("Type umpire console in a terminal, and open the link that it prints.")
	if p.remote {
		how = p.text.Of("Type umpire console pair in a terminal, and scan the code that it shows.")
	}
	p.sendDocument(w, element("body", class("signin"),
		element("main", flag("hidden"),
			element("h1", written("umpire")),
			element("p", attr("role", "status"), attr("id", "said"), attr("data-lost", textLost(p.text)),
				attr("data-keyless", p.text.Of("This browser cannot keep a key for this page, so you cannot sign in "+
					"here. Use a window that is not private, or another browser.")), written(how)),
			when(p.remote,
				element("p", flag("hidden"), button(class("go"), flag("data-proxy"))),
				element("p", flag("hidden"), button(class("go"), flag("data-passkey"),
					written(p.text.Of("Sign in with a passkey")))))),
		p.needsScript(),
	))
}

// An admission is the answer to a sign-in. The page keeps it with its private key.
type admission struct {
	ID       string `json:"id"`
	Instance string `json:"instance"`
	Secret   []byte `json:"secret"` // lets the page check that this console answers
}

// signIn registers the key of a browser, given the token of a link, an assertion of a passkey, or a proxy's word.
func (c *signInPages) signIn(w http.ResponseWriter, r *http.Request, v visitor) {
	var in struct {
		Key       []byte               `json:"key"`
		Token     string               `json:"token"`
		Challenge string               `json:"challenge"`
		Assertion *webcrypto.Assertion `json:"assertion"`
	}
	by := &signIn{visitor: v, text: textOf(r)}
	err := readJSON(w, r, &in)
	if err == nil {
		by.key, err = parseKey(in.Key) // before anything is consumed
	}
	if err != nil {
		sendRefusal(w, r, http.StatusBadRequest, err)
		return
	}
	switch {
	case in.Assertion != nil:
		if by.person, err = c.checkAssertion(v.origin, in.Challenge, in.Assertion); err != nil {
			sendRefusal(w, r, http.StatusForbidden, err)
			return
		}
		by.passkey = string(in.Assertion.ID)
	case in.Token == "" && v.user != "":
		by.person = v.user
	default:
		used, ok := c.logins.redeemLink(in.Token, v.origin)
		if !ok {
			sendRefusal(w, r, http.StatusForbidden, errLink)
			return
		}
		by.person, by.text = used.person, languages.Find(used.lang)
	}
	c.logins.admit(by)
	writeJSON(w, http.StatusOK, admission{ID: by.id, Instance: v.origin.instance, Secret: by.secret})
}

// offers are the ways to sign in without a link. They do not list passkeys: the device finds its own.
type offers struct {
	challenge

	Passkey bool   `json:"passkey"`         // at least one is registered
	Proxy   string `json:"proxy,omitempty"` // the button's text with the name from the proxy
}

// sendOffers answers a stranger with a challenge for a passkey, and the name that a proxy knows.
// That person signs in by a button, and not automatically, which would undo signing out at once.
func (c *signInPages) sendOffers(w http.ResponseWriter, r *http.Request, v visitor) {
	o, text := originOf(r), textOf(r)
	made := offers{challenge: challenge{Challenge: c.signInChallenges.add(o), Site: o.party().ID}}
	made.Passkey = len(c.passkeys.forHost(made.Site)) > 0
	if v.user != "" {
		made.Proxy = fmt.Sprintf(text.Of("Continue as %s"), view.Visible(v.user))
	}
	writeJSON(w, http.StatusOK, made)
}

// checkAssertion checks that an assertion is by a registered passkey and for an unused challenge of
// an origin, and consumes the challenge. It returns the name of the passkey's person. Passkeys sign
// in only at an origin for other machines.
func (c *signInPages) checkAssertion(o *origin, challenge string, a *webcrypto.Assertion) (person string, err error) {
	if !o.remote {
		return "", errThere
	}
	expires, ok := c.signInChallenges.expiry(challenge, o)
	if !ok {
		return "", errStale
	}
	if person, err = c.passkeys.verify(o.party(), a, challenge, c.now()); err != nil {
		return "", err
	}
	if !c.signInChallenges.use(challenge, expires) {
		return "", errStale
	}
	return person, nil
}

// signOut ends the browser's sign-in, and the notices to it. Its page names the address of its push
// service, which an earlier sign-in may have given. The sign-in ends even if the notices could not
// be ended; the answer then says so.
func (c *signInPages) signOut(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Endpoint string `json:"endpoint"`
	}
	_ = readJSON(w, r, &in) // sign out even if it is unreadable
	by := signInOf(r)
	c.logins.forget(by.id)
	said := outcome{State: stateIdle}
	if push := (&pushPages{c.Console}).push(); push != nil {
		mine := func(b *notice.Browser) bool { return b.SignIn == by.id || b.Endpoint == in.Endpoint }
		if err := push.Remove(mine); err != nil {
			said.Text = describeLeft(textOf(r).Of("signed out"), err, textOf(r))
		}
	}
	writeJSON(w, http.StatusOK, said)
}
