package console

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const (
	linkTime   = time.Minute
	signInTime = 12 * time.Hour
	maxSignIns = 64 // and links; the oldest are dropped
	tokenBytes = 32
	// A sign-in ends after this many wrong codes in a row, because a code is short.
	maxWrongCodes = 5
)

// A digest is stored in place of a token because it cannot be used to sign in.
type digest [sha256.Size]byte

func digestOf(token string) digest { return sha256.Sum256([]byte(token)) }

func newToken() string {
	var raw [tokenBytes]byte
	_, _ = rand.Read(raw[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// A link signs one browser in, once, at one origin.
type link struct {
	lang    string
	person  string // the name of the person it signs in, or "" for the user of this process
	origin  *origin
	expires time.Time
}

// A visitor describes the maker of a request: the origin, the process at the other end, as far as
// the system knows it, the browser's User-Agent, and the person's name, if a proxy knows it. A
// sign-in is valid only for its original visitor. Any program can copy the process's state and the
// User-Agent. They are hints, which only refuse: nothing lets a request in except its signature.
type visitor struct {
	origin               *origin
	process, agent, user string
}

// A signIn is a signed-in browser.
type signIn struct {
	id      string // identifies it; cannot be used to sign in
	visitor visitor
	key     *ecdsa.PublicKey // of the page at its origin; it signs each request
	numbers numbers          // of those requests
	secret  []byte           // proves the console to the page
	passkey string           // the id of the passkey used to sign in; "" if by a link
	person  string           // as in link
	text    *catalogue.Language
	expires time.Time
	wrong   atomic.Int32 // wrong codes since the last right one
}

// logins keeps the shown links and the sign-ins made with them.
type logins struct {
	now func() time.Time

	mu      sync.Mutex
	links   map[digest]link
	signIns map[string]*signIn // by id
}

func newLogins(now func() time.Time) *logins {
	return &logins{now: now, links: map[digest]link{}, signIns: map[string]*signIn{}}
}

// makeLink returns a token that signs one browser in. Its link starts to expire now.
func (l *logins) makeLink(made link) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	token := newToken()
	makeRoom(l.links, func(l link) time.Time { return l.expires })
	made.expires = l.now().Add(linkTime)
	l.links[digestOf(token)] = made
	return token
}

// redeemLink consumes a link's token and returns the link. It returns false if the token is
// unknown, used, expired or for another origin.
func (l *logins) redeemLink(token string, o *origin) (link, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	used, known := l.links[digestOf(token)]
	delete(l.links, digestOf(token))
	return used, known && !l.now().After(used.expires) && used.origin == o
}

// admit signs a browser in. It sets the sign-in's id, secret and expiry.
func (l *logins) admit(s *signIn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	makeRoom(l.signIns, func(s *signIn) time.Time { return s.expires })
	s.id, s.secret, s.expires = newToken(), []byte(newToken()), l.now().Add(signInTime)
	l.signIns[s.id] = s
}

// find returns the sign-in with an id, or nil if it has ended.
func (l *logins) find(id string, v visitor) *signIn {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.signIns[id]
	if s == nil || l.now().After(s.expires) || s.visitor != v || s.wrong.Load() >= maxWrongCodes {
		return nil
	}
	return s
}

// forget ends a sign-in.
func (l *logins) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.signIns, id)
}

// forgetPasskey ends the sign-ins of a passkey, and returns their ids.
func (l *logins) forgetPasskey(passkey string) (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, s := range l.signIns {
		if s.passkey == passkey {
			ids = append(ids, id)
			delete(l.signIns, id)
		}
	}
	return ids
}

// makeRoom removes the oldest entry from a full map.
func makeRoom[K comparable, T any](all map[K]T, expires func(T) time.Time) {
	if len(all) < maxSignIns {
		return
	}
	var oldest K
	var at time.Time
	for key, value := range all {
		if e := expires(value); at.IsZero() || e.Before(at) {
			oldest, at = key, e
		}
	}
	delete(all, oldest)
}
