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
	// firstWait is before the second try where the server names no time; the next is twice as long.
	firstWait = 500 * time.Millisecond
	// maxAnswer bounds the part of an error answer that is read.
	maxAnswer = 1 << 20
)

// An Endpoint is a provider's server, and what each request to it carries. The header holds the key.
type Endpoint struct {
	URL    string // the base; the path of an interface comes behind it
	Header http.Header
}

// AddHeaders adds the headers that a person gives in a variable, one to a line.
func (e *Endpoint) AddHeaders(lines string) {
	for line := range strings.Lines(lines) {
		if name, value, found := strings.Cut(line, ":"); found {
			e.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
}

// An AnswerError is a server's answer in place of a reply.
type AnswerError struct {
	Status int
	Body   []byte
}

func (e *AnswerError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Body) }

// A Stream is a reply that comes in as server-sent events. Nothing is asked again once it has begun.
type Stream struct {
	line  *line
	body  io.Closer
	lines *bufio.Reader
	data  []byte
	err   error
}

// Post sends a request, up to three times, and returns the stream of its reply. A failure is the
// stream's. Close the stream.
func (e *Endpoint) Post(ctx context.Context, o Options, path string, body any) *Stream {
	s := &Stream{line: watch(ctx, o)}
	response, err := e.post(s.line, path, body) //nolint:bodyclose // Close closes it
	if err != nil {
		s.err = &ReplyError{Kind: FailedConnection, Err: err}
		return s
	}
	s.body, s.lines = response.Body, bufio.NewReader(response.Body)
	if response.StatusCode >= http.StatusMultipleChoices {
		answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if s.err = err; err == nil {
			s.err = &AnswerError{Status: response.StatusCode, Body: bytes.TrimSpace(answer)}
		}
	}
	return s
}

// post sends a request until there is an answer that asking again would not change.
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
			_ = response.Body.Close() // the answer has been read as far as it counts
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

// Next waits for the next event. It reports false at the end of the stream and after a failure.
func (s *Stream) Next() bool {
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

// Data is the data of the event that Next found. It stays as it is.
func (s *Stream) Data() []byte { return s.data }

// Decode decodes the data of the event. Fields of another type than expected are left out, since
// servers differ; data that is not JSON ends the stream.
func (s *Stream) Decode(event any) bool {
	err := json.Unmarshal(s.data, event)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); err == nil || other {
		return true
	}
	s.err = &ReplyError{Kind: FailedBroken, Err: err}
	return false
}

// Err says why the stream failed: an *AnswerError, a *ReplyError, or the cause with which the context
// was ended. It is nil for a stream that came to its end.
func (s *Stream) Err() error {
	if err := s.line.failure(); err != nil {
		return err
	}
	return s.err
}

// Close ends the request.
func (s *Stream) Close() {
	s.line.finish()
	if s.body != nil {
		_ = s.body.Close() // it has been read as far as it counts
	}
}
