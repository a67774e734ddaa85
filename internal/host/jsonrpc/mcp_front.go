package jsonrpc

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

const (
	// graceTime is how long a request waits for a client that has gone to come back. Then it is
	// cancelled. A sent answer is kept for the same time.
	graceTime = time.Minute
	// idleTime is how long a session lasts without requests or readers.
	idleTime = 30 * time.Minute
	// tendTime is the interval of the checks for abandoned requests and answers.
	tendTime = 5 * time.Second
	// maxSessionKept bounds the memory a session uses for clients that do not read: beyond that,
	// sent answers are dropped, and if that is not enough the session ends.
	maxSessionKept = 4 * MaxMessage
)

// A front represents the clients of one session to a proxy: a [Side]. Without sessions all
// clients share one front. So each request gets a unique id and a unique progress token.
type front struct {
	id    string          // "" without sessions
	ctx   context.Context //nolint:containedctx // it ends with the session
	end   context.CancelFunc
	lines chan []byte

	mu       sync.Mutex
	counter  int
	requests map[string]*request // by the keys of their new ids
	renamed  map[string]string   // the keys of new ids, by those of the clients' ids
	streams  map[string]*stream  // all resumable streams, by their ids
	general  *stream             // for messages that belong to no request; nil without sessions
	kept     int                 // bytes of all streams
	used     time.Time
}

// A request is a request waiting for its answer.
type request struct {
	id, token json.RawMessage // the client's own
	key       string          // of the client's own id
	stream    *stream
}

func newFront(ctx context.Context, id string) *front {
	f := &front{
		id: id, lines: make(chan []byte), requests: map[string]*request{}, renamed: map[string]string{},
		streams: map[string]*stream{}, used: time.Now(),
	}
	f.ctx, f.end = context.WithCancel(ctx)
	if id != "" {
		f.general = newStream(rand.Text())
		f.streams[f.general.id] = f.general
	}
	return f
}

// Read returns the next message of a client.
func (f *front) Read() ([]byte, error) {
	select {
	case line := <-f.lines:
		return line, nil
	case <-f.ctx.Done():
		return nil, io.EOF
	}
}

// pass passes a message to Read.
func (f *front) pass(ctx context.Context, line []byte) error {
	select {
	case f.lines <- line:
		return nil
	case <-f.ctx.Done():
		return errSessionEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takeRequest passes a request to Read. It returns the stream for its answer, and the key for
// cancelling it.
func (f *front) takeRequest(ctx context.Context, m *Message) (s *stream, key string, err error) {
	f.mu.Lock()
	_, twice := f.renamed[m.Key()]
	if f.id != "" && twice || len(f.requests) >= maxPosts {
		f.mu.Unlock()
		return nil, "", umpire.Errorf("a request with this id is already waiting, or too many are")
	}
	f.counter++
	id := fmt.Appendf(nil, `"h%d"`, f.counter)
	key = KeyOf(id)
	q := &request{id: m.ID, key: m.Key(), stream: newStream("")}
	if f.id != "" {
		q.stream.id = rand.Text()
		f.streams[q.stream.id], f.renamed[q.key] = q.stream, key
	}
	params, token := rename(m.Params, "_meta", "progressToken", id)
	q.token = token
	f.requests[key], f.used = q, time.Now()
	f.mu.Unlock()
	if err := f.pass(ctx, Call(id, m.Method, params)); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.forget(key)
		return nil, "", err
	}
	return q.stream, key, nil
}

// notify passes a message to Read that is not a request.
func (f *front) notify(ctx context.Context, m *Message) error {
	if m.Method != methodCancelled {
		return f.pass(ctx, m.Raw)
	}
	var about struct {
		ID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(m.Params, &about) // a message without a request cancels nothing
	f.mu.Lock()
	key, known := f.renamed[KeyOf(about.ID)]
	if known {
		f.forget(key)
	}
	f.mu.Unlock()
	if !known {
		return nil
	}
	return f.cancel(ctx, key)
}

// cancel tells the proxy that the client has abandoned a request.
func (f *front) cancel(ctx context.Context, key string) error {
	f.mu.Lock()
	f.forget(key)
	f.mu.Unlock()
	params := strictjson.EncodeLine(map[string]string{"requestId": key[1:], "reason": "the client has gone"})
	return f.pass(ctx, Call(nil, methodCancelled, bytes.TrimSpace(params)))
}

// shutDown ends the session, and answers the waiting requests.
func (f *front) shutDown() {
	f.mu.Lock()
	for key, q := range f.requests {
		q.stream.add(bytes.TrimSpace(Refuse(q.id, codeUnreachable, "umpire: "+errSessionEnded.Error())))
		f.forget(key)
	}
	f.mu.Unlock()
	f.end()
}

// forget removes a request. The lock is held.
func (f *front) forget(key string) {
	q := f.requests[key]
	if q == nil {
		return
	}
	delete(f.requests, key)
	delete(f.renamed, q.key)
	q.stream.endStream()
}

// Write gives a message to its client. It does not wait for the client.
func (f *front) Write(message []byte) error {
	m, err := Parse(message)
	if err != nil || m.Method == "" && !m.IsResponse() {
		return nil // HTTP cannot carry something that is not a message
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s, line := f.general, bytes.TrimSpace(m.Raw)
	switch {
	case m.IsResponse():
		q := f.requests[m.Key()]
		if q == nil {
			return nil // the request was abandoned
		}
		answer, _ := rename(m.Raw, "", "id", q.id)
		f.kept += q.stream.add(answer)
		f.forget(m.Key())
		s = nil
	case m.Method == methodProgress:
		var about struct {
			Token json.RawMessage `json:"progressToken"`
		}
		_ = json.Unmarshal(m.Params, &about) // without a token it belongs to no request
		if q := f.requests[KeyOf(about.Token)]; q != nil && q.token != nil {
			params, _ := rename(m.Params, "", "progressToken", q.token)
			s, line = q.stream, bytes.TrimSpace(Call(nil, m.Method, params))
		}
	}
	if s != nil {
		f.kept += s.add(line)
	}
	if f.kept > maxSessionKept || len(f.streams) > maxStreams {
		f.dropAnswers(time.Now(), 0)
	}
	if f.kept > maxSessionKept {
		f.end()
	}
	return nil
}

// maxStreams bounds the sent answers that are kept.
const maxStreams = 1024

// dropAnswers drops the finished answers that have been unread for limit. The lock is held.
func (f *front) dropAnswers(now time.Time, limit time.Duration) {
	for id, s := range f.streams {
		if s != f.general && s.finished() && s.over(now, limit) {
			delete(f.streams, id)
			f.kept -= s.kept()
		}
	}
}

// tend drops abandoned requests and answers, until the session ends.
func (f *front) tend() {
	tick := time.NewTicker(tendTime)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			for _, key := range f.leftAlone(now) {
				_ = f.cancel(f.ctx, key) // the session has ended
			}
		case <-f.ctx.Done():
			return
		}
	}
}

// leftAlone drops answers, ends an unused session, and returns the requests whose clients are gone.
func (f *front) leftAlone(now time.Time) (gone []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropAnswers(now, graceTime)
	for key, q := range f.requests {
		if q.stream.over(now, graceTime) {
			gone = append(gone, key)
		}
	}
	listened := f.general != nil && !f.general.over(now, 0)
	if len(f.requests) == 0 && !listened && now.Sub(f.used) > idleTime {
		f.end()
	}
	return gone
}

// rename replaces a member's value and returns the old one. If the member is missing, was is nil
// and nothing changes. The member is in the child of that name, or with "" in the object.
func rename(object json.RawMessage, child, name string, value json.RawMessage) (renamed, was json.RawMessage) {
	o, err := strictjson.ReadObject(object)
	if err != nil {
		return object, nil
	}
	at := o
	if child != "" {
		if at, err = o.Child(child); err != nil {
			return object, nil
		}
	}
	if was = at[name]; was == nil {
		return object, nil
	}
	at[name] = value
	if child != "" {
		o[child] = strictjson.EncodeLine(at)
	}
	return bytes.TrimSpace(strictjson.EncodeLine(o)), was
}
