package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// An event is an event of any kind.
type event struct {
	Type    string      `json:"type"`
	Error   serverError `json:"error"`
	Index   int64       `json:"index"`
	Usage   usage       `json:"usage"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		Data      string          `json:"data"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
}

// A usage counts tokens.
type usage struct {
	Input         int64 `json:"input_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	Output        int64 `json:"output_tokens"`
}

// A reply is a message being received, one event after the other.
type reply struct {
	onDelta func(llm.Delta)

	blocks []*block // in order of their beginning
	open   map[int64]*block
	stop   string
	usage  llm.Usage
}

// A block is a block being received. Its type decides which builders are used.
type block struct {
	kind, id, tool, data string

	text, thinking, signature, input strings.Builder
}

// addEvent adds an event. It reports whether it was the last one.
func (r *reply) addEvent(e *event) bool {
	switch e.Type {
	case "message_start":
		u := &e.Message.Usage
		r.usage = llm.Usage{Input: u.Input + u.CacheRead + u.CacheCreation, Output: u.Output}
	case "content_block_start":
		r.startBlock(e)
	case "content_block_delta":
		r.addDelta(e)
	case "message_delta":
		r.stop = e.Delta.StopReason
		r.usage.Output = max(r.usage.Output, e.Usage.Output)
	case "message_stop":
		return true
	}
	return false
}

// startBlock begins a block. The event may carry the first piece of its content.
func (r *reply) startBlock(e *event) {
	c := &e.ContentBlock
	b := &block{kind: c.Type, id: c.ID, tool: c.Name, data: c.Data}
	if r.open == nil {
		r.open = map[int64]*block{}
	}
	r.blocks, r.open[e.Index] = append(r.blocks, b), b
	if b.kind == "tool_use" {
		r.sendDelta(llm.Delta{Tool: b.tool})
		if given := string(c.Input); given != "{}" && given != "null" {
			b.input.WriteString(given) // some servers give the whole input at once
		}
	}
	r.say(b, c.Text)
	r.think(b, c.Thinking)
	b.signature.WriteString(c.Signature)
}

// addDelta continues a block.
func (r *reply) addDelta(e *event) {
	b, d := r.open[e.Index], &e.Delta
	if b == nil {
		return // its block never began
	}
	switch d.Type {
	case "text_delta":
		r.say(b, d.Text)
	case "thinking_delta":
		r.think(b, d.Thinking)
	case "signature_delta":
		b.signature.WriteString(d.Signature)
	case "input_json_delta":
		b.input.WriteString(d.PartialJSON)
	}
}

func (r *reply) say(b *block, text string) {
	b.text.WriteString(text)
	r.sendDelta(llm.Delta{Text: text})
}

func (r *reply) think(b *block, text string) {
	b.thinking.WriteString(text)
	r.sendDelta(llm.Delta{Thinking: text})
}

func (r *reply) sendDelta(d llm.Delta) {
	if r.onDelta != nil && d != (llm.Delta{}) {
		r.onDelta(d)
	}
}

// message returns the finished reply.
func (r *reply) message() (llm.Message, error) {
	m := llm.Message{Role: llm.RoleAssistant, Stop: stopOf(r.stop), Usage: r.usage}
	for i, b := range r.blocks {
		done, err := b.done(m.Stop == llm.StopCut && i == len(r.blocks)-1)
		if err != nil {
			return llm.Message{}, umpire.Errorf("reply of the model: block %d: %w", i, err)
		}
		if done.Type != "" {
			m.Content = append(m.Content, done)
		}
	}
	return m, nil
}

func stopOf(reason string) llm.Stop {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopCut
	case "refusal":
		return llm.StopRefused
	}
	return llm.StopEnd
}

// done converts a block to our form. It omits a block of a kind that was not requested.
func (b *block) done(cut bool) (llm.Block, error) {
	switch b.kind {
	case "text":
		return llm.Text(b.text.String()), nil
	case "tool_use":
		return llm.Arguments(b.id, b.tool, b.input.String(), cut), nil
	case "thinking":
		if b.signature.Len() == 0 {
			return llm.Block{}, nil // cut off: the API rejects it without its signature
		}
		return b.raw(b.thinking.String(), map[string]string{
			"type": b.kind, "thinking": b.thinking.String(), "signature": b.signature.String(),
		})
	case "redacted_thinking":
		return b.raw("", map[string]string{"type": b.kind, "data": b.data})
	}
	return llm.Block{}, nil
}

// raw returns a block to be sent back unchanged.
func (b *block) raw(text string, fields map[string]string) (llm.Block, error) {
	raw, err := json.Marshal(fields)
	return llm.Block{Type: llm.TypeThinking, Text: text, Provider: provider, Raw: raw}, err
}
