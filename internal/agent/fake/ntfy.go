package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An Action is a button.
type Action struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
	Method string `json:"method,omitempty"`
	Body   string `json:"body,omitempty"`
	Clear  bool   `json:"clear,omitempty"`
}

// An NtfyMessage is a published message, as subscribers receive it.
type NtfyMessage struct {
	ID       string   `json:"id"`
	Time     int64    `json:"time"`
	Event    string   `json:"event"`
	Topic    string   `json:"topic"`
	Sequence string   `json:"sequence_id,omitempty"`
	Title    string   `json:"title,omitempty"`
	Message  string   `json:"message,omitempty"`
	Priority int      `json:"priority,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Click    string   `json:"click,omitempty"`
	Actions  []Action `json:"actions,omitempty"`
}

// An Ntfy is a fake of its server. It is safe for concurrent use; close it when done.
type Ntfy struct {
	*httptest.Server

	// Token gives access to every topic; if empty, everybody has access. Everybody may publish to
	// the open topics, and read PublicTopic. Set them before the first request.
	Token, PublicTopic string
	Open               []string

	mu       sync.Mutex
	messages []NtfyMessage
	news     chan struct{} // closed at the next message
	readers  int
	fail     []int // the answers to the next publications
}

// Limits of the real server.
const (
	maxMessage = 4096
	maxActions = 3
)

var topicName = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)

// NewNtfy starts a server, with a certificate if tls is set.
func NewNtfy(tls bool) *Ntfy {
	s := &Ntfy{news: make(chan struct{})}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	return s
}

// Fail answers the next publications with these codes.
func (s *Ntfy) Fail(codes ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = append(s.fail, codes...)
}

// Messages returns the messages published to a topic.
func (s *Ntfy) Messages(topic string) []NtfyMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.messages), func(m NtfyMessage) bool { return m.Topic != topic })
}

// Publish publishes a text like any client with access.
func (s *Ntfy) Publish(topic, text string) {
	s.keep(NtfyMessage{Topic: topic, Message: text})
}

// patience is long enough for a busy machine.
const patience = 2 * time.Minute

// Wait waits until a topic has a number of messages; it returns false after two minutes.
func (s *Ntfy) Wait(topic string, count int) ([]NtfyMessage, bool) {
	timeout := time.After(patience)
	for {
		s.mu.Lock()
		news := s.news
		s.mu.Unlock()
		if got := s.Messages(topic); len(got) >= count {
			return got, true
		}
		select {
		case <-news:
		case <-timeout:
			return s.Messages(topic), false
		}
	}
}

// WaitReader waits for a subscriber; it returns false after two minutes.
func (s *Ntfy) WaitReader() bool {
	timeout := time.After(patience)
	for {
		s.mu.Lock()
		news, readers := s.news, s.readers
		s.mu.Unlock()
		if readers > 0 {
			return true
		}
		select {
		case <-news:
		case <-timeout:
			return false
		}
	}
}

func (s *Ntfy) keep(m NtfyMessage) NtfyMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.ID, m.Event, m.Time = fmt.Sprintf("m%09d", len(s.messages)), "message", time.Now().Unix()
	s.messages = append(s.messages, m)
	s.wake()
	return m
}

// wake wakes all waiting readers; mu is held.
func (s *Ntfy) wake() {
	close(s.news)
	s.news = make(chan struct{})
}

func (s *Ntfy) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(r.URL.Path, "/")
	topic, form, _ := strings.Cut(path, "/")
	publishes := r.Method == http.MethodPost || r.Method == http.MethodPut
	switch {
	case publishes && path == "":
		s.publishJSON(w, r)
	case publishes && form == "":
		body, _ := io.ReadAll(io.LimitReader(r.Body, maxMessage))
		if !s.lets(r, topic, true) {
			refuseRequest(w, http.StatusForbidden, 40301, "forbidden")
			return
		}
		writeLine(w, s.keep(NtfyMessage{Topic: topic, Message: string(body)}))
	case r.Method == http.MethodGet && form == "json":
		s.stream(w, r, topic)
	default:
		refuseRequest(w, http.StatusNotFound, 40401, "page not found")
	}
}

// lets reports whether a request may read a topic, or write to it.
func (s *Ntfy) lets(r *http.Request, topic string, writes bool) bool {
	isPublic := writes && slices.Contains(s.Open, topic) || !writes && topic == s.PublicTopic
	return isPublic || s.Token == "" || r.Header.Get("Authorization") == "Bearer "+s.Token
}

// publishJSON accepts a message as JSON, at the root of the server.
func (s *Ntfy) publishJSON(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if len(s.fail) > 0 {
		code := s.fail[0]
		s.fail = s.fail[1:]
		s.mu.Unlock()
		refuseRequest(w, code, code*100, "told to fail")
		return
	}
	s.mu.Unlock()
	body, err := io.ReadAll(io.LimitReader(r.Body, 4*maxMessage))
	var m NtfyMessage
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	if err == nil {
		err = strict.Decode(&m)
	}
	switch {
	case err != nil || m.ID != "" || m.Event != "" || m.Time != 0:
		refuseRequest(w, http.StatusBadRequest, 40024, "invalid request: request body must be valid JSON")
	case !topicName.MatchString(m.Topic):
		refuseRequest(w, http.StatusBadRequest, 40009, "invalid request: topic invalid")
	case m.Priority < 0 || m.Priority > 5 || len(m.Message) > maxMessage:
		refuseRequest(w, http.StatusBadRequest, 40007, "invalid request: priority or message invalid")
	case len(m.Actions) > maxActions || slices.ContainsFunc(m.Actions, invalidAction):
		refuseRequest(w, http.StatusBadRequest, 40018, "invalid request: actions invalid")
	case !s.lets(r, m.Topic, true):
		refuseRequest(w, http.StatusForbidden, 40301, "forbidden")
	default:
		writeLine(w, s.keep(m))
	}
}

func invalidAction(a Action) bool {
	return a.Action != "http" || a.Label == "" || a.URL == ""
}

// stream answers with one line for each message: those after since and, unless poll is set, new
// ones.
func (s *Ntfy) stream(w http.ResponseWriter, r *http.Request, topic string) {
	if !s.lets(r, topic, false) {
		refuseRequest(w, http.StatusForbidden, 40301, "forbidden")
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	s.mu.Lock()
	next, since, poll := len(s.messages), r.URL.Query().Get("since"), r.URL.Query().Get("poll") == "1"
	if since == "all" || since == "" && poll {
		next = 0
	} else if at := slices.IndexFunc(s.messages, func(m NtfyMessage) bool { return m.ID == since }); at >= 0 {
		next = at + 1
	} else if at, err := strconv.ParseInt(since, 10, 64); err == nil {
		for next > 0 && s.messages[next-1].Time >= at {
			next--
		}
	}
	if !poll {
		s.readers++
		s.wake()
	}
	s.mu.Unlock()
	if !poll {
		writeLine(w, NtfyMessage{ID: "open", Event: "open", Topic: topic, Time: time.Now().Unix()})
	}
	for {
		s.mu.Lock()
		news, fresh := s.news, slices.Clone(s.messages[next:])
		s.mu.Unlock()
		next += len(fresh)
		for _, m := range fresh {
			if m.Topic == topic {
				writeLine(w, m)
			}
		}
		if poll {
			return
		}
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

func writeLine(w http.ResponseWriter, m NtfyMessage) {
	_ = json.NewEncoder(w).Encode(m)
	_ = http.NewResponseController(w).Flush()
}

func refuseRequest(w http.ResponseWriter, status, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"code":%d,"http":%d,"error":%q}`+"\n", code, status, text)
}
