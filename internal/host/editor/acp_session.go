package editor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// Limits on the remembered data. Beyond them the oldest entries are forgotten, and then asked about
// again.
const (
	maxSessions = 256
	maxTools    = 1024 // of a session
	maxPasses   = 64   // of a session
	maxPending  = 4096 // requests of each side without an answer
)

// A session is one conversation of the editor with the agent.
type session struct {
	id      string // the id used by the editor and the agent
	project string
	// tools are the agent's reports on its calls, by their ids.
	tools jsonrpc.Table[json.RawMessage]
	// asked are the calls that were judged, by the agent's ids, until they have a result.
	asked jsonrpc.Table[umpire.Call]
	// passes are the calls that were allowed in a question, and may run once.
	passes []string
}

// umpireID returns umpire's id of the session: the same id if it is fit to be shown.
func (s *session) umpireID() umpire.SessionID {
	id := umpire.SessionID(s.id)
	if id != "" && umpire.CheckID("sessionId", id) == nil {
		return id
	}
	sum := sha256.Sum256([]byte(s.id))
	return umpire.SessionID("acp-" + hex.EncodeToString(sum[:16]))
}

// allow records calls that may run once.
func (s *session) allow(calls []umpire.Call) {
	for i := range calls {
		s.passes = append(s.passes, passOf(&calls[i]))
	}
	s.passes = s.passes[max(0, len(s.passes)-maxPasses):]
}

// usePass uses up one pass for a call, if there is one.
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

// passOf returns a text that is equal for calls that do exactly the same.
func passOf(call *umpire.Call) string {
	sum := sha256.Sum256(slices.Concat(encode([]string{call.Tool, call.Dir}), call.Input))
	return string(sum[:])
}

// sessionParams are the relevant parameters of the editor's requests about sessions.
type sessionParams struct {
	Session string          `json:"sessionId"`
	Dir     string          `json:"cwd"`
	Prompt  json.RawMessage `json:"prompt"`
}

// open remembers a session. A session with an unknown folder is judged without one, which denies.
func (p *ACPProxy) open(id, dir string) {
	s, known := p.sessions.Get(id)
	if !known {
		s = &session{id: id}
		s.tools, s.asked = jsonrpc.NewTable[json.RawMessage](maxTools), jsonrpc.NewTable[umpire.Call](maxTools)
		p.sessions.Put(id, s)
	}
	if filepath.IsAbs(dir) {
		s.project = filepath.Clean(dir)
	}
}

// sessionOf returns the session that a message is about.
func (p *ACPProxy) sessionOf(params json.RawMessage) (*session, error) {
	var about sessionParams
	if err := json.Unmarshal(params, &about); err != nil || about.Session == "" {
		return nil, umpire.Errorf("sessionId: missing")
	}
	s, known := p.sessions.Get(about.Session)
	if !known || s.project == "" {
		return nil, umpire.Errorf("session %q: its folder is unknown", about.Session)
	}
	return s, nil
}

// noteRequest processes a request of the editor that may open a session or begin a turn.
func (p *ACPProxy) noteRequest(m *jsonrpc.Message) *Notice {
	var about sessionParams
	if json.Unmarshal(m.Params, &about) != nil {
		return nil
	}
	if about.Session != "" && about.Dir != "" { // session/load, session/resume
		p.open(about.Session, about.Dir)
	}
	s, _ := p.sessions.Get(about.Session)
	if m.Method != "session/prompt" || s == nil {
		return nil
	}
	s.passes = nil
	return &Notice{Kind: Prompted, Session: s.umpireID(), Project: s.project, Text: promptText(about.Prompt)}
}

// noteResponse processes the agent's answer to such a request.
func (p *ACPProxy) noteResponse(request, m *jsonrpc.Message) *Notice {
	var asked, said sessionParams
	if json.Unmarshal(request.Params, &asked) != nil || m.Result == nil {
		return nil
	}
	if json.Unmarshal(m.Result, &said) == nil && said.Session != "" && asked.Dir != "" {
		p.open(said.Session, asked.Dir) // session/new, session/fork
	}
	s, _ := p.sessions.Get(asked.Session)
	if request.Method != "session/prompt" || s == nil {
		return nil
	}
	s.passes = nil
	return &Notice{Kind: Stopped, Session: s.umpireID(), Project: s.project}
}

// promptText returns only the text of a prompt.
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
