package fake

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// ModelKey is the only key that the server accepts.
	ModelKey = "sk-llmtest-0d4f7b1c9e2a"
	// ModelName is the server's only model.
	ModelName = "strict-1"
)

// A Request is an accepted request.
type Request struct {
	Host string
	Body json.RawMessage
}

// A ModelServer plays a script. It is safe for concurrent use.
type ModelServer struct {
	URL string

	http   *httptest.Server
	turns  []Turn
	window int

	mu       sync.Mutex
	faulted  map[int]int    // how many faults of each turn have happened
	played   map[int]string // the interface over which each turn was last played
	requests []Request
	refused  []string
	hanging  int           // hanging replies
	hang     chan struct{} // closed while one hangs
}

// StartModels starts a server that plays the turns. window is the number of request bytes that fit into
// the model's context; 0 means no limit.
func StartModels(turns []Turn, window int) *ModelServer {
	s := &ModelServer{
		turns: turns, window: window, faulted: map[int]int{}, played: map[int]string{}, hang: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/messages", s.speaks(messagesWire{}))
	mux.Handle("POST /v1/responses", s.speaks(responsesWire{}))
	mux.Handle("POST /v1/chat/completions", s.speaks(chatWire{}))
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close stops the server and its running replies.
func (s *ModelServer) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns the accepted requests, including those that met a fault.
func (s *ModelServer) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Refused returns the reasons of refusals that are not faults of the script.
func (s *ModelServer) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// Hanging returns a channel that is closed once a reply hangs.
func (s *ModelServer) Hanging() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hang
}

// A refusal is an error response; each wire encodes it in its own form.
type refusal struct {
	status              int
	kind, code, message string
	param               string
	header              map[string]string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.status, r.kind, r.message) }

// bad refuses a request as malformed.
func bad(param, format string, args ...any) error {
	return &refusal{
		status: http.StatusBadRequest, kind: "invalid_request_error", param: param,
		message: fmt.Sprintf(format, args...),
	}
}

// A wire is one of the interfaces.
type wire interface {
	// headers checks the headers of a request, and returns its key.
	headers(h http.Header) (key string, err error)
	// check checks a body, and returns the index of the next turn.
	check(body []byte, turns []Turn) (next int, err error)
	// refuse writes a refusal.
	refuse(w http.ResponseWriter, r *refusal)
	// fault returns the refusal for a fault of the script.
	fault(f Fault) *refusal
	// play writes a reply as events; mid is called when half of it is written.
	play(out *stream, n int, t *Turn, mid func())
	// more writes another piece of text.
	more(out *stream, text string)
	// failure writes an overload error into a reply that has begun.
	failure(out *stream)
}

// speaks serves one wire.
func (s *ModelServer) speaks(w wire) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		n, err := s.admit(w, r, body)
		if err != nil {
			s.refuses(out, w, r, err.(*refusal)) //nolint:errorlint,forcetypeassert // it never has another type
			return
		}
		s.playTurn(out, r, w, n)
	})
}

// admit checks a request like the real servers: the key first, then the body.
func (s *ModelServer) admit(w wire, r *http.Request, body []byte) (int, error) {
	key, err := w.headers(r.Header)
	if err != nil {
		return 0, err
	}
	if key != ModelKey {
		return 0, w.fault(faultKey)
	}
	if !json.Valid(body) {
		return 0, bad("", "We could not parse the JSON body of your request.")
	}
	if bytes.Contains(body, []byte(ModelKey)) {
		return 0, bad("", "llmtest: the key stands in the body") // stricter than the real ones: the key leaks
	}
	if s.window > 0 && len(body) > s.window {
		return 0, w.fault(faultTooLong)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := w.check(body, s.saidOver(r.URL.Path))
	if err != nil {
		return 0, err
	}
	s.requests = append(s.requests, Request{Host: r.Host, Body: body})
	return n, nil
}

// saidOver returns the turns as one interface knows them: without the thinking that was sent over
// another one.
func (s *ModelServer) saidOver(path string) []Turn {
	turns := slices.Clone(s.turns)
	for i := range turns {
		if s.played[i] != path {
			turns[i].Thinking = ""
		}
	}
	return turns
}

func (s *ModelServer) refuses(out http.ResponseWriter, w wire, r *http.Request, no *refusal) {
	s.mu.Lock()
	s.refused = append(s.refused, r.URL.Path+": "+no.Error())
	s.mu.Unlock()
	w.refuse(out, no)
}

// playTurn plays the turn, or its next fault.
func (s *ModelServer) playTurn(out http.ResponseWriter, r *http.Request, w wire, n int) {
	turn := Turn{Text: "done"}
	if n < len(s.turns) {
		turn = s.turns[n]
	}
	leave := r.Context().Done()
	select {
	case <-leave:
		return
	case <-time.After(time.Duration(turn.DelayMS * float64(time.Millisecond))):
	}
	stream := &stream{out: out}
	fault := s.fault(n, turn.Faults)
	switch fault {
	case "":
		s.mu.Lock()
		s.played[n] = r.URL.Path
		s.mu.Unlock()
		w.play(stream, n, &turn, func() {})
	case faultSilence:
		s.hangs(leave)
	case faultRedirect:
		elsewhere := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
		http.Redirect(out, r, elsewhere+r.URL.Path, http.StatusTemporaryRedirect)
	case faultBreak:
		w.play(stream, n, &turn, func() { panic(http.ErrAbortHandler) })
	case faultHang:
		w.play(stream, n, &turn, func() { s.hangs(leave); panic(http.ErrAbortHandler) })
	case faultFlood:
		w.play(stream, n, &turn, func() {
			for r.Context().Err() == nil {
				w.more(stream, floodPiece)
			}
			panic(http.ErrAbortHandler)
		})
	case faultEvent:
		w.play(stream, n, &turn, func() { w.failure(stream); panic(http.ErrAbortHandler) })
	case faultKey, faultRights, faultModel, faultRequest, faultTooLong, faultLimit, faultLongWait, faultOverload,
		faultServer:
		w.refuse(out, w.fault(fault))
	}
}

var floodPiece = strings.Repeat("flood ", 1<<12)

// fault returns the fault for the next request for a turn.
func (s *ModelServer) fault(n int, faults []Fault) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faulted[n] >= len(faults) {
		return ""
	}
	s.faulted[n]++
	return faults[s.faulted[n]-1]
}

// hangs blocks until the client leaves.
func (s *ModelServer) hangs(leave <-chan struct{}) {
	s.mu.Lock()
	if s.hanging++; s.hanging == 1 {
		close(s.hang)
	}
	s.mu.Unlock()
	<-leave
	s.mu.Lock()
	if s.hanging--; s.hanging == 0 {
		s.hang = make(chan struct{})
	}
	s.mu.Unlock()
}

// A stream writes server-sent events.
type stream struct {
	out   http.ResponseWriter
	begun bool
}

// fields is a JSON object.
type fields map[string]any

// event writes one event; without a name it has only data.
func (s *stream) event(name string, data any) {
	if !s.begun {
		s.begun = true
		s.out.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		s.out.WriteHeader(http.StatusOK)
	}
	text, isText := data.(string)
	if !isText {
		encoded, err := json.Marshal(data)
		if err != nil {
			panic(err) // all values are made here
		}
		text = string(encoded)
	}
	if name != "" {
		fmt.Fprintf(s.out, "event: %s\n", name)
	}
	fmt.Fprintf(s.out, "data: %s\n\n", text)
	if err := http.NewResponseController(s.out).Flush(); err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
}

// answerJSON writes a refusal's body.
func answerJSON(w http.ResponseWriter, r *refusal, body any) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range r.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(r.status)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the client may be gone
}

// sign returns a signature that only the server can make.
func sign(text string) string {
	mac := hmac.New(sha256.New, []byte("llmtest"))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// strictly decodes JSON, and rejects fields that the real interface does not know.
func strictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return bad("", "%s: Extra inputs are not permitted, or of another type", err)
	}
	return nil
}
