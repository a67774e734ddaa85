// Package anthropic asks models over Anthropic's Messages interface.
//
//	model, err := anthropic.New("claude-sonnet-5", llm.Options{})
//	message, err := model.Reply(ctx, request, nil)
//
// The server and the credentials come from the same environment variables as for Anthropic's own
// programs: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_CUSTOM_HEADERS;
// without a key from the profile of a login, or from federation.
//
// Thinking is kept with its signature and sent back unchanged. The form on the wire is
// that of https://platform.claude.com/docs/en/api/messages.
package anthropic

import (
	"cmp"
	"context"
	"net/http"
	"os"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// provider marks blocks that this provider requires back unchanged.
const provider = "anthropic"

// maxTokens is the longest requested reply. Every offered model can write as much.
const maxTokens = 32_000

// A Model is a model of Anthropic, or of a server with the same interface. It is safe for
// concurrent use.
type Model struct {
	name    string
	options llm.Options
	server  *llm.Endpoint
	login   *login // source of the key; nil if the server's header has it
}

// New returns a model by its name. Without a key it fails with a *llm.NoKeyError.
func New(name string, o llm.Options) (*Model, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	server := endpoint(cmp.Or(os.Getenv("ANTHROPIC_BASE_URL"), defaultBase))
	server.AddHeaders(os.Getenv("ANTHROPIC_CUSTOM_HEADERS"))
	m := &Model{name: name, options: o, server: server}
	if key := os.Getenv(keyVariable); key != "" {
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
	keyVariable = "ANTHROPIC_API_KEY"
	defaultBase = "https://api.anthropic.com"
	version     = "2023-06-01"
)

func endpoint(base string) *llm.Endpoint {
	return &llm.Endpoint{URL: base, Header: http.Header{"Anthropic-Version": {version}}}
}

// windows are the context sizes from the provider's list of models.
var windows = llm.Windows{"claude-": 200_000}

// Window returns the model's context in tokens, or 0 for an unknown name.
func (m *Model) Window() int64 { return windows.Of(m.name) }

// Reply sends the request and reads the stream until the message is complete.
func (m *Model) Reply(ctx context.Context, r llm.Request, onDelta func(llm.Delta)) (llm.Message, error) {
	server := m.server
	if m.login != nil {
		var err error
		if server, err = m.login.endpoint(ctx, server); err != nil {
			return llm.Message{}, err
		}
	}
	stream := server.Post(ctx, m.options, "v1/messages", m.requestBody(r))
	defer stream.Close()
	reply := &reply{onDelta: onDelta}
	for stream.Next() {
		var event event
		if !stream.Decode(&event) {
			break
		}
		if event.Type == "error" {
			return llm.Message{}, event.Error.failure()
		}
		if reply.addEvent(&event) {
			return reply.message()
		}
	}
	return llm.Message{}, failureOf(stream.Err())
}
