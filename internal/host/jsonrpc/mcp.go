package jsonrpc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/files"
)

// Header fields of the transport, and kinds of content.
const (
	headerSession   = "Mcp-Session-Id"
	headerVersion   = "Mcp-Protocol-Version"
	headerLastEvent = "Last-Event-Id"
	headerMethod    = "Mcp-Method"
	headerName      = "Mcp-Name"

	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// Versions of the protocol in which the transport changed. They compare as texts.
const (
	versionPrimed    = "2025-11-25" // a stream begins with an event that only has an id
	versionStateless = "2026-07-28" // no sessions, and only streams that belong to requests
)

// Methods with a meaning for the transport.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	methodProgress    = "notifications/progress"
	methodList        = "tools/list"
	methodCall        = "tools/call"
)

const (
	// maxPosts bounds the requests under way; further ones are refused.
	maxPosts = 256
	// maxTools bounds the tools whose repeated arguments are remembered.
	maxTools = 4096
	// maxChallenge bounds the kept part of a server's sign-in challenge.
	maxChallenge = 300
	// maxResumes is how often a broken stream is resumed without a new event.
	maxResumes = 5
	// noticeTime is how long a server may take to accept a message that is not a request, and
	// endTime to end its session.
	noticeTime = 10 * time.Second
	endTime    = 2 * time.Second
	// firstDelay and longestDelay are the pauses between attempts to resume a stream.
	firstDelay   = time.Second
	longestDelay = 30 * time.Second
)

// RefuseRedirect rejects redirects of an [http.Client]: requests may contain keys, and calls private data.
func RefuseRedirect(r *http.Request, _ []*http.Request) error {
	return umpire.Errorf("the server redirects to %s, which umpire does not follow", r.URL.Host)
}

// compactLine writes a JSON value on one line.
func compactLine(value []byte) ([]byte, error) {
	o, err := strictjson.ReadObject(value)
	if err != nil {
		return nil, err
	}
	line := strictjson.EncodeLine(o)
	if line == nil {
		return nil, errors.New("not a message")
	}
	return line, nil
}

// versionOf returns the protocol version that a request claims, or "".
func versionOf(params json.RawMessage) string {
	var said struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &said) // another form has no version
	return said.Meta.Version
}

// nameOf returns the object of a request: the name of a tool or a prompt, or a resource.
func nameOf(m *Message) string {
	var about struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	if json.Unmarshal(m.Params, &about) != nil {
		return ""
	}
	switch m.Method {
	case methodCall, "prompts/get":
		return about.Name
	case "resources/read":
		return about.URI
	}
	return ""
}

// Text that is not plain ASCII is encoded in a header field, between these marks.
const (
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

// headerText writes a text as the value of a header field.
func headerText(text string) string {
	plain := text == strings.TrimSpace(text) && !strings.HasPrefix(text, encodedPrefix) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	if plain {
		return text
	}
	return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(text)) + encodedSuffix
}

// challengeOf returns a server's sign-in challenge.
func challengeOf(h http.Header) string {
	return files.ClipTo(strings.ToValidUTF8(h.Get("WWW-Authenticate"), ""), maxChallenge, "…")
}

// contentType returns the media type of a message.
func contentType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
