package llm

import (
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire"
)

// An anthropicEvent is an event of any kind.
type anthropicEvent struct {
	Type    string         `json:"type"`
	Error   anthropicError `json:"error"`
	Index   int64          `json:"index"`
	Usage   anthropicUsage `json:"usage"`
	Message struct {
		Usage anthropicUsage `json:"usage"`
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

// An anthropicUsage counts tokens.
type anthropicUsage struct {
	Input         int64 `json:"input_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	Output        int64 `json:"output_tokens"`
}

// An anthropicReply is a message being received, one event after the other.
type anthropicReply struct {
	onDelta func(Delta)

	blocks []*anthropicBlock // in order of their beginning
	open   map[int64]*anthropicBlock
	stop   string
	usage  Usage
}

// An anthropicBlock is a block being received. Its type decides which builders are used.
type anthropicBlock struct {
	kind, id, tool, data string

	text, thinking, signature, input strings.Builder
}

// addEvent adds an event. It reports whether it was the last one.
func (r *anthropicReply) addEvent(e *anthropicEvent) bool {
	switch e.Type {
	case "message_start":
		u := &e.Message.Usage
		r.usage = Usage{Input: u.Input + u.CacheRead + u.CacheCreation, Output: u.Output}
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
func (r *anthropicReply) startBlock(e *anthropicEvent) {
	c := &e.ContentBlock
	b := &anthropicBlock{kind: c.Type, id: c.ID, tool: c.Name, data: c.Data}
	if r.open == nil {
		r.open = map[int64]*anthropicBlock{}
	}
	r.blocks, r.open[e.Index] = append(r.blocks, b), b
	if b.kind == "tool_use" {
		if given := string(c.Input); given != "{}" && given != "null" {
			b.input.WriteString(given) // some servers give the whole input at once
		}
	}
	r.say(b, c.Text)
	r.think(b, c.Thinking)
	b.signature.WriteString(c.Signature)
}

// addDelta continues a block.
func (r *anthropicReply) addDelta(e *anthropicEvent) {
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

func (r *anthropicReply) say(b *anthropicBlock, text string) {
	b.text.WriteString(text)
	r.sendDelta(Delta{Text: text})
}

func (r *anthropicReply) think(b *anthropicBlock, text string) {
	b.thinking.WriteString(text)
	r.sendDelta(Delta{Thinking: text})
}

func (r *anthropicReply) sendDelta(d Delta) {
	if r.onDelta != nil && d != (Delta{}) {
		r.onDelta(d)
	}
}

// message returns the finished reply.
func (r *anthropicReply) message() (Message, error) {
	m := Message{Role: RoleAssistant, Stop: anthropicStop(r.stop), Usage: r.usage}
	for i, b := range r.blocks {
		done, err := b.done(m.Stop == StopCut && i == len(r.blocks)-1)
		if err != nil {
			return Message{}, umpire.Errorf("reply of the model: block %d: %w", i, err)
		}
		if done.Type != "" {
			m.Content = append(m.Content, done)
		}
	}
	return m, nil
}

func anthropicStop(reason string) Stop {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return StopCut
	case "refusal":
		return StopRefused
	}
	return StopEnd
}

// done converts a block to our form. It omits a block of a kind that was not requested.
func (b *anthropicBlock) done(cut bool) (Block, error) {
	switch b.kind {
	case "text":
		return Text(b.text.String()), nil
	case "tool_use":
		return Arguments(b.id, b.tool, b.input.String(), cut), nil
	case "thinking":
		if b.signature.Len() == 0 {
			return Block{}, nil // cut off: the API rejects it without its signature
		}
		return b.raw(b.thinking.String(), map[string]string{
			"type": b.kind, "thinking": b.thinking.String(), "signature": b.signature.String(),
		})
	case "redacted_thinking":
		return b.raw("", map[string]string{"type": b.kind, "data": b.data})
	}
	return Block{}, nil
}

// raw returns a block to be sent back unchanged.
func (b *anthropicBlock) raw(text string, fields map[string]string) (Block, error) {
	raw, err := json.Marshal(fields)
	return Block{Type: TypeThinking, Text: text, Provider: anthropicName, Raw: raw}, err
}
