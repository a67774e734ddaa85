package editor

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// A chain of proxies is led by a conductor, which speaks with each of them over one pair of
// streams. Messages from and to the next proxy are in an envelope; messages from and to the
// previous one are not.
const (
	methodSuccessor       = "_proxy/successor"
	methodProxyInitialize = "_proxy/initialize"
	methodInitialize      = "initialize"
)

// NewLink returns the two sides of a proxy that is a link of a chain.
func NewLink(conductor *jsonrpc.Peer) (editor, agent jsonrpc.Side) {
	l := &link{conductor: conductor, sent: jsonrpc.NewTable[struct{}](maxPending)}
	l.editor = &linkSide{link: l, lines: make(chan []byte)}
	l.agent = &linkSide{link: l, lines: make(chan []byte), wraps: true}
	go l.sort()
	return l.editor, l.agent
}

// A link sorts the conductor's messages by their origin.
type link struct {
	conductor     *jsonrpc.Peer
	editor, agent *linkSide

	mu   sync.Mutex
	sent jsonrpc.Table[struct{}] // the requests sent to the next proxy
	err  error                   // read it after lines is closed
}

// sort distributes the lines to the sides until the conductor ends.
func (l *link) sort() {
	defer close(l.editor.lines)
	defer close(l.agent.lines)
	for {
		line, err := l.conductor.Read()
		if err != nil {
			l.err = err
			return
		}
		if to, line := l.open(line); to != nil {
			to.lines <- line
		}
	}
}

// open determines the origin of a line, and unwraps its envelope. It returns nil for a line that
// cannot be opened.
func (l *link) open(line []byte) (*linkSide, []byte) {
	m, err := jsonrpc.Parse(line)
	switch {
	case err != nil:
		return l.agent, line // which does not forward unreadable lines
	case m.IsResponse():
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, known := l.sent.Take(m.Key()); known {
			return l.agent, line
		}
	case m.Method == methodProxyInitialize:
		return l.editor, jsonrpc.Call(m.ID, methodInitialize, m.Params)
	case m.Method == methodSuccessor:
		method, params, err := openEnvelope(m.Params)
		if err == nil {
			return l.agent, jsonrpc.Call(m.ID, method, params)
		}
		if m.HasID() {
			// If the conductor does not accept the answer, the next read fails.
			_ = l.conductor.Write(jsonrpc.Refuse(m.ID, jsonrpc.CodeInvalidParams, err.Error()))
		}
		return nil, nil
	}
	return l.editor, line
}

// openEnvelope unwraps a message.
func openEnvelope(params json.RawMessage) (method string, inner json.RawMessage, err error) {
	o, err := readParams(params)
	if err != nil {
		return "", nil, err
	}
	if method, err = o.RequiredText("method"); err != nil {
		return "", nil, err
	}
	if strings.HasPrefix(method, "_proxy/") {
		return "", nil, umpire.Errorf("method: %q cannot be in an envelope", method)
	}
	return method, o["params"], nil
}

// closeEnvelope wraps a message in an envelope.
func closeEnvelope(m *jsonrpc.Message) []byte {
	params := append([]byte(`{"method":`), encode(m.Method)...)
	if m.Params != nil {
		params = append(append(params, `,"params":`...), m.Params...)
	}
	return jsonrpc.Call(m.ID, methodSuccessor, append(params, '}'))
}

// A linkSide is one side of a link.
type linkSide struct {
	link  *link
	lines chan []byte
	wraps bool
}

// Read returns the next line from this side.
func (s *linkSide) Read() ([]byte, error) {
	line, ok := <-s.lines
	if !ok {
		if errors.Is(s.link.err, io.EOF) {
			return nil, io.EOF
		}
		return nil, s.link.err
	}
	return line, nil
}

// Write writes a message to this side.
func (s *linkSide) Write(message []byte) error {
	m, err := jsonrpc.Parse(message)
	if err == nil && s.wraps && m.Method != "" {
		if m.HasID() {
			s.link.mu.Lock()
			s.link.sent.Put(m.Key(), struct{}{})
			s.link.mu.Unlock()
		}
		message = closeEnvelope(&m)
	}
	return s.link.conductor.Write(message)
}
