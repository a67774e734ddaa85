package llm

import (
	"strings"
)

// An anthropicRequest requests a message.
type anthropicRequest struct {
	Model        string   `json:"model"`
	MaxTokens    int      `json:"max_tokens"`
	Stream       bool     `json:"stream"`
	CacheControl fields   `json:"cache_control"`
	System       []fields `json:"system,omitempty"`
	Thinking     fields   `json:"thinking,omitempty"`
	OutputConfig fields   `json:"output_config,omitempty"`
	Tools        []fields `json:"tools,omitempty"`
	Messages     []fields `json:"messages"`
}

func (m *Anthropic) requestBody(r Request) anthropicRequest {
	body := anthropicRequest{
		Model: m.name, MaxTokens: maxTokens, Stream: true,
		// Mark the last block: the beginning of a conversation is then paid for only once.
		CacheControl: fields{"type": "ephemeral"},
	}
	if r.System != "" {
		body.System = []fields{textBlock(r.System)}
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, fields{
			"name": WireName(t.Name), "description": t.Description, "input_schema": t.Schema,
		})
	}
	for _, message := range r.Messages {
		body.Messages = append(body.Messages, fields{"role": message.Role, "content": anthropicBlocks(message)})
	}
	if m.options.Effort != "" {
		body.Thinking = fields{"type": "adaptive", "display": "summarized"}
		body.OutputConfig = fields{"effort": m.options.Effort}
	}
	return body
}

// anthropicBlocks returns the content of a message.
func anthropicBlocks(m Message) []any {
	var all []any
	for _, b := range sendable(m, anthropicName) {
		switch b.Type {
		case TypeText:
			all = append(all, textBlock(b.Text))
		case TypeThinking:
			all = append(all, b.Raw)
		case TypeCall:
			all = append(all, fields{
				"type": "tool_use", "id": WireID(b.ID), "name": WireName(b.Tool), "input": b.Input,
			})
		case TypeResult:
			all = append(all, toolResultOf(&b))
		}
	}
	return all
}

func textBlock(text string) fields { return fields{"type": "text", "text": text} }

// A toolResult answers a call.
type toolResult struct {
	ToolUseID string   `json:"tool_use_id"`
	IsError   bool     `json:"is_error"`
	Content   []fields `json:"content,omitempty"`
	Type      string   `json:"type"`
}

// toolResultOf returns the answer to a call. The API rejects a blank text, so an empty output has no
// content.
func toolResultOf(b *Block) toolResult {
	block := toolResult{ToolUseID: WireID(b.Call), IsError: b.IsError, Type: "tool_result"}
	if strings.TrimSpace(b.Output) != "" {
		block.Content = []fields{textBlock(b.Output)}
	}
	return block
}
