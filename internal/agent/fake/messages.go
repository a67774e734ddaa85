package fake

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// messagesWire is https://platform.claude.com/docs/en/api/messages.
type messagesWire struct{}

func (messagesWire) headers(h http.Header) (string, error) {
	if h.Get("Anthropic-Version") != "2023-06-01" {
		return "", bad("", "anthropic-version: header is required")
	}
	if key := h.Get("X-Api-Key"); key != "" {
		return key, nil
	}
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer "), nil
}

func (messagesWire) refuse(w http.ResponseWriter, r *refusal) {
	answerJSON(
		w, r,
		fields{"type": "error", "error": fields{"type": r.kind, "message": r.message}, "request_id": "req_llmtest"},
	)
}

func (messagesWire) fault(f Fault) *refusal {
	switch f {
	case faultKey:
		return &refusal{status: 401, kind: "authentication_error", message: "invalid x-api-key"}
	case faultRights:
		return &refusal{
			status: 403, kind: "permission_error",
			message: "Your API key does not have permission to use the specified resource.",
		}
	case faultModel:
		return &refusal{status: 404, kind: "not_found_error", message: "model: strict-2"}
	case faultTooLong:
		return &refusal{
			status: 400, kind: "invalid_request_error", message: "prompt is too long: 200045 tokens > 200000 maximum",
		}
	case faultLimit:
		return &refusal{
			status: 429, kind: "rate_limit_error", message: "This request would exceed your rate limit.",
			header: map[string]string{"Retry-After": "0"},
		}
	case faultLongWait:
		return &refusal{
			status: 429, kind: "rate_limit_error", message: "This request would exceed your rate limit.",
			header: map[string]string{"Retry-After": "7200"},
		}
	case faultOverload:
		return &refusal{
			status: 529, kind: "overloaded_error", message: "Overloaded", header: map[string]string{"Retry-After": "0"},
		}
	case faultServer:
		return &refusal{
			status: 500, kind: "api_error", message: "Internal server error",
			header: map[string]string{"Retry-After": "0"},
		}
	case faultRequest, faultSilence, faultRedirect, faultBreak, faultEvent, faultHang, faultFlood:
	}
	return &refusal{status: 400, kind: "invalid_request_error", message: "llmtest: a fault of the script"}
}

// A messagesBody is the request body that the interface accepts from us.
type messagesBody struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	Stream    bool   `json:"stream"`
	System    []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"system"`
	Messages []struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	CacheControl fields `json:"cache_control"`
	Thinking     fields `json:"thinking"`
	OutputConfig fields `json:"output_config"`
}

// A messagesBlock is a block of any kind.
type messagesBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   []messagesBlock `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
}

var (
	messagesID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	messagesName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

func (w messagesWire) check(body []byte, turns []Turn) (int, error) {
	var b messagesBody
	if err := strictly(body, &b); err != nil {
		return 0, err
	}
	switch {
	case b.Model != ModelName:
		return 0, w.fault(faultModel)
	case b.MaxTokens <= 0:
		return 0, bad("", "max_tokens: must be greater than or equal to 1")
	case !b.Stream:
		return 0, bad("", "Streaming is required for operations that may take longer than 10 minutes.")
	case len(b.Messages) == 0:
		return 0, bad("", "messages: at least one message is required")
	}
	for i, s := range b.System {
		if strings.TrimSpace(s.Text) == "" {
			return 0, bad("", "system.%d: text content blocks must be non-empty", i)
		}
	}
	names := map[string]bool{}
	for i, t := range b.Tools {
		if !messagesName.MatchString(t.Name) {
			return 0, bad("", "tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		}
		if names[t.Name] {
			return 0, bad("", "tools: Tool names must be unique.")
		}
		names[t.Name] = true
		var schema struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object" {
			return 0, bad("", "tools.%d.custom.input_schema.type: Field required", i)
		}
	}
	return checkConversation(&b, turns)
}

// checkConversation checks the messages, and counts the assistant's.
func checkConversation(b *messagesBody, turns []Turn) (replies int, err error) {
	var open []string
	used := map[string]bool{}
	for i, m := range b.Messages {
		blocks := make([]messagesBlock, len(m.Content))
		for k, raw := range m.Content {
			if err := strictly(raw, &blocks[k]); err != nil {
				return 0, err
			}
		}
		switch {
		case len(blocks) == 0:
			return 0, bad(
				"",
				"messages.%d: all messages must have non-empty content except for the optional final assistant message",
				i,
			)
		case i == 0 && m.Role != "user":
			return 0, bad("", "messages: first message must use the \"user\" role")
		}
		switch m.Role {
		case "user":
			if err := checkResults(i, open, blocks); err != nil {
				return 0, err
			}
			open = nil
		case "assistant":
			if len(open) > 0 {
				return 0, unanswered(i, open)
			}
			if open, err = checkReply(i, blocks, used, turnAt(turns, replies)); err != nil {
				return 0, err
			}
			replies++
		default:
			return 0, bad("", "messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
	}
	if b.Messages[len(b.Messages)-1].Role != "user" {
		return 0, bad(
			"", "This model does not support assistant message prefill. The conversation must end with a user message.",
		)
	}
	return replies, nil
}

func turnAt(turns []Turn, n int) Turn {
	if n < len(turns) {
		return turns[n]
	}
	return Turn{}
}

func unanswered(i int, open []string) error {
	return bad("", "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(
		open, ", ",
	))
}

// checkResults checks that a user's message answers every call of the previous message, once, and
// before anything else.
func checkResults(i int, open []string, blocks []messagesBlock) error {
	left, seen := map[string]bool{}, map[string]bool{}
	for _, id := range open {
		left[id] = true
	}
	texts := false
	for k, b := range blocks {
		switch b.Type {
		case "text":
			texts = true
			if b.Text == nil || strings.TrimSpace(*b.Text) == "" {
				return bad("", "messages.%d.content.%d: text content blocks must contain non-whitespace text", i, k)
			}
		case "tool_result":
			switch {
			case seen[b.ToolUseID]:
				return bad("", "messages.%d.content.%d: each tool_use must have a single result. Found multiple "+
					"`tool_result` blocks with id: %s", i, k, b.ToolUseID)
			case !left[b.ToolUseID]:
				return bad("", "messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
					"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
					i, k, b.ToolUseID)
			case texts:
				return unanswered(i, []string{b.ToolUseID})
			}
			for _, part := range b.Content {
				if part.Type != "text" || part.Text == nil || *part.Text == "" {
					return bad(
						"", "messages.%d.content.%d.tool_result.content: text content blocks must be non-empty", i, k,
					)
				}
			}
			seen[b.ToolUseID] = true
			delete(left, b.ToolUseID)
		default:
			return bad("", "messages.%d.content.%d: %s blocks are not allowed here", i, k, b.Type)
		}
	}
	for _, id := range open {
		if left[id] {
			return unanswered(i, []string{id})
		}
	}
	return nil
}

// checkReply checks that the assistant could have said this text, and that its thinking is
// unchanged. Requiring all of the thinking is stricter than some models are.
func checkReply(i int, blocks []messagesBlock, used map[string]bool, t Turn) (open []string, err error) {
	thought := false
	for k, b := range blocks {
		switch b.Type {
		case "text":
			if b.Text == nil || strings.TrimSpace(*b.Text) == "" {
				return nil, bad(
					"", "messages.%d.content.%d: text content blocks must contain non-whitespace text", i, k,
				)
			}
		case "thinking":
			if b.Signature != sign(b.Thinking) {
				return nil, bad("", "messages.%d.content.%d: Invalid `signature` in `thinking` block", i, k)
			}
			if k > 0 && !thought {
				return nil, bad("", "messages.%d.content.%d: thinking blocks must come first", i, k)
			}
			thought = thought || b.Thinking == t.Thinking
		case "tool_use":
			switch {
			case !messagesID.MatchString(b.ID):
				return nil, bad(
					"", "messages.%d.content.%d.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", i, k,
				)
			case used[b.ID]:
				return nil, bad("", "messages.%d.content.%d: `tool_use` ids must be unique", i, k)
			case !messagesName.MatchString(b.Name):
				return nil, bad(
					"", "messages.%d.content.%d.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i,
					k,
				)
			case len(b.Input) == 0 || b.Input[0] != '{':
				return nil, bad("", "messages.%d.content.%d.tool_use.input: Input should be a valid dictionary", i, k)
			}
			used[b.ID] = true
			open = append(open, b.ID)
		default:
			return nil, bad(
				"", "messages.%d.content.%d: Input tag '%s' does not match any of the expected tags", i, k, b.Type,
			)
		}
	}
	if len(blocks) > 0 && blocks[len(blocks)-1].Type == "thinking" {
		return nil, bad("", "messages.%d: The final block in an assistant message cannot be `thinking`.", i)
	}
	if mustThink(t) && !thought {
		return nil, bad(
			"", "messages.%d: Expected `thinking` or `redacted_thinking`, but found `%s`", i, blocks[0].Type,
		)
	}
	return open, nil
}

// play writes message_start, the blocks one after the other, message_delta and
// message_stop.
func (w messagesWire) play(out *stream, _ int, t *Turn, mid func()) {
	out.event("message_start", fields{"type": "message_start", "message": fields{
		"id": "msg_llmtest", "type": "message", "role": "assistant", "model": ModelName, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": fields{
			"input_tokens": 100, "cache_read_input_tokens": 11, "cache_creation_input_tokens": 0, "output_tokens": 1,
		},
	}})
	out.event("ping", fields{"type": "ping"})
	index := 0
	block := func(start fields, deltas ...fields) {
		out.event("content_block_start", fields{"type": "content_block_start", "index": index, "content_block": start})
		for i, d := range deltas {
			if i == len(deltas)/2 {
				mid()
			}
			out.event("content_block_delta", fields{"type": "content_block_delta", "index": index, "delta": d})
		}
		out.event("content_block_stop", fields{"type": "content_block_stop", "index": index})
		index++
	}
	if t.Thinking != "" {
		deltas := deltasOf(t.Thinking, "thinking_delta", "thinking")
		deltas = append(deltas, fields{"type": "signature_delta", "signature": sign(t.Thinking)})
		block(fields{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
	}
	if t.Text != "" {
		block(fields{"type": "text", "text": ""}, deltasOf(t.Text, "text_delta", "text")...)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		start := fields{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": fields{}}
		block(start, deltasOf(c.arguments(), "input_json_delta", "partial_json")...)
	}
	out.event("message_delta", fields{
		"type": "message_delta", "delta": fields{"stop_reason": stopReason(t), "stop_sequence": nil},
		"usage": fields{"output_tokens": 42},
	})
	out.event("message_stop", fields{"type": "message_stop"})
}

func deltasOf(text, kind, field string) []fields {
	var all []fields
	for _, piece := range pieces(text) {
		all = append(all, fields{"type": kind, field: piece})
	}
	return all
}

func stopReason(t *Turn) string {
	switch {
	case t.Stop == "cut":
		return "max_tokens"
	case t.Stop == "refused":
		return "refusal"
	case len(t.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (messagesWire) failure(out *stream) {
	out.event("error", fields{"type": "error", "error": fields{"type": "overloaded_error", "message": "Overloaded"}})
}

func (messagesWire) more(out *stream, text string) {
	out.event(
		"content_block_delta",
		fields{"type": "content_block_delta", "index": 0, "delta": fields{"type": "text_delta", "text": text}},
	)
}
