package notice

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
)

// A Refusal is the reason why a message on the topic of replies was not accepted as an answer.
type Refusal string

// The refusals.
const (
	refusedUnknown  Refusal = "unknown"  // not a token of this gate: forged, or another's message
	refusedReplayed Refusal = "replayed" // the token or a button of the same notice was already used
	refusedLate     Refusal = "late"     // the question was answered already, or the token is too old
	refusedChanged  Refusal = "changed"  // the card has changed since
)

// Limits on a stream that anybody may write to.
const (
	maxMessage  = 16 << 10         // bytes of a line; a longer one is not a reply
	silenceTime = 3 * time.Minute  // the server sends a keepalive every 45 seconds
	clockSkew   = 10 * time.Second // how far the server's clock may be behind
	relayActor  = "relay"
)

// A relay receives the answers that come back through a server of ntfy.
type relay struct {
	server config.Ntfy
	token  string
	client *http.Client
	gate   Inbox
	report *reporter
	warn   func(error)
	pause  time.Duration
	tokens tokens

	// asksTrust is set if the person trusts the server; private is set if the server, when last
	// asked, kept other users from reading the topic of notices.
	asksTrust bool
	private   atomic.Bool
}

func (r *relay) name() string { return "replies " + hostOf(r.server.Server) }

// trusted reports whether approvals may come back.
func (r *relay) trusted() bool { return r.asksTrust && r.private.Load() }

// errPublic is the state of a server that is trusted with approvals, but lets others see them.
var errPublic = umpire.Errorf("approvals are off, because anybody can read the topic")

// listen receives messages until ctx ends. It reconnects when the server goes away, and misses no
// messages that the server has kept.
func (r *relay) listen(ctx context.Context) {
	last, pause := strconv.FormatInt(r.tokens.now().Add(-clockSkew).Unix(), 10), r.pause
	for ctx.Err() == nil {
		if r.asksTrust {
			r.private.Store(r.isPrivate(ctx))
		}
		before := last
		err := r.readMessages(ctx, &last)
		if ctx.Err() != nil {
			return
		}
		r.report.noteListening(r.name(), err)
		if last != before {
			pause = r.pause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			pause = min(2*pause, maxPause)
		}
	}
}

// isPrivate reports whether the server keeps a stranger from reading the topic of notices.
func (r *relay) isPrivate(ctx context.Context) bool {
	response, err := r.get(ctx, r.server.Topic, url.Values{"poll": {"1"}}, "")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden
}

// get requests the messages of a topic.
func (r *relay) get(ctx context.Context, topic string, query url.Values, token string) (*http.Response, error) {
	address := strings.TrimRight(r.server.Server, "/") + "/" + topic + "/json?" + query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, withoutAddress(err)
	}
	if token != "" {
		request.Header.Set("Authorization", bearer(token))
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, withoutAddress(err)
	}
	return response, nil
}

var errSilence = umpire.Errorf("the server stopped answering")

// readMessages reads messages until the connection ends. last is the latest message read, or the
// time from which to read.
func (r *relay) readMessages(ctx context.Context, last *string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(silenceTime, func() { cancel(errSilence) })
	defer silence.Stop()
	response, err := r.get(ctx, r.server.Replies, url.Values{"since": {*last}}, r.token)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return &statusError{response.StatusCode}
	}
	r.report.noteListening(r.name(), r.trustProblem())
	for in := bufio.NewReaderSize(response.Body, maxMessage); ; silence.Reset(silenceTime) {
		line, err := readLine(in)
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		r.takeMessage(ctx, line, last)
	}
}

func (r *relay) trustProblem() error {
	if r.asksTrust && !r.private.Load() {
		return errPublic
	}
	return nil
}

// readLine returns a line, or nil if it is too long.
func readLine(in *bufio.Reader) (line []byte, err error) {
	line, isPart, err := in.ReadLine()
	if !isPart {
		return line, err
	}
	for isPart && err == nil {
		_, isPart, err = in.ReadLine()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// A relayMessage is a message as described at https://docs.ntfy.sh/subscribe/api/#json-message-format.
type relayMessage struct {
	ID      string `json:"id"`
	Event   string `json:"event"`
	Topic   string `json:"topic"`
	Message string `json:"message"`
}

// takeMessage processes a line of the stream. last is the message after which the next connection
// continues. Only the token in a message counts; the rest is the server's word.
func (r *relay) takeMessage(ctx context.Context, line []byte, last *string) {
	var m relayMessage
	if json.Unmarshal(line, &m) != nil {
		r.report.countRefusal(refusedUnknown)
		return
	}
	if m.Event != "message" { // open, keepalive, and additions of later versions
		return
	}
	*last = cmp.Or(m.ID, *last)
	answer, why := r.tokens.redeem(m.Message)
	if why == "" {
		why = r.resolve(ctx, answer)
	}
	if why != "" {
		r.report.countRefusal(why)
	}
}

// resolve passes an answer to the gate, which compares it with the current card.
func (r *relay) resolve(ctx context.Context, answer umpire.Answer) Refusal {
	answer.Actor, answer.Channel, answer.By = relayActor, relayActor, umpire.Actor{Name: relayActor, Client: relayActor}
	_, err := r.gate.Resolve(ctx, answer)
	switch {
	case errors.Is(err, umpire.ErrResolved), errors.Is(err, umpire.ErrNotFound):
		return refusedLate
	case errors.Is(err, umpire.ErrChanged):
		return refusedChanged
	case err != nil:
		r.warn(umpire.Errorf("notify: %w", err))
	}
	return ""
}
