package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/llm"
)

// A reply is a message that comes in, one event after the other.
type reply struct {
	onDelta func(llm.Delta)

	begun, over bool
	blocks      []*block // in the order in which they began
	open        map[int64]*block
	stop        sdk.StopReason
	usage       llm.Usage
}

// A block is one that comes in. Which builders are used depends on its type.
type block struct {
	kind, id, tool, data string

	text, thinking, signature, input strings.Builder
}

// addEvent adds an event. It reports whether it was the last one.
func (r *reply) addEvent(e *sdk.MessageStreamEventUnion) bool {
	switch e.Type {
	case "message_start":
		r.begun = true
		u := e.Message.Usage
		r.usage = llm.Usage{
			Input: u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens, Output: u.OutputTokens,
		}
	case "content_block_start":
		r.startBlock(e)
	case "content_block_delta":
		r.addDelta(e)
	case "message_delta":
		r.stop = e.Delta.StopReason
		r.usage.Output = max(r.usage.Output, e.Usage.OutputTokens)
	case "message_stop":
		r.over = true
	}
	return r.over
}

// startBlock begins a block. The event may carry the first piece of its content.
func (r *reply) startBlock(e *sdk.MessageStreamEventUnion) {
	c := &e.ContentBlock
	b := &block{kind: c.Type, id: c.ID, tool: c.Name, data: c.Data}
	if r.open == nil {
		r.open = map[int64]*block{}
	}
	r.blocks, r.open[e.Index] = append(r.blocks, b), b
	if b.kind == "tool_use" {
		r.sendDelta(llm.Delta{Tool: b.tool})
		if given, err := json.Marshal(c.Input); err == nil && string(given) != "{}" && string(given) != "null" {
			b.input.Write(given) // some servers give the whole input at once
		}
	}
	r.say(b, c.Text)
	r.think(b, c.Thinking)
	b.signature.WriteString(c.Signature)
}

// addDelta continues a block.
func (r *reply) addDelta(e *sdk.MessageStreamEventUnion) {
	b, d := r.open[e.Index], &e.Delta
	if b == nil {
		return // of a block that never began
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

// message is the reply once it is over.
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

func stopOf(s sdk.StopReason) llm.Stop {
	switch s {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return llm.StopCut
	case sdk.StopReasonRefusal:
		return llm.StopRefused
	case sdk.StopReasonEndTurn, sdk.StopReasonToolUse, sdk.StopReasonStopSequence, sdk.StopReasonPauseTurn:
	}
	return llm.StopEnd
}

// done is a block in our words. One of a kind that was not asked for is left out.
func (b *block) done(cut bool) (llm.Block, error) {
	switch b.kind {
	case "text":
		return llm.Text(b.text.String()), nil
	case "tool_use":
		return llm.Arguments(b.id, b.tool, b.input.String(), cut), nil
	case "thinking":
		if b.signature.Len() == 0 {
			return llm.Block{}, nil // cut off: nobody would accept it without its signature
		}
		return b.raw(b.thinking.String(), map[string]string{
			"type": b.kind, "thinking": b.thinking.String(), "signature": b.signature.String(),
		})
	case "redacted_thinking":
		return b.raw("", map[string]string{"type": b.kind, "data": b.data})
	}
	return llm.Block{}, nil
}

// raw is a block that goes back as it came.
func (b *block) raw(text string, fields map[string]string) (llm.Block, error) {
	raw, err := json.Marshal(fields)
	return llm.Block{Type: llm.TypeThinking, Text: text, Provider: provider, Raw: raw}, err
}
