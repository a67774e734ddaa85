package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// maxTries is how often a request is sent before a reply begins.
	maxTries = 3
	// firstWait is the pause before the second try if the server gives no time; the next is twice as long.
	firstWait = 500 * time.Millisecond
	// maxAnswer bounds the part of an error answer that is read.
	maxAnswer = 1 << 20
)

// An Endpoint is a provider's server, with the headers of each request. The header contains the key.
type Endpoint struct {
	URL    string // the base; the path of an interface is appended
	Header http.Header
}

// AddHeaders adds the headers from a user's variable, one per line.
func (e *Endpoint) AddHeaders(lines string) {
	for line := range strings.Lines(lines) {
		if name, value, found := strings.Cut(line, ":"); found {
			e.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
}

// An answerError is a server's answer in place of a reply.
type answerError struct {
	Status int
	Body   []byte
}

func (e *answerError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Body) }

// A stream is a reply received as server-sent events. Once it has begun, the request is not sent again.
type stream struct {
	line  *line
	body  io.Closer
	lines *bufio.Reader
	data  []byte
	err   error
}

// Post sends a request, up to three times, and returns the stream of its reply. A failure is
// reported by the stream. Close the stream.
func (e *Endpoint) Post(ctx context.Context, o Options, path string, body any) *stream {
	s := &stream{line: watch(ctx, o)}
	response, err := e.post(s.line, path, body) //nolint:bodyclose // Close closes it
	if err != nil {
		s.err = &ReplyError{Kind: FailedConnection, Err: err}
		return s
	}
	s.body, s.lines = response.Body, bufio.NewReader(response.Body)
	if response.StatusCode >= http.StatusMultipleChoices {
		answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if s.err = err; err == nil {
			s.err = &answerError{Status: response.StatusCode, Body: bytes.TrimSpace(answer)}
		}
	}
	return s
}

// post sends a request until it gets an answer that a retry would not change.
func (e *Endpoint) post(l *line, path string, body any) (*http.Response, error) {
	base, err := url.Parse(e.URL)
	if err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		r, err := http.NewRequestWithContext(
			l.ctx, http.MethodPost, base.JoinPath(path).String(), bytes.NewReader(encoded.Bytes()),
		)
		if err != nil {
			return nil, err
		}
		r.Header = e.Header.Clone()
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream, application/json")
		r.Header.Set("User-Agent", "umpire")
		response, err := l.roundTrip(r)
		pause, again := pauseAfter(response, err, try)
		if !again {
			return response, err
		}
		if response != nil {
			_ = response.Body.Close() // the relevant part has been read
		}
		l.expect(pause)
		select {
		case <-l.ctx.Done():
			return nil, l.ctx.Err()
		case <-time.After(pause):
		}
	}
}

// pauseAfter reports whether to send a request again, and how long after this answer.
func pauseAfter(response *http.Response, err error, try int) (pause time.Duration, again bool) {
	backOff := firstWait << (try - 1)
	backOff -= rand.N(backOff / 4)
	if err != nil {
		return backOff, try < maxTries
	}
	switch response.Header.Get("X-Should-Retry") {
	case "false":
		return 0, false
	case "true":
	default:
		status := response.StatusCode
		again := status == http.StatusRequestTimeout || status == http.StatusConflict ||
			status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
		if !again {
			return 0, false
		}
	}
	if wait, ok := retryAfter(response.Header); ok {
		return wait, wait <= maxRetryAfter && try < maxTries
	}
	return backOff, try < maxTries
}

// Next waits for the next event. It returns false at the end of the stream and after a failure.
func (s *stream) Next() bool {
	s.data = nil
	for s.err == nil {
		line, err := s.lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return false
		}
		if err != nil {
			s.err = &ReplyError{Kind: FailedBroken, Err: err}
			return false
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 && len(s.data) > 0 {
			return true
		}
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if s.data != nil {
				s.data = append(s.data, '\n')
			}
			s.data = append(s.data, bytes.TrimPrefix(data, []byte(" "))...)
		}
	}
	return false
}

// Data returns the data of the current event. It is not reused.
func (s *stream) Data() []byte { return s.data }

// Decode decodes the data of the event. It ignores fields of unexpected types, since servers
// differ; data that is not JSON ends the stream.
func (s *stream) Decode(event any) bool {
	err := json.Unmarshal(s.data, event)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); err == nil || other {
		return true
	}
	s.err = &ReplyError{Kind: FailedBroken, Err: err}
	return false
}

// Err returns the reason why the stream failed: an *answerError, a *ReplyError, or the cause of the
// context's end. It is nil if the stream is complete.
func (s *stream) Err() error {
	if err := s.line.failure(); err != nil {
		return err
	}
	return s.err
}

// Close ends the request.
func (s *stream) Close() {
	s.line.finish()
	if s.body != nil {
		_ = s.body.Close() // the relevant part has been read
	}
}
