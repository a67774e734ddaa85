package llm

import (
	"cmp"
	"context"
	"net/http"
	"os"
)

// This file asks models over Anthropic's Messages interface, whose form on the wire is that of
// https://platform.claude.com/docs/en/api/messages. Thinking is kept with its signature and sent back unchanged.
//
// The server and the credentials come from the same environment variables as for Anthropic's own
// programs: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_CUSTOM_HEADERS;
// without a key from the profile of a login, or from federation.

// anthropicName marks blocks that this provider requires back unchanged.
const anthropicName = "anthropic"

// maxTokens is the longest requested reply. Every offered model can write as much.
const maxTokens = 32_000

// A Anthropic is a model of Anthropic, or of a server with the same interface. It is safe for
// concurrent use.
type Anthropic struct {
	name    string
	options Options
	server  *Endpoint
	login   *anthropicLogin // source of the key; nil if the server's header has it
}

// NewAnthropic returns a model by its name. Without a key it fails with a [NoKeyError].
func NewAnthropic(name string, o Options) (*Anthropic, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	server := anthropicEndpoint(cmp.Or(os.Getenv("ANTHROPIC_BASE_URL"), anthropicDefaultBase))
	server.AddHeaders(os.Getenv("ANTHROPIC_CUSTOM_HEADERS"))
	m := &Anthropic{name: name, options: o, server: server}
	if key := os.Getenv(anthropicKey); key != "" {
		server.Header.Set("X-Api-Key", key)
	} else if token := os.Getenv("ANTHROPIC_AUTH_TOKEN"); token != "" {
		server.Header.Set("Authorization", "Bearer "+token)
	} else {
		var err error
		if m.login, err = findLogin(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

const (
	anthropicKey         = "ANTHROPIC_API_KEY"
	anthropicDefaultBase = "https://api.anthropic.com"
	version              = "2023-06-01"
)

func anthropicEndpoint(base string) *Endpoint {
	return &Endpoint{URL: base, Header: http.Header{"Anthropic-Version": {version}}}
}

// claudeWindows are the context sizes from the provider's list of models.
var claudeWindows = windows{"claude-": 200_000}

// Window returns the model's context in tokens, or 0 for an unknown name.
func (m *Anthropic) Window() int64 { return claudeWindows.Of(m.name) }

// Reply sends the request and reads the stream until the message is complete.
func (m *Anthropic) Reply(ctx context.Context, r Request, onDelta func(Delta)) (Message, error) {
	server := m.server
	if m.login != nil {
		var err error
		if server, err = m.login.endpoint(ctx, server); err != nil {
			return Message{}, err
		}
	}
	stream := server.Post(ctx, m.options, "v1/messages", m.requestBody(r))
	defer stream.Close()
	reply := &anthropicReply{onDelta: onDelta}
	for stream.Next() {
		var event anthropicEvent
		if !stream.Decode(&event) {
			break
		}
		if event.Type == "error" {
			return Message{}, event.Error.failure()
		}
		if reply.addEvent(&event) {
			return reply.message()
		}
	}
	return Message{}, anthropicFailure(stream.Err())
}
