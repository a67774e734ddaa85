// Package llm speaks to language models. A [Model] answers a [Request], which contains the whole
// conversation: models remember nothing.
//
//	model, err := llm.NewAnthropic("claude-sonnet-5", llm.Options{})
//	message, err := model.Reply(ctx, request, nil)
//
// [NewAnthropic] and [NewOpenAI] return models of providers over HTTP, and [ReadScript] one that plays a script.
// Messages are stored in this package's form and can be sent again as they were. Content that a provider requires back
// unchanged, such as signed thinking, is kept as [Block.Raw] and sent to that provider only, so a
// conversation can continue with another model.
//
// A reply is a message or an error, and never half a message. An error is a [*ReplyError], which
// has a kind and a remedy, or a [*BadRequestError].
package llm

import (
	"context"
	"encoding/json"
	"strings"
)

// A Model answers requests. It is safe for concurrent use.
type Model interface {
	// Reply returns the next message of the assistant. It returns a *BadRequestError if the model
	// rejects the request as malformed. While the message comes in, onDelta gets its pieces, one at
	// a time; it may be nil. Only the final message counts.
	Reply(ctx context.Context, r Request, onDelta func(Delta)) (Message, error)
}

// A Delta is a piece of an incoming message, for people to watch.
type Delta struct {
	Again    bool   // the reply broke off and starts over: discard the pieces so far
	Text     string // of the answer
	Thinking string // of the model's thinking
}

// A Request is the whole input of a model.
type Request struct {
	System   string    `json:"system,omitempty"`
	Tools    []Tool    `json:"tools,omitempty"`
	Messages []Message `json:"messages"`
}

// A Tool describes a tool to a model.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"` // a JSON schema of the input, an object
}

// A Role is the speaker of a message.
type Role string

// The roles. Results of calls have the user's role.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// A Message is one turn of one side. Every model rejects the zero value.
type Message struct {
	Role    Role    `json:"role"`
	Content []Block `json:"content"`
	Stop    Stop    `json:"stop,omitempty"` // why a reply ended early
	Usage   Usage   `json:"usage,omitzero"` // of a reply
}

// A Stop is the reason why a reply ended early.
type Stop string

// The stops. The zero value means the model chose to end.
const (
	StopEnd     Stop = ""
	StopCut     Stop = "cut_off" // at the longest reply, or at the end of the context
	StopRefused Stop = "refused" // the provider did not let the model continue
)

// Usage is the cost of a reply in tokens. Zero means unknown.
type Usage struct {
	Input  int64 `json:"input,omitempty"` // the whole request, cached or not
	Output int64 `json:"output,omitempty"`
}

// A BlockType is the type of a block.
type BlockType string

// The types of blocks.
const (
	TypeText     BlockType = "text"
	TypeThinking BlockType = "thinking" // the model's reasoning
	TypeCall     BlockType = "tool_use"
	TypeResult   BlockType = "tool_result"
)

// A Block is one part of a message. Type decides which fields are used.
type Block struct {
	Type BlockType `json:"type"`

	Text string `json:"text,omitempty"` // of a text, or the readable part of thinking

	ID    string          `json:"id,omitempty"` // of a call
	Tool  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Broken is the reason why the model's input cannot be used. Input is then an empty object, and
	// the call must not run.
	Broken string `json:"broken,omitempty"`

	Call    string `json:"tool_use_id,omitempty"` // of a result: the id of its call
	Output  string `json:"content,omitempty"`
	IsError bool   `json:"is_error,omitempty"`

	// Raw is the block in the form of a provider, which requires it back unchanged. It means
	// nothing to other providers, and thinking is left out for them.
	Provider string          `json:"provider,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty"`
}

// Own reports whether the block's raw form is from a provider.
func (b *Block) Own(provider string) bool { return b.Provider == provider && len(b.Raw) > 0 }

// Text returns a block of text.
func Text(text string) Block { return Block{Type: TypeText, Text: text} }

// Call returns a block that calls a tool. A missing input becomes an empty object.
func Call(id, tool string, input json.RawMessage) Block {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	return Block{Type: TypeCall, ID: id, Tool: tool, Input: input}
}

// Result returns a block that answers a call.
func Result(call, output string, isError bool) Block {
	return Block{Type: TypeResult, Call: call, Output: output, IsError: isError}
}

// Text returns the message's texts, one per line.
func (m Message) Text() string {
	var texts []string
	for _, b := range m.Content {
		if b.Type == TypeText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Calls returns the blocks that call tools, in their order.
func (m Message) Calls() []Block { return m.only(TypeCall) }

// Results returns the blocks that answer calls, in their order.
func (m Message) Results() []Block { return m.only(TypeResult) }

func (m Message) only(t BlockType) []Block {
	var kept []Block
	for _, b := range m.Content {
		if b.Type == t {
			kept = append(kept, b)
		}
	}
	return kept
}
