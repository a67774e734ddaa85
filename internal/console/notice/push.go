package notice

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/console/webcrypto"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

const (
	pushTTL = 12 * time.Hour // how long a push service keeps a notice for a phone that is off
	// proofTime is how long the sender's proof is valid; RFC 8292 allows a day.
	proofTime = time.Hour
)

// A pushMessage is shown by the console's service worker. It names the card that a tap opens and
// contains nothing that could answer the question: a replayed push only repeats its text.
type pushMessage struct {
	Title   string `json:"title"`
	Text    string `json:"text"`
	Tag     string `json:"tag"` // the notices of one question replace each other
	Card    string `json:"card,omitempty"`
	Session string `json:"session,omitempty"`
	Quiet   bool   `json:"quiet,omitempty"`
}

// A pushTarget is a subscribed browser.
type pushTarget struct {
	poster

	push *Push
	to   Browser
	key  *ecdsa.PrivateKey
	now  func() time.Time
}

func (t *pushTarget) name() string { return "push " + t.to.Name() }

var errGone = umpire.Errorf("the browser no longer gets notices")

// deliver sends a notice to the push service. It removes a subscription that the service no longer
// knows, unless the browser has renewed it meanwhile.
func (t *pushTarget) deliver(ctx context.Context, n *notice) error {
	body, err := t.encrypt(n)
	if err != nil {
		return err
	}
	proof, err := t.to.Authorize(t.key, t.push.Subject, t.now().Add(proofTime))
	if err != nil {
		return err
	}
	urgency := "normal"
	if n.event == eventWaiting {
		urgency = "high"
	}
	err = t.post(ctx, t.to.Endpoint, body, map[string]string{
		"Authorization": proof, "Content-Type": "application/octet-stream", "Content-Encoding": "aes128gcm",
		"TTL": strconv.Itoa(int(pushTTL.Seconds())), "Urgency": urgency, "Topic": n.sequence(),
	})
	refused, is := errors.AsType[*statusError](err)
	if is && (refused.status == http.StatusNotFound || refused.status == http.StatusGone) {
		return errors.Join(errGone, t.push.Remove(func(b *Browser) bool { return b.ID() == t.to.ID() }))
	}
	return err
}

// encrypt returns the body of a message that only the browser can read.
func (t *pushTarget) encrypt(n *notice) ([]byte, error) {
	m := pushMessage{
		Title: n.title, Text: n.text, Tag: n.sequence(), Session: string(n.session), Quiet: n.event == eventAnswered,
	}
	if n.session != "" {
		m.Card = string(n.request)
	}
	var text bytes.Buffer
	plain := json.NewEncoder(&text)
	plain.SetEscapeHTML(false) // it would make a text six times as long, and none of it is HTML
	if err := plain.Encode(m); err != nil {
		return nil, err
	}
	sender, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, webcrypto.SaltSize)
	_, _ = rand.Read(salt) // never fails
	return t.to.Encrypt(text.Bytes(), sender, salt)
}

// errInner is the reason not to send notices to an address that a browser gave.
var errInner = umpire.Errorf("the address of the push service is not on the public web")

// newPushClient returns a client for addresses that browsers gave. It dials only the public web,
// checked after each name lookup, and takes no proxy, which could dial for it.
func newPushClient() *http.Client {
	client := newClient()
	dialer := &net.Dialer{Timeout: requestTime, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !sensitive.PublicAddress(to.Addr().Unmap()) {
			return errInner
		}
		return nil
	}}
	transport, _ := client.Transport.(*http.Transport)
	transport.Proxy, transport.DialContext = nil, dialer.DialContext
	return client
}
