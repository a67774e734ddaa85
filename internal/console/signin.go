package console

import (
	"fmt"
	"net/http"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/notice"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/internal/webauthn"
)

const (
	signInPath  = "/sign-in"
	signOutPath = "/sign-out"
)

var errLink = umpire.Errorf(
	"this link was used or is too old: umpire console, or umpire pair for a phone, shows another")

var errStale = umpire.Errorf("this sign-in was used or is too old: try again")

// signInPages sign browsers in and out.
type signInPages struct{ *Console }

// showSignIn says how to sign in, and swaps the token of a link. Whom a proxy knows signs in by pressing a
// button, since whoever signs out is not to be signed in again.
func (c *signInPages) showSignIn(w http.ResponseWriter, r *http.Request, v visitor) {
	p := newPage(r, "umpire")
	byPasskey := p.remote && len(c.passkeys.forHost(originOf(r).party().ID)) > 0
	p.script = "/assets/signin.js"
	p.sendDocument(w, element("body", class("signin"), element("main",
		element("h1", written("umpire")),
		element("p", attr("role", "status"), attr("id", "said"),
			when(!p.remote,
				written(p.text.Of("Type umpire console in a terminal, and open the link that it prints."))),
			when(p.remote, written(p.text.Of("Type umpire pair in a terminal, and scan the code that it shows.")))),
		when(v.user != "", element("p", button(class("go"), flag("data-proxy"),
			written(fmt.Sprintf(p.text.Of("Continue as %s"), view.Visible(v.user)))))),
		when(byPasskey, element("p", button(class("go"), flag("data-passkey"),
			written(p.text.Of("Sign in with a passkey"))))),
		p.needsScript(),
	)))
}

// signIn exchanges the token of a link, an assertion of a passkey, or the word of a proxy for a cookie.
func (c *signInPages) signIn(w http.ResponseWriter, r *http.Request, v visitor) {
	var in struct {
		Token     string              `json:"token"`
		Challenge string              `json:"challenge"`
		Assertion *webauthn.Assertion `json:"assertion"`
	}
	if err := readJSON(w, r, &in); err != nil {
		sendRefusal(w, r, http.StatusBadRequest, err)
		return
	}
	by := &signIn{visitor: v, text: textOf(r)}
	switch {
	case in.Assertion != nil:
		var err error
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
		by.person, by.text = used.person, catalogue.Find(used.lang)
	}
	http.SetCookie(w, v.origin.setCookie(c.logins.admit(by)))
	w.WriteHeader(http.StatusNoContent)
}

// sendChallenge answers a stranger with a challenge for a passkey. It does not say which passkeys
// there are: the device finds its own.
func (c *signInPages) sendChallenge(w http.ResponseWriter, r *http.Request) {
	o := originOf(r)
	writeJSON(w, http.StatusOK, challenge{Challenge: c.signInChallenges.add(o), Site: o.party().ID})
}

// checkAssertion checks that an assertion is by a registered passkey and for an unused challenge of an origin,
// and uses the challenge up. It returns the name of the passkey's person. Passkeys sign in only where
// other machines reach the console.
func (c *signInPages) checkAssertion(o *origin, challenge string, a *webauthn.Assertion) (person string, err error) {
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

// setCookie makes the cookie of a sign-in. On this machine the browser forgets it when it ends; a phone
// ends its browser whenever it likes.
func (o *origin) setCookie(value string) *http.Cookie {
	cookie := &http.Cookie{
		Name: o.cookie, Value: value, Path: "/", Secure: o.remote,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if o.remote {
		cookie.MaxAge = int(signInTime.Seconds())
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	return cookie
}

// signOut ends the sign-in of the browser that asks, and the notices to it. Its page names the address of
// its push service, which an earlier sign-in may have given. The sign-in is over whatever becomes of the notices;
// the answer says if they could not be ended.
func (c *signInPages) signOut(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Endpoint string `json:"endpoint"`
	}
	_ = readJSON(w, r, &in) // it ends all the same
	o, by := originOf(r), signInOf(r)
	if cookie, err := r.Cookie(o.cookie); err == nil {
		c.logins.forget(cookie.Value)
	}
	http.SetCookie(w, o.setCookie(""))
	said := outcome{State: stateIdle}
	if push := (&pushPages{c.Console}).push(); push != nil {
		mine := func(b *notice.Browser) bool { return b.SignIn == by.id || b.Endpoint == in.Endpoint }
		if err := push.Remove(mine); err != nil {
			said.Text = describeLeft(by.text.Of("signed out"), err, by.text)
		}
	}
	writeJSON(w, http.StatusOK, said)
}
