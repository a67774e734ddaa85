package console

import (
	"net/http"

	"github.com/umpirehq/umpire"
)

const (
	signInPath  = "/sign-in"
	signOutPath = "/sign-out"
)

var errLink = umpire.Errorf(
	"this link was used or is too old: umpire console, or umpire pair for a phone, shows another")

// signIn exchanges the token of a link for a cookie.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request, v visitor) {
	var in struct {
		Token string `json:"token"`
	}
	if err := readJSON(w, r, &in); err != nil {
		sendRefusal(w, r, http.StatusBadRequest, err)
		return
	}
	cookie := c.logins.redeemLink(in.Token, v)
	if cookie == "" {
		sendRefusal(w, r, http.StatusForbidden, errLink)
		return
	}
	http.SetCookie(w, v.origin.setCookie(cookie))
	w.WriteHeader(http.StatusNoContent)
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

// signOut ends the sign-in of the browser that asks.
func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	o := originOf(r)
	if cookie, err := r.Cookie(o.cookie); err == nil {
		c.logins.forget(cookie.Value)
	}
	http.SetCookie(w, o.setCookie(""))
	w.WriteHeader(http.StatusNoContent)
}
