package anthropic

import (
	"strings"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// fields is a JSON object.
type fields map[string]any

// A requestBody requests a message.
type requestBody struct {
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

func (m *Model) requestBody(r llm.Request) requestBody {
	body := requestBody{
		Model: m.name, MaxTokens: maxTokens, Stream: true,
		// Mark the last block: the beginning of a conversation is then paid for only once.
		CacheControl: fields{"type": "ephemeral"},
	}
	if r.System != "" {
		body.System = []fields{textBlock(r.System)}
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, fields{
			"name": llm.WireName(t.Name), "description": t.Description, "input_schema": t.Schema,
		})
	}
	for _, message := range r.Messages {
		body.Messages = append(body.Messages, fields{"role": message.Role, "content": blocksOf(message)})
	}
	if m.options.Effort != "" {
		body.Thinking = fields{"type": "adaptive", "display": "summarized"}
		body.OutputConfig = fields{"effort": m.options.Effort}
	}
	return body
}

// blocksOf returns the content of a message.
func blocksOf(m llm.Message) []any {
	var all []any
	for _, b := range llm.Sendable(m, provider) {
		switch b.Type {
		case llm.TypeText:
			all = append(all, textBlock(b.Text))
		case llm.TypeThinking:
			all = append(all, b.Raw)
		case llm.TypeCall:
			all = append(all, fields{
				"type": "tool_use", "id": llm.WireID(b.ID), "name": llm.WireName(b.Tool), "input": b.Input,
			})
		case llm.TypeResult:
			all = append(all, resultOf(&b))
		}
	}
	return all
}

func textBlock(text string) fields { return fields{"type": "text", "text": text} }

// A resultBlock answers a call.
type resultBlock struct {
	ToolUseID string   `json:"tool_use_id"`
	IsError   bool     `json:"is_error"`
	Content   []fields `json:"content,omitempty"`
	Type      string   `json:"type"`
}

// resultOf returns the answer to a call. The API rejects a blank text, so an empty output has no
// content.
func resultOf(b *llm.Block) resultBlock {
	block := resultBlock{ToolUseID: llm.WireID(b.Call), IsError: b.IsError, Type: "tool_result"}
	if strings.TrimSpace(b.Output) != "" {
		block.Content = []fields{textBlock(b.Output)}
	}
	return block
}
