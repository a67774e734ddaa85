package acp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/jsonrpc"
)

// Bounds of what is remembered. What does not fit is forgotten, the oldest first, and then
// asked about again.
const (
	maxSessions = 256
	maxTools    = 1024 // of a session
	maxPasses   = 64   // of a session
	maxPending  = 4096 // requests of each side without an answer
)

// A session is one conversation of the editor with the agent.
type session struct {
	id      string // as the two call it
	project string
	// tools are what the agent said of its calls, by their ids.
	tools table[json.RawMessage]
	// asked are the calls that were judged, by the agent's ids, until they have a result.
	asked table[umpire.Call]
	// passes are what was allowed in a question, and may be done once.
	passes []string
}

// umpireID is the session as umpire calls it: by the same id where that is fit to be shown.
func (s *session) umpireID() umpire.SessionID {
	id := umpire.SessionID(s.id)
	if id != "" && umpire.CheckID("sessionId", id) == nil {
		return id
	}
	sum := sha256.Sum256([]byte(s.id))
	return umpire.SessionID("acp-" + hex.EncodeToString(sum[:16]))
}

// allow remembers what may be done once.
func (s *session) allow(calls []umpire.Call) {
	for i := range calls {
		s.passes = append(s.passes, passOf(&calls[i]))
	}
	s.passes = s.passes[max(0, len(s.passes)-maxPasses):]
}

// usePass takes back one permission for a call, if there is one.
func (s *session) usePass(call *umpire.Call) bool {
	wanted := passOf(call)
	for i, pass := range s.passes {
		if pass == wanted {
			s.passes = append(s.passes[:i:i], s.passes[i+1:]...)
			return true
		}
	}
	return false
}

// passOf is equal for calls that do exactly the same.
func passOf(call *umpire.Call) string {
	sum := sha256.Sum256(slices.Concat(encode([]string{call.Tool, call.Dir}), call.Input))
	return string(sum[:])
}

// A table is a map that forgets its oldest entry when it is full.
type table[V any] struct {
	limit int
	order []string
	of    map[string]V
}

func newTable[V any](limit int) table[V] { return table[V]{limit: limit, of: map[string]V{}} }

// put remembers a value.
func (t *table[V]) put(key string, value V) {
	if _, known := t.of[key]; !known {
		t.order = append(t.order, key)
	}
	t.of[key] = value
	for len(t.order) > t.limit {
		delete(t.of, t.order[0])
		t.order = t.order[1:]
	}
}

// take returns a value and forgets it.
func (t *table[V]) take(key string) (V, bool) {
	value, ok := t.of[key]
	if !ok {
		return value, false
	}
	delete(t.of, key)
	for i, k := range t.order {
		if k == key {
			t.order = append(t.order[:i], t.order[i+1:]...)
			break
		}
	}
	return value, true
}

// sessionParams are the parameters of the editor's requests about sessions that matter here.
type sessionParams struct {
	Session string          `json:"sessionId"`
	Dir     string          `json:"cwd"`
	Prompt  json.RawMessage `json:"prompt"`
}

// open remembers a session. A session whose folder is not known is judged in none, which
// denies.
func (p *Proxy) open(id, dir string) {
	s, known := p.sessions.of[id]
	if !known {
		s = &session{id: id, tools: newTable[json.RawMessage](maxTools), asked: newTable[umpire.Call](maxTools)}
		p.sessions.put(id, s)
	}
	if filepath.IsAbs(dir) {
		s.project = filepath.Clean(dir)
	}
}

// sessionOf is the session that a message is about.
func (p *Proxy) sessionOf(params json.RawMessage) (*session, error) {
	var about sessionParams
	if err := json.Unmarshal(params, &about); err != nil || about.Session == "" {
		return nil, umpire.Errorf("sessionId: missing")
	}
	s, known := p.sessions.of[about.Session]
	if !known || s.project == "" {
		return nil, umpire.Errorf("session %q: the folder that it was opened in is not known", about.Session)
	}
	return s, nil
}

// noteRequest looks at a request of the editor that may open a session or begin a turn.
func (p *Proxy) noteRequest(m *jsonrpc.Message) *Notice {
	var about sessionParams
	if json.Unmarshal(m.Params, &about) != nil {
		return nil
	}
	if about.Session != "" && about.Dir != "" { // session/load, session/resume
		p.open(about.Session, about.Dir)
	}
	s := p.sessions.of[about.Session]
	if m.Method != "session/prompt" || s == nil {
		return nil
	}
	s.passes = nil
	return &Notice{Kind: Prompted, Session: s.umpireID(), Project: s.project, Text: promptText(about.Prompt)}
}

// noteResponse looks at the agent's answer to such a request.
func (p *Proxy) noteResponse(request, m *jsonrpc.Message) *Notice {
	var asked, said sessionParams
	if json.Unmarshal(request.Params, &asked) != nil || m.Result == nil {
		return nil
	}
	if json.Unmarshal(m.Result, &said) == nil && said.Session != "" && asked.Dir != "" {
		p.open(said.Session, asked.Dir) // session/new, session/fork
	}
	s := p.sessions.of[asked.Session]
	if request.Method != "session/prompt" || s == nil {
		return nil
	}
	s.passes = nil
	return &Notice{Kind: Stopped, Session: s.umpireID(), Project: s.project}
}

// promptText is the text of a prompt, without what else is in it.
func promptText(prompt json.RawMessage) string {
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(prompt, &blocks) != nil {
		return ""
	}
	text := ""
	for _, b := range blocks {
		if b.Text != "" && text != "" {
			text += "\n"
		}
		text += b.Text
	}
	return text
}
