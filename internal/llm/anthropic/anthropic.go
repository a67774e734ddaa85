// Package anthropic asks models over Anthropic's Messages interface, through
// Anthropic's SDK.
//
//	model, err := anthropic.New("claude-sonnet-5", llm.Options{}) message, err :=
//	model.Reply(ctx, request, nil)
//
// The key, the base URL and what else there is are read from the environment, and
// from the profiles of Anthropic's own program, as the SDK does: ANTHROPIC_API_KEY,
// ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL. Requests that fail before a reply begins
// are tried again by the SDK, twice, and later if the server asks for it.
//
// Thinking is kept with its signature and sent back unchanged. The form on the wire is
// that of https://platform.claude.com/docs/en/api/messages.
package anthropic

import (
	"context"
	"os"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/config"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/umpirehq/umpire/internal/llm"
)

// provider marks what this provider wants back unchanged.
const provider = "anthropic"

// maxTokens is the longest reply that is asked for. Every model that is offered can
// write as much.
const maxTokens = 32_000

// A Model is one model of Anthropic's, or of a server that speaks as Anthropic's do.
// It is safe for concurrent use.
type Model struct {
	name     string
	options  llm.Options
	messages sdk.MessageService
}

// New returns a model by its name. Without a key it fails with a *llm.NoKeyError.
func New(name string, o llm.Options) (*Model, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if !hasCredentials() {
		return nil, &llm.NoKeyError{Provider: provider, Variable: keyVariables[0]}
	}
	return newModel(name, o, sdk.DefaultClientOptions()), nil
}

func newModel(name string, o llm.Options, options []option.RequestOption) *Model {
	options = append(options, option.WithHTTPClient(llm.HTTPClient()))
	return &Model{name: name, options: o, messages: sdk.NewMessageService(options...)}
}

// windows are what the provider's list of models says.
var windows = llm.Windows{"claude-": 200_000}

// Window is the model's context in tokens, 0 for a name that is not known.
func (m *Model) Window() int64 { return windows.Of(m.name) }

// keyVariables name the ways to give a key, the usual one first.
var keyVariables = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID",
}

// hasCredentials reports whether the SDK will find something to prove itself with.
func hasCredentials() bool {
	for _, name := range keyVariables {
		if os.Getenv(name) != "" {
			return true
		}
	}
	_, err := config.LoadConfig()
	return err == nil
}

// Reply asks the model, and listens until the message is whole.
func (m *Model) Reply(ctx context.Context, r llm.Request, onDelta func(llm.Delta)) (llm.Message, error) {
	ctx, line := llm.Watch(ctx, m.options)
	defer line.Close()
	stream := m.messages.NewStreaming(ctx, m.params(r), option.WithMiddleware(line.Middleware))
	defer stream.Close()
	reply := &reply{onDelta: onDelta}
	for stream.Next() {
		if event := stream.Current(); reply.addEvent(&event) {
			break
		}
	}
	if reply.over {
		return reply.message()
	}
	if err := line.Failure(); err != nil {
		return llm.Message{}, err
	}
	return llm.Message{}, failureOf(stream.Err(), reply.begun)
}
