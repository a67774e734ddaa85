package llm

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
)

// Limits on waiting and reading.
const (
	// patience is the longest allowed silence. Providers send signs of life while a model thinks,
	// but not all do.
	patience = 5 * time.Minute
	// maxRetryAfter is the longest wait that a provider may ask for; a longer one is reported to
	// the person.
	maxRetryAfter = time.Minute
	// largest bounds a reply on the wire, where a word takes a few hundred bytes.
	largest = 128 << 20
)

var (
	errSilent = errors.New("silence")
	errFlood  = errors.New("flood")
)

// httpClient is like http.DefaultClient, but does not follow redirects to another host. The header
// with the key would be sent there too.
var httpClient = &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return umpire.Errorf("the server redirects to %s, which must not get the key", r.URL.Host)
	}
	return nil
}}

// A line watches one request and its retries: it cancels a request that stays silent too long or
// receives too much.
type line struct {
	patience time.Duration
	largest  int
	end      context.CancelCauseFunc
	ctx      context.Context //nolint:containedctx // of the line's only request

	mu    sync.Mutex
	timer *time.Timer
}

// watch starts to watch a request. The request is made with the line's context, and finish ends it.
func watch(ctx context.Context, o Options) *line {
	ctx, end := context.WithCancelCause(ctx)
	l := &line{patience: cmp.Or(o.Patience, patience), largest: cmp.Or(o.Largest, largest), end: end, ctx: ctx}
	l.timer = time.AfterFunc(l.patience, func() { end(errSilent) })
	return l
}

func (l *line) finish() {
	l.timer.Stop()
	l.end(nil)
}

// failure returns the line's reason for ending the request, or nil.
func (l *line) failure() error {
	switch cause := context.Cause(l.ctx); {
	case errors.Is(cause, errSilent):
		return &ReplyError{Kind: FailedSilent}
	case errors.Is(cause, errFlood):
		return &ReplyError{Kind: FailedFlood}
	case cause != nil:
		return cause
	}
	return nil
}

// roundTrip sends a request once.
func (l *line) roundTrip(r *http.Request) (*http.Response, error) {
	l.expect(0)
	response, err := httpClient.Do(r)
	l.expect(0)
	if err != nil {
		return nil, err
	}
	response.Body = &lineBody{ReadCloser: response.Body, line: l}
	return response, nil
}

// retryAfter returns how long the provider asks clients to wait.
func retryAfter(h http.Header) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return time.Duration(ms * float64(time.Millisecond)), true
	}
	if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		return time.Duration(s * float64(time.Second)), true
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return time.Until(at), true
	}
	return 0, false
}

// expect restarts the silence timer, after an expected pause.
func (l *line) expect(pause time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Reset(l.patience + max(0, pause))
}

// A lineBody reports all received data to the line.
type lineBody struct {
	io.ReadCloser
	line *line
	n    int
}

func (b *lineBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.line.expect(0)
	}
	if b.n += n; b.n > b.line.largest {
		b.line.end(errFlood)
		return n, errFlood
	}
	return n, err
}
