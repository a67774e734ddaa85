// Package jsonrpc reads and writes the JSON-RPC messages of two programs that talk through umpire,
// one message per line. A forwarded message keeps its bytes:
//
//	line, err := peer.Read()
//	m, err := jsonrpc.Parse(line)
//	if m.Method == "tools/call" { ... }
//	err = other.Write(m.Raw)
//
// A message must mean the same to every reader, because it is judged by its meaning here: duplicate
// names, or names that differ only in case, are errors.
//
// # MCP over HTTP
//
// The messages of MCP also go over HTTP, by the transport that the protocol calls Streamable HTTP.
// Nothing is judged here: both ends of a proxy stay a [Side].
//
//	remote := jsonrpc.DialMCP(ctx, "https://mcp.example.com/mcp", header)
//	proxy := mcp.Proxy{Client: client, Server: remote, HangUp: remote.Close, ...}
//
// Each message is posted by itself. The answer is a JSON object or a stream of events; a stream
// that breaks before its answer is resumed if the server supports it, and no request is sent a
// second time. Incoming messages are bounded, and must be unambiguous JSON.
package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// A Message is a request, a notification or a response.
type Message struct {
	// Raw is the whole message as received, with its newline.
	Raw []byte
	// ID is the id as written; nil in a notification.
	ID json.RawMessage
	// Method is "" in a response.
	Method string
	Params json.RawMessage
	// Result and Error are set in a response.
	Result, Error json.RawMessage
}

// Codes of errors that umpire answers with.
const (
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeCancelled      = -32800
	CodeDenied         = -32001
)

// Parse parses a message. With an error the message has only its Raw bytes.
func Parse(line []byte) (Message, error) {
	m := Message{Raw: line}
	o, err := strictjson.ReadObject(line)
	if err == nil {
		err = o.CheckSpelling()
	}
	if err != nil {
		return m, umpire.Errorf("read a JSON-RPC message: %w", err)
	}
	if m.Method, err = o.Text("method"); err != nil {
		return Message{Raw: line}, umpire.Errorf("read a JSON-RPC message: %w", err)
	}
	for folded := range o {
		if err := checkName(folded); err != nil {
			return Message{Raw: line}, umpire.Errorf("read a JSON-RPC message: %w", err)
		}
	}
	m.ID, m.Params, m.Result, m.Error = o["id"], o["params"], o["result"], o["error"]
	return m, nil
}

// names are the members that a message gives a meaning to.
var names = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// checkName rejects a name that equals a known one except for case.
func checkName(name string) error {
	for _, known := range names {
		if name != known && bytes.EqualFold([]byte(name), []byte(known)) {
			return umpire.Errorf("%q: want %q", name, known)
		}
	}
	return nil
}

// IsRequest reports whether the message expects an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.HasID() }

// IsResponse reports whether the message is an answer.
func (m *Message) IsResponse() bool { return m.Method == "" && m.HasID() }

// HasID reports whether the message has an id by which it can be answered.
func (m *Message) HasID() bool { return len(m.ID) > 0 && string(m.ID) != "null" }

// HasValidID reports whether the id, if present, is a text or a number, as the protocol requires.
func (m *Message) HasValidID() bool {
	return !m.HasID() || m.ID[0] == '"' || m.ID[0] == '-' || m.ID[0] >= '0' && m.ID[0] <= '9'
}

// Key returns the id in a form that is equal for equal ids.
func (m *Message) Key() string { return KeyOf(m.ID) }

// KeyOf returns an id in a form that is equal for equal ids.
func KeyOf(id json.RawMessage) string {
	if len(id) > 0 && id[0] == '"' {
		return `"` + strictjson.UnquoteText(id)
	}
	if bytes.ContainsAny(id, ".eE") {
		if number, err := strconv.ParseFloat(string(id), 64); err == nil {
			return strconv.FormatFloat(number, 'f', -1, 64) // 1.0 equals 1
		}
	}
	return string(id)
}

// version is the version of JSON-RPC.
const version = "2.0"

// Call returns a request, or a notification if id is nil. The params are written byte for byte; nil
// omits them.
func Call(id json.RawMessage, method string, params json.RawMessage) []byte {
	line := []byte(`{"jsonrpc":"` + version + `"`)
	if id != nil {
		line = append(append(line, `,"id":`...), id...)
	}
	line = append(append(line, `,"method":`...), bytes.TrimSpace(strictjson.EncodeLine(method))...)
	if params != nil {
		line = append(append(line, `,"params":`...), params...)
	}
	return append(line, '}', '\n')
}

// Answer returns the answer to a request.
func Answer(id json.RawMessage, result any) []byte {
	return strictjson.EncodeLine(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{version, id, result})
}

// Refuse returns the error that answers a request.
func Refuse(id json.RawMessage, code int, text string) []byte {
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	return strictjson.EncodeLine(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   failure         `json:"error"`
	}{version, id, failure{code, text}})
}

// RefuseUnread returns the answer to a line that is not forwarded, with the id null if it cannot be
// read. It returns nil for an object without an id, which is not a request.
func RefuseUnread(line []byte, why error) []byte {
	o, err := strictjson.ReadObject(line)
	m := Message{ID: o["id"]}
	switch {
	case o == nil && err != nil, m.HasID() && !m.HasValidID():
		m.ID = json.RawMessage("null")
	case !m.HasID():
		return nil
	}
	return Refuse(m.ID, CodeInvalidRequest, "umpire: "+why.Error())
}
