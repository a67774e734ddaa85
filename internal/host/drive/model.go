package drive

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Call is a tool call made by the scripted model.
type Call struct {
	ID, Tool string
	Input    map[string]any
	// Fields are sent over Responses in addition, or in place of the usual ones.
	Fields map[string]any
}

// A Turn is one message of the model. A turn without calls ends the play.
type Turn []Call

// A Result is the agent's report to the model about a call.
type Result struct {
	Text    string
	IsError bool
}

// A Model plays turns over the interfaces of four providers: Anthropic's Messages, OpenAI's
// Responses and Chat Completions, and Gemini's generateContent. It keeps no state about the
// conversation: a turn is over once a request contains a result for one of its calls.
type Model struct {
	// URL is the address of the server, on the loopback.
	URL string
	// Main is the script. It is set before the first request.
	Main []Turn
	// Choose, if set, picks the turn for a request in place of [NextTurn] of Main. Requests without tools,
	// such as those for titles, play no turn.
	Choose func(Request) Turn

	server *http.Server
	done   chan struct{}

	mu      sync.Mutex
	results map[string]Result
	calls   map[string]bool // calls it has made
	replies int
}

// StartModel starts a model on a free port of the loopback.
func StartModel(main ...Turn) (*Model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not block
	if err != nil {
		return nil, err
	}
	m := &Model{
		URL: "http://" + listener.Addr().String(), Main: main, done: make(chan struct{}),
		results: map[string]Result{}, calls: map[string]bool{},
	}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(m.done)
		_ = m.server.Serve(listener) // it ends with Close
	}()
	return m, nil
}

// Close ends the server.
func (m *Model) Close() {
	_ = m.server.Close() // the agents are gone by then
	<-m.done
}

// Result returns the reported result of a call.
func (m *Model) Result(id string) (Result, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.results[id]
	return r, ok
}

// Made reports whether the model has made a call.
func (m *Model) Made(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[id]
}

// A Request is the part of a request that matters here.
type Request struct {
	First   string // the user's message
	Tools   []string
	Results map[string]Result
	Body    []byte // as it was sent

	stream bool
}

// A wire is one of the interfaces.
type wire interface {
	// read reads the body of a request.
	read(body []byte) (Request, error)
	// write writes a message; id must be unique.
	write(w http.ResponseWriter, id string, stream bool, text string, calls Turn)
}

// wires are the interfaces by the end of their path.
var wires = map[string]wire{
	"/messages":              messagesWire{},
	"/responses":             responsesWire{},
	"/chat/completions":      chatWire{},
	":generateContent":       geminiWire{},
	":streamGenerateContent": geminiWire{},
}

// ServeHTTP answers the model's endpoints and nothing else.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if r.Method == http.MethodPost {
		switch {
		case strings.HasSuffix(path, "/messages/count_tokens"):
			writeJSON(w, map[string]any{"input_tokens": 10})
			return
		case strings.HasSuffix(path, ":countTokens"):
			writeJSON(w, map[string]any{"totalTokens": 10})
			return
		}
		for end, wire := range wires {
			if strings.HasSuffix(path, end) {
				m.answer(w, r, wire, end == ":streamGenerateContent")
				return
			}
		}
	}
	if strings.HasSuffix(path, "/models") {
		model := map[string]any{"id": modelName, "object": "model"}
		writeJSON(w, map[string]any{"object": "list", "data": []any{model}, "models": []any{}})
		return
	}
	http.NotFound(w, r)
}

// modelName is the model name in the replies.
const modelName = "scripted"

func (m *Model) answer(w http.ResponseWriter, r *http.Request, wire wire, stream bool) {
	var body json.RawMessage
	err := json.NewDecoder(r.Body).Decode(&body)
	var q Request
	if err == nil {
		q, err = wire.read(body)
		q.Body = body
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	calls, n := m.next(q)
	text := "working"
	if len(calls) == 0 {
		text = "done"
	}
	wire.write(w, fmt.Sprintf("msg_%d", n), q.stream || stream, text, calls)
}

// setScript replaces the script. A request of an agent that is ending may still arrive.
func (m *Model) setScript(turns []Turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Main = turns
}

// next records the results in a request and picks the turn to play; n numbers the reply.
func (m *Model) next(q Request) (turn Turn, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies++
	maps.Copy(m.results, q.Results)
	switch {
	case len(q.Tools) == 0: // a title or a summary
	case m.Choose != nil:
		turn = m.Choose(q)
	default:
		turn = NextTurn(m.Main, q.Results)
	}
	for _, call := range turn {
		m.calls[call.ID] = true
	}
	return turn, m.replies
}

// NextTurn returns the turn after the last one of which a call has a result, or nil at the end.
func NextTurn(turns []Turn, results map[string]Result) Turn {
	played := 0
	for i, turn := range turns {
		for _, c := range turn {
			if _, ok := results[c.ID]; ok {
				played = i + 1
			}
		}
	}
	if played == len(turns) {
		return nil
	}
	return turns[played]
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a missing client is noticed at its end
}

// An eventStream writes server-sent events.
type eventStream struct{ out http.ResponseWriter }

func newEventStream(w http.ResponseWriter) eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	return eventStream{w}
}

// send writes one event; without a name it has only data.
func (s eventStream) send(name string, data any) {
	if name != "" {
		fmt.Fprintf(s.out, "event: %s\n", name)
	}
	fmt.Fprintf(s.out, "data: %s\n\n", encode(data))
	_ = http.NewResponseController(s.out).Flush() // a missing client is noticed at its end
}

// finish ends the events in the way of Chat Completions.
func (s eventStream) finish() { fmt.Fprint(s.out, "data: [DONE]\n\n") }

// encode returns v as JSON; it panics on errors, since all values are made here.
func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// fields is a JSON object.
type fields = map[string]any

// plainText joins the text of a message, which is a string or a list of parts.
func plainText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
		// Encrypted is a message between agents, which only a real model's server reads.
		Encrypted string `json:"encrypted_content"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return string(content)
	}
	for _, p := range parts {
		text += p.Text + p.Encrypted + "\n"
	}
	return text
}
