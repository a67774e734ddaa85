package egress

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
)

// An activeLease is a lease in one run. Its placeholder means nothing outside of it.
type activeLease struct {
	Lease

	placeholder string
}

// activate makes a placeholder for each lease.
func activate(leases []Lease) (active []activeLease) {
	for _, s := range leases {
		active = append(active, activeLease{s, "umpire_" + rand.Text()})
	}
	return active
}

// Placeholders returns the variables of the command that stand for leased secrets.
func (p *Proxy) Placeholders() (all []string) {
	for _, s := range p.leases {
		all = append(all, s.Name+"="+s.placeholder)
	}
	return all
}

// entryOf returns the entry that covers a destination. A lease of its host goes before the list, because its requests
// are read.
func (p *Proxy) entryOf(d Destination) (Entry, bool) {
	for _, s := range p.leases {
		if s.Host == d.Host && d.Port == portHTTPS {
			return Entry{Text: leaseText + s.Name, Quota: DefaultQuota, leased: true}, true
		}
	}
	return p.List.Finds(d)
}

// leaseText begins the text of an entry for a leased host.
const leaseText = "lease "

// An inspector reads the requests of a link for placeholders. The zero value knows no lease.
type inspector struct {
	leases []activeLease // of the run
	listed func() Entry  // the entry of the list that permits the destination, or a zero one

	uses      []umpire.SecretUse
	misplaced string // the name of a lease whose placeholder was found elsewhere
	hidden    []word // what answers must not show, and the text instead
}

// inspectorOf returns the inspector for the requests to a destination.
func (p *Proxy) inspectorOf(ctx context.Context, d Destination) inspector {
	return inspector{leases: p.leases, listed: sync.OnceValue(func() Entry {
		e, found := p.List.Finds(d)
		if !found || p.judge(ctx, d, e, 0) != umpire.Allow {
			return Entry{}
		}
		return e
	})}
}

// refusesSecret refuses a request in clear text that has a placeholder, before anything leaves for its destination.
func (p *Proxy) refusesSecret(c *client, d Destination, h *head) bool {
	name := placeholderIn(h, p.leases)
	if name == "" {
		return false
	}
	p.record(Connection{
		Destination: d, Began: c.began, Lasted: time.Since(c.began), Reason: MisplacedSecret, Misplaced: name,
	})
	c.tellRefusal(d, MisplacedSecret)
	return true
}

// admitRequest judges a request to a path, and puts leased secrets into its head.
func (l *link) admitRequest(h *head, path string) Reason {
	covered := false
	if l.entry.leased {
		usable := l.secrets.usable(l.to, h, path)
		if !l.secrets.place(h, usable) {
			return BadRequest
		}
		covered = len(usable) > 0
	}
	if l.secrets.misplaced = placeholderIn(h, l.secrets.leases); l.secrets.misplaced != "" {
		return MisplacedSecret
	}
	if len(h.secrets) > 0 {
		h.askPlainly()
		path, _, _ = strings.Cut(path, "?")
		l.secrets.note(h.secrets, h.method+" "+path[:min(len(path), maxUsePath)])
	}
	if covered {
		return 0
	}
	entry := l.entry
	if entry.leased {
		entry = l.secrets.listed()
	}
	switch {
	case entry.Text == "" && l.entry.leased:
		return NotLeased
	case entry.fetches() && !h.mayFetch():
		return NotFetching
	}
	return 0
}

// note records that a request carries secrets.
func (i *inspector) note(names []string, request string) {
	for _, name := range names {
		i.uses = addUse(i.uses, umpire.SecretUse{Name: name, Request: request, Times: 1})
	}
}

// placeholderIn returns the name of the first lease whose placeholder is in a head, or "".
func placeholderIn(h *head, leases []activeLease) string {
	texts := []string{h.method, h.target}
	for _, f := range h.fields {
		_, decoded, _ := decodeBasic(f.value)
		texts = append(texts, f.line, decoded)
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	for _, s := range leases {
		if strings.Contains(all, strings.ToLower(s.placeholder)) {
			return s.Name
		}
	}
	return ""
}

// A usableLease covers a request, and has not ended.
type usableLease struct {
	*activeLease

	value string
}

// usable returns the leases that cover a request. Answers hide their values, and those of the host's other leases.
func (i *inspector) usable(to Destination, h *head, path string) (all []usableLease) {
	for n := range i.leases {
		s := &i.leases[n]
		if s.Host != to.Host || s.Value == nil {
			continue
		}
		value, err := s.Value()
		if err != nil || value == "" {
			continue
		}
		quoted, _ := json.Marshal(value) // a text always marshals
		for _, shown := range []string{value, url.QueryEscape(value), strings.Trim(string(quoted), `"`)} {
			i.hide(shown, s.placeholder)
		}
		if s.covers(h, path) {
			all = append(all, usableLease{s, value})
		}
	}
	return all
}

// hide has answers show one text instead of another.
func (i *inspector) hide(shown, instead string) {
	if w := (word{shown, instead}); !slices.Contains(i.hidden, w) {
		i.hidden = append(i.hidden, w)
	}
}

// place puts the secrets of leases into the fields of a request, and reports whether the head is not too long for that.
func (i *inspector) place(h *head, usable []usableLease) bool {
	size, used := 0, map[string]bool{}
	for n := range h.fields {
		f := &h.fields[n]
		if value := i.placed(f, usable, used); value != f.value {
			name, _, _ := strings.Cut(f.line, ":")
			f.value, f.line = value, name+": "+value
		}
		if size += len(f.line); size > maxHeadBytes {
			return false
		}
	}
	h.secrets = slices.Sorted(maps.Keys(used))
	return true
}

// askPlainly has the server answer in a form in which secrets can be seen: whole, and without an encoding.
func (h *head) askPlainly() {
	h.fields = slices.DeleteFunc(h.fields, func(f field) bool {
		return slices.Contains([]string{"accept-encoding", "range", "if-range"}, f.name)
	})
	h.fields = append(h.fields, field{"accept-encoding", "Accept-Encoding: identity", "identity"})
}

// placed returns the value of a field with its placeholders replaced, and adds the names of the leases to used.
func (i *inspector) placed(f *field, usable []usableLease, used map[string]bool) string {
	if hops[f.name] || describesRequest(f.name) {
		return f.value
	}
	scheme, decoded, basic := decodeBasic(f.value)
	user, password, colon := strings.Cut(decoded, ":")
	value := f.value
	for _, s := range usable {
		switch s.placeholder {
		case user:
			user, used[s.Name] = s.value, true
		case password:
			password, used[s.Name] = s.value, true
		default:
			if strings.Contains(value, s.placeholder) {
				value, used[s.Name] = strings.ReplaceAll(value, s.placeholder, s.value), true
			}
		}
	}
	if colon {
		user += ":" + password
	}
	if !basic || user == decoded {
		return value
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(user))
	i.hide(encoded, f.value[len(scheme):])
	return scheme + encoded
}

// decodeBasic returns the parts of a value with a user and a password.
func decodeBasic(value string) (scheme, decoded string, basic bool) {
	const word = "basic "
	if len(value) < len(word) || !strings.EqualFold(value[:len(word)], word) {
		return "", "", false
	}
	text := strings.TrimLeft(value[len(word):], " ")
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		plain, err = base64.RawStdEncoding.DecodeString(text)
	}
	return value[:len(value)-len(text)], string(plain), err == nil
}

// Fields about the request or its body, which servers store with a file, log or send back.
var (
	describing = []string{
		"user-agent", "referer", "origin", "from", "date", "via", "range", "cache-control", "pragma",
	}
	describingPrefix = []string{
		"accept", "content-", "if-", "sec-", "x-amz-meta-", "x-goog-meta-", "x-ms-meta-", "x-object-meta-",
	}
)

// describesRequest reports whether a field carries no credentials.
func describesRequest(name string) bool {
	return slices.Contains(describing, name) ||
		slices.ContainsFunc(describingPrefix, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

var errMisplaced = errors.New("misplaced-secret")

// inspected returns the body of a request, which fails where it has a placeholder.
func (l *link) inspected(body io.Reader) io.Reader {
	if len(l.secrets.leases) == 0 {
		return body
	}
	f := &filter{from: body}
	names := map[string]string{}
	for _, s := range l.secrets.leases {
		f.words = append(f.words, word{find: s.placeholder})
		names[s.placeholder] = s.Name
	}
	f.refuse = func(w word) error {
		l.secrets.misplaced = names[w.find]
		l.cut(MisplacedSecret)
		return errMisplaced
	}
	return f
}

// conceal hides leased secrets in an answer. An answer to a request with one must not be encoded.
func (l *link) conceal(h *head, answer *http.Response) Reason {
	hidden := l.secrets.hidden
	if len(hidden) == 0 {
		return 0
	}
	encoding := answer.Header.Get("Content-Encoding")
	if len(h.secrets) > 0 && encoding != "" && !strings.EqualFold(encoding, "identity") {
		return BadResponse
	}
	answer.Status = replaceWords(answer.Status, hidden)
	shown := http.Header{}
	for name, values := range answer.Header {
		for _, value := range values {
			name := replaceWords(name, hidden)
			shown[name] = append(shown[name], replaceWords(value, hidden))
		}
	}
	answer.Header = shown
	if h.method == http.MethodHead || answer.ContentLength == 0 {
		return 0
	}
	answer.Body = concealed{&filter{from: answer.Body, words: hidden}, answer.Body}
	answer.ContentLength, answer.TransferEncoding = -1, []string{"chunked"} // its length may change
	answer.Header.Del("Content-Length")
	return 0
}

// A concealed body shows placeholders instead of secrets.
type concealed struct {
	io.Reader
	io.Closer
}

// maxUses bounds the different requests that are told apart, and maxUsePath the bytes of their paths.
const (
	maxUses    = 20
	maxUsePath = 200
)

// addUse adds to the uses of secrets. Requests beyond the limit are added to one that has no name.
func addUse(uses []umpire.SecretUse, u umpire.SecretUse) []umpire.SecretUse {
	same := func(o umpire.SecretUse) bool { return o.Name == u.Name && o.Request == u.Request }
	if !slices.ContainsFunc(uses, same) && len(uses) >= maxUses {
		u.Request = unknownTarget
	}
	if i := slices.IndexFunc(uses, same); i >= 0 {
		uses[i].Times += u.Times
		return uses
	}
	return append(uses, u)
}
