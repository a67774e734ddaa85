package notice

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/view"
)

// Limits on an untrusted server.
const (
	requestTime = 15 * time.Second
	maxHeader   = 32 << 10
	maxReply    = 64 << 10 // the longest answer that is read to its end
	maxProblem  = 200      // UTF-16 units of an error
)

// newClient returns a client that does not follow redirects: only configured addresses get notices
// and tokens.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeader,
			TLSHandshakeTimeout: requestTime, ResponseHeaderTimeout: requestTime, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A statusError is the status of a server that did not accept a notice.
type statusError struct{ status int }

// Error describes the server's answer.
func (e *statusError) Error() string { return e.formatted().Error() }

// Phrase returns the same as data.
func (e *statusError) Phrase() umpire.Phrase { return umpire.PhraseOf(e.formatted()) }

func (e *statusError) formatted() error {
	if e.status >= 300 && e.status < 400 {
		return umpire.Errorf("the server redirects, which umpire does not follow")
	}
	return umpire.Errorf("the server answers %d", e.status)
}

// isFinal reports whether another try would fail the same way.
func isFinal(err error) bool {
	if errors.Is(err, errGone) || errors.Is(err, errInner) {
		return true
	}
	refused, is := errors.AsType[*statusError](err)
	if !is {
		return false
	}
	switch refused.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return refused.status < 500
}

// A poster posts JSON, unless a header says otherwise.
type poster struct{ client *http.Client }

func (p poster) post(ctx context.Context, address string, body []byte, header map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return withoutAddress(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "umpire")
	for name, value := range header {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := p.client.Do(request)
	if err != nil {
		return withoutAddress(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxReply) // lets the connection be reused
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return &statusError{response.StatusCode}
	}
	return nil
}

// withoutAddress removes the address from an error, because it may contain a secret.
func withoutAddress(err error) error {
	if inner, is := errors.AsType[*url.Error](err); is {
		return inner.Err
	}
	return err
}

// problemText returns an error as a line that is safe to show.
func problemText(err error) string { return view.Brief(err.Error(), maxProblem) }

// readSecret reads a token or a secret from a file in a folder that other users cannot read.
func readSecret(folder, name string) (string, error) {
	secret, err := files.ReadSecret(filepath.Join(folder, name))
	if err != nil {
		return "", umpire.Errorf("notify: %w", err)
	}
	return secret, nil
}
