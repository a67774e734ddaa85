package jsonrpc

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
)

// An MCPRemote represents a server at a URL to a proxy: a [Side]. Make one with [DialMCP].
type MCPRemote struct {
	url    string
	header http.Header
	client *http.Client
	ctx    context.Context //nolint:containedctx // it ends with Close, for the work that Write starts
	end    context.CancelCauseFunc
	lines  chan []byte

	endTime time.Duration // how long a server may take to end its session

	mu      sync.Mutex
	session string
	version string // the negotiated protocol version
	posts   map[string]context.CancelFunc
	params  Table[[]param] // by the names of the tools
	// noted is closed when the server has accepted the last message that is not a request: later
	// messages must not overtake it.
	noted <-chan struct{}
}

// errSessionEnded means that the server no longer knows the session. Its client has to start over.
var errSessionEnded = errors.New("the server has ended the session")

// DialMCP returns a server at a URL. It sends nothing yet. Every request gets the header.
func DialMCP(ctx context.Context, url string, header http.Header) *MCPRemote {
	noted := make(chan struct{})
	close(noted)
	r := &MCPRemote{
		url: url, header: header, lines: make(chan []byte), posts: map[string]context.CancelFunc{}, noted: noted,
		client: &http.Client{CheckRedirect: RefuseRedirect}, params: NewTable[[]param](maxTools),
		endTime: endTime,
	}
	r.ctx, r.end = context.WithCancelCause(ctx)
	return r
}

// Read returns the next message of the server.
func (r *MCPRemote) Read() ([]byte, error) {
	select {
	case line := <-r.lines:
		return line, nil
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// Write sends a message without waiting for the server. Every request gets an answer, which Read
// returns.
func (r *MCPRemote) Write(message []byte) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	m, err := Parse(message)
	if err != nil || m.Method == "" && !m.IsResponse() {
		return nil // ignore it: HTTP has no place for an empty line
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.noted
	if !m.IsRequest() {
		taken := make(chan struct{})
		r.noted = taken
		go func() {
			defer close(taken)
			<-before
			r.notify(&m)
		}()
		return nil
	}
	if _, twice := r.posts[m.Key()]; twice || len(r.posts) >= maxPosts {
		go r.refuse(&m, errors.New("a request with this id is already running, or too many are"))
		return nil
	}
	ctx, stop := context.WithCancel(r.ctx)
	r.posts[m.Key()] = stop
	go func() {
		defer r.forget(&m)
		<-before
		if err := r.exchange(ctx, &m); err != nil && ctx.Err() == nil {
			r.refuse(&m, err)
		}
	}()
	return nil
}

func (r *MCPRemote) forget(m *Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts[m.Key()]()
	delete(r.posts, m.Key())
}

// Close ends the session and the requests under way. Read then returns io.EOF.
func (r *MCPRemote) Close() {
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	if session != "" && r.ctx.Err() == nil {
		if answer, err := r.sendRequest(r.ctx, http.MethodDelete, nil, nil); err == nil {
			answer.Body.Close() //nolint:errcheck // it is not read
		}
	}
	r.end(io.EOF)
}

// deliver passes a message to Read.
func (r *MCPRemote) deliver(line []byte) {
	select {
	case r.lines <- line:
	case <-r.ctx.Done():
	}
}

// codeUnreachable is the error code of an answer for a server that cannot be reached over HTTP.
const codeUnreachable = -32003

// refuse answers a request that the server did not answer.
func (r *MCPRemote) refuse(m *Message, err error) {
	if about, is := errors.AsType[*url.Error](err); is {
		err = about.Err // without the address, which may contain a key
	}
	r.deliver(Refuse(m.ID, codeUnreachable, "umpire: "+err.Error()))
}

// notify sends a message that expects no answer.
func (r *MCPRemote) notify(m *Message) {
	ctx, cancel := context.WithTimeout(r.ctx, noticeTime)
	defer cancel()
	answer, err := r.sendRequest(ctx, http.MethodPost, m, nil)
	if err == nil {
		answer.Body.Close() //nolint:errcheck // it is not read
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case m.Method == methodInitialized && r.version < versionStateless:
		go r.listen()
	case m.Method == methodCancelled:
		var about struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &about) != nil {
			return
		}
		if stop, known := r.posts[KeyOf(about.ID)]; known {
			stop()
		}
	}
}

// exchange sends a request and delivers the response. It returns an error if the answer is missing.
func (r *MCPRemote) exchange(ctx context.Context, m *Message) error {
	answer, err := r.sendRequest(ctx, http.MethodPost, m, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if m.Method == methodInitialize {
		r.mu.Lock()
		r.session = answer.Header.Get(headerSession)
		r.mu.Unlock()
	}
	switch kind := contentType(answer.Header); {
	case kind == typeJSON:
		body, err := io.ReadAll(io.LimitReader(answer.Body, MaxMessage+1))
		if err == nil && len(body) > MaxMessage {
			err = ErrTooLarge
		}
		if err != nil {
			return err
		}
		if r.accept(m, body) {
			return nil
		}
	case kind == typeEvents && answer.StatusCode == http.StatusOK:
		return r.readStream(ctx, m, answer)
	}
	if answer.StatusCode == http.StatusUnauthorized {
		return umpire.Errorf("the server requires sign-in (%s), which umpire does not support: give it a token "+
			"with --header", cmp.Or(challengeOf(answer.Header), answer.Status))
	}
	if answer.StatusCode == http.StatusNotFound && answer.Request.Header.Get(headerSession) != "" {
		defer r.end(errSessionEnded)
		return errSessionEnded
	}
	return umpire.Errorf("the server answered %q, without a message", answer.Status)
}

// accept delivers a message of the server. It reports whether it answered m, which is nil on a
// stream without a request.
func (r *MCPRemote) accept(m *Message, text []byte) bool {
	line, err := compactLine(text)
	if err != nil {
		return false
	}
	said, err := Parse(line)
	if err != nil || said.Method == "" && !said.IsResponse() {
		return false
	}
	answers := m != nil && said.IsResponse() && said.Key() == m.Key()
	if answers && m.Method == methodInitialize {
		var agreed struct {
			Version string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(said.Result, &agreed) // an error negotiates nothing
		r.mu.Lock()
		r.version = agreed.Version
		r.mu.Unlock()
	}
	if answers && m.Method == methodList {
		r.noteTools(said.Result)
	}
	r.deliver(line)
	return answers
}

// listen delivers the server's unsolicited messages, if it has a stream for them.
func (r *MCPRemote) listen() {
	answer, err := r.sendRequest(r.ctx, http.MethodGet, nil, nil)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK && contentType(answer.Header) == typeEvents {
		_ = r.readStream(r.ctx, nil, answer) // no request depends on it
	}
}

// readStream delivers the events of a stream until it has answered m, which is nil for a stream
// without a request. A broken stream is resumed after its last event.
func (r *MCPRemote) readStream(ctx context.Context, m *Message, answer *http.Response) error {
	var last event
	for failed := 0; ; failed++ {
		in := bufio.NewReader(answer.Body)
		e, err := readEvent(in)
		for ; err == nil; e, err = readEvent(in) {
			failed = 0
			last.id, last.retry = cmp.Or(e.id, last.id), cmp.Or(e.retry, last.retry)
			if len(e.data) > 0 && r.accept(m, e.data) {
				return nil
			}
		}
		answer.Body.Close() //nolint:errcheck // it has ended
		lost := m != nil && last.id == "" || errors.Is(err, ErrTooLarge)
		if lost || failed >= maxResumes || ctx.Err() != nil {
			return umpire.Errorf("the server's answer was cut off: %w", err)
		}
		select {
		case <-time.After(cmp.Or(last.retry, min(firstDelay<<failed, longestDelay))):
		case <-ctx.Done():
			return ctx.Err()
		}
		again, err := r.sendRequest(ctx, http.MethodGet, nil, &last)
		switch {
		case err != nil:
			answer.Body = http.NoBody // the next attempt fails at once, and is counted
		case again.StatusCode != http.StatusOK || contentType(again.Header) != typeEvents:
			again.Body.Close() //nolint:errcheck // it is not read
			return umpire.Errorf("the server's answer was cut off, and the server now answers %q", again.Status)
		default:
			answer = again
		}
	}
}

// sendRequest makes an HTTP request: to post a message, to resume a stream after an event, to open
// one, or to end the session.
func (r *MCPRemote) sendRequest(
	ctx context.Context, method string, m *Message, after *event,
) (*http.Response, error) {
	var body io.Reader
	if m != nil {
		body = bytes.NewReader(m.Raw)
	}
	if method == http.MethodDelete {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.endTime)
		defer cancel()
	}
	q, err := http.NewRequestWithContext(ctx, method, r.url, body)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	session, version := r.session, r.version
	r.mu.Unlock()
	q.Header.Set("Accept", typeEvents)
	if m != nil {
		q.Header.Set("Content-Type", typeJSON)
		q.Header.Set("Accept", typeJSON+", "+typeEvents)
		version = cmp.Or(versionOf(m.Params), version)
	}
	if version != "" {
		q.Header.Set(headerVersion, version)
	}
	if m != nil && version >= versionStateless && m.Method != "" {
		q.Header.Set(headerMethod, m.Method)
		if name := nameOf(m); name != "" {
			q.Header.Set(headerName, headerText(name))
		}
		if m.Method == methodCall {
			r.repeatParams(q.Header, m)
		}
	}
	if session != "" {
		q.Header.Set(headerSession, session)
	}
	if after != nil && after.id != "" {
		q.Header.Set(headerLastEvent, after.id)
	}
	maps.Copy(q.Header, r.header)
	return r.client.Do(q)
}
