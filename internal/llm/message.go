// Package llm speaks to language models. A [Model] answers a [Request], which
// bears the whole conversation: models remember nothing.
//
//	model, err := llm.ReadScript("demo.json")
//	message, err := model.Reply(ctx, request, nil)
//
// The models of providers are made by packages anthropic and openai below this one. Messages
// are kept in the form that they have here, so a stored one can be sent again as it was.
// Content that a provider wants back unchanged, such as signed thinking, is kept as
// [Block.Raw] and sent to that provider only, so a conversation can continue with another
// model.
//
// A reply is a message or an error, and never half a message. An error is a
// [*ReplyError], which says what kind it is of and what to do, or a [*BadRequestError].
package llm

import (
	"context"
	"encoding/json"
	"strings"
)

// A Model answers requests. It is safe for concurrent use.
type Model interface {
	// Reply returns the next message of the assistant. A request that the model refuses as
	// malformed is a *BadRequestError. While the message comes in, onDelta gets its pieces,
	// one at a time; it may be nil. Only the final message counts.
	Reply(ctx context.Context, r Request, onDelta func(Delta)) (Message, error)
}

// A Delta is a piece of a message that is still coming in, for people to watch.
type Delta struct {
	Again    bool   // the reply broke off and starts over: discard the pieces so far
	Text     string // of the answer
	Thinking string // of the model's thinking
	Tool     string // the tool of a call that begins to be written
}

// A Request is everything that is sent to a model.
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

// The roles. Results of calls come from the user's side.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// A Message is one turn of one side. The zero value says nothing and is refused
// by every model.
type Message struct {
	Role    Role    `json:"role"`
	Content []Block `json:"content"`
	Stop    Stop    `json:"stop,omitempty"` // why a reply ended early
	Usage   Usage   `json:"usage,omitzero"` // of a reply
}

// A Stop says why a reply ended before the model was done.
type Stop string

// The stops. The zero value is the end that the model chose.
const (
	StopEnd     Stop = ""
	StopCut     Stop = "cut_off" // at the longest reply, or at the end of the context
	StopRefused Stop = "refused" // the provider did not let the model go on
)

// Usage is the cost of a reply in tokens. Zero means unknown.
type Usage struct {
	Input  int64 `json:"input,omitempty"` // all of the request, cached or not
	Output int64 `json:"output,omitempty"`
}

// A BlockType says what a block is.
type BlockType string

// The types of blocks.
const (
	TypeText     BlockType = "text"
	TypeThinking BlockType = "thinking" // what the model said to itself
	TypeCall     BlockType = "tool_use"
	TypeResult   BlockType = "tool_result"
)

// A Block is one part of a message. Which fields have a meaning follows from Type.
type Block struct {
	Type BlockType `json:"type"`

	Text string `json:"text,omitempty"` // of a text, and of thinking as far as it can be read

	ID    string          `json:"id,omitempty"` // of a call
	Tool  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Broken says why what the model wrote as input cannot be used. Input is an empty
	// object then, and the call must not run.
	Broken string `json:"broken,omitempty"`

	Call    string `json:"tool_use_id,omitempty"` // of a result: the id of its call
	Output  string `json:"content,omitempty"`
	IsError bool   `json:"is_error,omitempty"`

	// Raw is the block in the form of a provider, which requires it back unchanged. It means
	// nothing to other providers, and thinking is left out for them.
	Provider string          `json:"provider,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty"`
}

// Own reports whether the block's raw form is that of a provider.
func (b *Block) Own(provider string) bool { return b.Provider == provider && len(b.Raw) > 0 }

// Text is a block of text.
func Text(text string) Block { return Block{Type: TypeText, Text: text} }

// Call is a block that asks for a tool to be run. No input is an empty object.
func Call(id, tool string, input json.RawMessage) Block {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	return Block{Type: TypeCall, ID: id, Tool: tool, Input: input}
}

// Result is a block that answers a call.
func Result(call, output string, isError bool) Block {
	return Block{Type: TypeResult, Call: call, Output: output, IsError: isError}
}

// Text returns the message's texts, a line each.
func (m Message) Text() string {
	var texts []string
	for _, b := range m.Content {
		if b.Type == TypeText {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Calls returns the blocks that ask for a tool, in their order.
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
