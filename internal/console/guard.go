package console

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"path"
	"runtime/debug"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/server"
	"github.com/umpirehq/umpire/internal/view"
)

// safeHeaders are sent with every answer, in addition to the origin's Content-Security-Policy.
var safeHeaders = map[string][]string{
	"X-Content-Type-Options":       {"nosniff"},
	"X-Frame-Options":              {"DENY"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Permissions-Policy":           {"camera=(), geolocation=(), microphone=()"},
	"Cache-Control":                {"no-store"},
}

// contentPolicy lets a page load and call only the console. If the page can be installed, it may
// also start the one service worker and read the manifest.
func (o *origin) contentPolicy() string {
	worker, manifest := "'none'", "'none'"
	if o.remote {
		worker, manifest = o.url+workerPath, o.url+manifestPath
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"worker-src " + worker + "; manifest-src " + manifest + "; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types umpire"
}

// hereOnly are the paths that only browsers on this machine may use.
var hereOnly = map[string]bool{codePath: true, undoPath: true, ruleCodePath: true, removeRulePath: true}

// remoteOnly are the paths for passkeys, which need a host name, and for features that need HTTPS.
var remoteOnly = map[string]bool{
	challengePath: true, passkeyCodePath: true, passkeyBeginPath: true, passkeyAddPath: true,
	subscribePath: true, noticeCodePath: true, noticeChallengePath: true,
}

type (
	originKey  struct{} // of a listener
	browserKey struct{} // of a connection
	signInKey  struct{} // of a request
)

// originOf returns the origin that a request was sent to.
func originOf(r *http.Request) *origin {
	o, _ := r.Context().Value(originKey{}).(*origin)
	return o
}

// signInOf returns the sign-in of a request, or nil.
func signInOf(r *http.Request) *signIn {
	s, _ := r.Context().Value(signInKey{}).(*signIn)
	return s
}

// ServeHTTP accepts a request if it names the right host, comes from one of the console's own
// pages, and is signed by the key of a signed-in browser. A navigation is never signed. It gets the
// same shell for every sender, and the shell's script requests the rest.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), safeHeaders)
	w.Header().Set("Content-Security-Policy", originOf(r).contentPolicy())
	defer c.answerPanic(w, r)
	_, isAsset := assetTypes[r.URL.Path]
	v, s, err := c.checkSender(w, r, isAsset)
	if s == nil {
		defer limitStranger(w, r, err != nil)()
	} else {
		r = r.WithContext(context.WithValue(r.Context(), signInKey{}, s))
	}
	strangers := &signInPages{c}
	switch {
	case err != nil:
		sendRefusal(w, r, statusOfSender(err), err)
	case r.URL.Path == signInPath && r.Method == http.MethodPost:
		strangers.signIn(w, r, v)
	case r.URL.Path == signInPath && originOf(r).remote:
		strangers.sendOffers(w, r, v)
	case isAsset:
		c.routes.ServeHTTP(w, r)
	case opensPage(r):
		strangers.showShell(w, r)
	case s != nil && r.URL.Path != path.Clean(r.URL.Path):
		sendRefusal(w, r, http.StatusNotFound, umpire.ErrNotFound) // not a redirect, which would repeat a signature
	case s == nil:
		sendRefusal(w, r, http.StatusUnauthorized, errSignIn)
	case originOf(r).remote && hereOnly[r.URL.Path]:
		sendRefusal(w, r, http.StatusForbidden, errHere)
	case !originOf(r).remote && remoteOnly[r.URL.Path]:
		sendRefusal(w, r, http.StatusForbidden, errThere)
	default:
		c.serveRoute(w, r)
	}
}

// opensPage reports whether a request is a navigation, rather than one from a page of the console.
func opensPage(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get(signatureHeader) == "" &&
		(r.URL.Path == "/" || r.Header.Get("Sec-Fetch-Dest") == "document")
}

// checkSender identifies the sender of a request, and returns the sign-in whose key signed it, or
// nil without a valid one. The files of the page are served to everyone.
func (c *Console) checkSender(w http.ResponseWriter, r *http.Request, isAsset bool) (visitor, *signIn, error) {
	if err := checkOrigin(r); err != nil || isAsset {
		return visitor{}, nil, err
	}
	v, err := c.identify(r)
	if err != nil {
		return v, nil, err
	}
	s, err := c.checkSignature(w, r, v)
	return v, s, err
}

// statusOfSender returns the HTTP status for an error about the sender.
func statusOfSender(err error) int {
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case errors.Is(err, errNumber):
		return http.StatusPreconditionFailed
	case tooLarge:
		return http.StatusBadRequest
	}
	return http.StatusForbidden
}

// Limits on requests of browsers that are not signed in.
const (
	maxStrangers = 8 // with a body at a time
	strangerTime = 2 * time.Second
)

// limitStranger keeps a request without a sign-in from holding its connection: the client must read
// its answer, and few such requests may send a body at a time, and only for a short while; a
// refused one may not send any. end ends the request.
func limitStranger(w http.ResponseWriter, r *http.Request, refused bool) (end func()) {
	control, strangers := http.NewResponseController(w), originOf(r).strangers
	_ = control.SetWriteDeadline(time.Now().Add(headerTimeout)) // a writer without deadlines has no connection
	switch {
	case r.ContentLength == 0:
		return func() {}
	case refused:
		strangers = nil // do not wait for the body
	}
	select {
	case strangers <- struct{}{}:
	default:
		_ = control.SetReadDeadline(time.Now())
		return func() {}
	}
	_ = control.SetReadDeadline(time.Now().Add(strangerTime))
	return func() {
		_, _ = io.CopyN(io.Discard, r.Body, maxBody) // only then may the sender read the answer
		<-strangers
	}
}

var (
	errSignIn = umpire.Errorf("sign in first: umpire console, or umpire console pair for a phone, shows a link")
	errOther  = umpire.Errorf("the request is for another host")
	errHere   = umpire.Errorf("you can do this only on the gate's own machine")
	errThere  = umpire.Errorf("you can do this only at the console's address for other machines")
	errSite   = umpire.Errorf("the request comes from another site")
)

// checkOrigin rejects a request for another host, as after DNS rebinding, and one from a page of
// another origin. A request that changes something must name its origin.
func checkOrigin(r *http.Request) error {
	own := originOf(r)
	if r.Host != own.host {
		return errOther
	}
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case site != "" && site != "same-origin" && (site != "none" || !reads):
		return errSite
	case origin != "" && origin != own.url, origin == "" && !reads:
		return errSite
	}
	return nil
}

// identify determines the maker of a request. On remote origins it relies on the proxy.
func (c *Console) identify(r *http.Request) (visitor, error) {
	v := visitor{origin: originOf(r), agent: r.UserAgent()}
	if v.origin.remote {
		var err error
		v.user, err = v.origin.proxy.identify(r.Header)
		return v, err
	}
	browser, ok := r.Context().Value(browserKey{}).(*server.Browser)
	if !ok {
		return visitor{}, errSignIn
	}
	var err error
	v.process, err = browser.Identify(r.Context(), c.config.Gate.Sessions())
	return v, err
}

func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// A refusal is the answer to a failed request of a page.
type refusal struct {
	Error string `json:"error"`
	// Standing describes the earlier answer, if this one came too late.
	Standing string `json:"standing,omitempty"`
}

// sendRefusal answers a failed request: with an error page if it asked for a page, or with JSON.
func sendRefusal(w http.ResponseWriter, r *http.Request, status int, err error) {
	text := textOf(r)
	said := refusal{Error: view.Visible(text.Error(err))}
	if r.Method == http.MethodGet && signInOf(r) != nil && r.URL.Path != eventsPath {
		showProblem(w, r, status, said.Error)
		return
	}
	if late, ok := errors.AsType[*umpire.ResolvedError](err); ok {
		said.Standing = view.DescribeStanding(late.Standing, text)
	}
	writeJSON(w, status, said)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the browser may have gone
}

// statusOf returns the HTTP status for an error of the gate.
func statusOf(err error) int {
	switch {
	case errors.Is(err, umpire.ErrResolved), errors.Is(err, umpire.ErrChanged), errors.Is(err, umpire.ErrState):
		return http.StatusConflict
	case errors.Is(err, umpire.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, umpire.ErrInvalid):
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// answerPanic answers with an error after a panic. The details go only to the log.
func (c *Console) answerPanic(w http.ResponseWriter, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	c.config.Log.Error("the console panicked", "path", r.URL.Path, "fault", fault, "stack", string(debug.Stack()))
	sendRefusal(w, r, http.StatusInternalServerError, umpire.Errorf("internal error"))
}
