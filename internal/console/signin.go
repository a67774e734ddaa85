package console

import (
	"net/http"

	"github.com/umpirehq/umpire"
)

const (
	signInPath  = "/sign-in"
	signOutPath = "/sign-out"
)

var errLink = umpire.Errorf("this link was used or is too old: umpire console prints another")

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
	http.SetCookie(w, c.cookie(cookie, 0))
	w.WriteHeader(http.StatusNoContent)
}

// cookie makes the cookie of a sign-in, which the browser forgets when it ends. The console
// has no certificate, and some browsers take the prefix __Host- only with one; the name holds
// the port instead.
func (c *Console) cookie(value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: c.cookieName(), Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// signOut ends the sign-in of the browser that asks.
func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(c.cookieName()); err == nil {
		c.logins.forget(cookie.Value)
	}
	http.SetCookie(w, c.cookie("", -1))
	w.WriteHeader(http.StatusNoContent)
}
