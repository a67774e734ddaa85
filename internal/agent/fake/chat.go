package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// chatWire is https://developers.openai.com/api/docs/api-reference/chat.
type chatWire struct{}

func (chatWire) headers(h http.Header) (string, error)    { return bearer(h) }
func (chatWire) refuse(w http.ResponseWriter, r *refusal) { refuseOpenAI(w, r) }
func (chatWire) fault(f Fault) *refusal                   { return faultOpenAI(f) }

// A chatBody is the request body that the interface accepts from us.
type chatBody struct {
	Model           string        `json:"model"`
	Stream          bool          `json:"stream"`
	StreamOptions   fields        `json:"stream_options"`
	ReasoningEffort string        `json:"reasoning_effort"`
	Messages        []chatMessage `json:"messages"`
	Tools           []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			Parameters  fields `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

type chatMessage struct {
	Role       string  `json:"role"`
	Content    *string `json:"content"`
	ToolCallID string  `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (w chatWire) check(body []byte, _ []Turn) (int, error) {
	var b chatBody
	if err := strictly(body, &b); err != nil {
		return 0, err
	}
	switch {
	case b.Model != ModelName:
		return 0, w.fault(faultModel)
	case !b.Stream:
		return 0, bad("stream", "llmtest: streams only")
	case len(b.Messages) == 0:
		return 0, bad("messages", "Invalid 'messages': empty array. Expected an array with minimum length 1.")
	}
	known := map[string]bool{}
	for i, t := range b.Tools {
		if err := checkFunction(
			fmt.Sprintf("tools[%d].function", i), t.Function.Name, t.Function.Parameters, known,
		); err != nil {
			return 0, err
		}
	}
	if last := b.Messages[len(b.Messages)-1].Role; last != "user" && last != "tool" {
		return 0, bad("messages", "llmtest: the last message is not from the user") // stricter than the real one
	}
	return checkChat(b.Messages)
}

// checkChat checks the messages, and counts the assistant's.
func checkChat(messages []chatMessage) (replies int, err error) {
	open := map[string]bool{}
	for i, m := range messages {
		if m.Role != "tool" && len(open) > 0 {
			return 0, unansweredChat(open)
		}
		switch m.Role {
		case "system", "user":
			if m.Content == nil || *m.Content == "" {
				return 0, bad(
					fmt.Sprintf("messages[%d].content", i), "Invalid value for 'content': expected a string, got null.",
				)
			}
		case "assistant":
			replies++
			if err := checkToolCalls(i, &m, open); err != nil {
				return 0, err
			}
		case "tool":
			if !open[m.ToolCallID] {
				return 0, bad("messages", "Invalid parameter: messages with role 'tool' must be a response to a "+
					"preceding message with 'tool_calls'.")
			}
			if m.Content == nil {
				return 0, bad(
					fmt.Sprintf("messages[%d].content", i), "Invalid value for 'content': expected a string, got null.",
				)
			}
			delete(open, m.ToolCallID)
		default:
			return 0, bad(fmt.Sprintf("messages[%d].role", i), "Invalid value: '%s'.", m.Role)
		}
	}
	if len(open) > 0 {
		return 0, unansweredChat(open)
	}
	return replies, nil
}

func unansweredChat(open map[string]bool) error {
	var ids []string
	for id := range open {
		ids = append(ids, id)
	}
	return bad("messages", "An assistant message with 'tool_calls' must be followed by tool messages responding to "+
		"each 'tool_call_id'. "+
		"The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
}

func checkToolCalls(i int, m *chatMessage, open map[string]bool) error {
	if len(m.ToolCalls) == 0 && (m.Content == nil || *m.Content == "") {
		return bad(fmt.Sprintf("messages[%d].content", i), "Invalid value for 'content': expected a string, got null.")
	}
	for k, c := range m.ToolCalls {
		param := fmt.Sprintf("messages[%d].tool_calls[%d]", i, k)
		switch {
		case c.ID == "" || len(c.ID) > maxOpenAIID:
			return bad(
				param+".id", "Invalid '%s.id': string too long. Expected a string with maximum length 40.", param,
			)
		case open[c.ID]:
			return bad(param+".id", "Duplicate value for 'tool_call_id' of '%s'", c.ID)
		case c.Type != "function" || !openaiName.MatchString(c.Function.Name):
			return bad(param+".function.name", "Invalid '%s.function.name': string does not match pattern.", param)
		case !json.Valid([]byte(c.Function.Arguments)):
			return bad(param+".function.arguments", "Invalid '%s.function.arguments': not valid JSON.", param)
		}
		open[c.ID] = true
	}
	return nil
}

// play writes chunks: the role, the text, the calls by index, the finish reason, the token count,
// and [DONE].
func (w chatWire) play(out *stream, _ int, t *Turn, mid func()) {
	chunk := func(delta fields, finish any) {
		out.event("", fields{
			"id": "chatcmpl-llmtest", "object": "chat.completion.chunk", "created": 1, "model": ModelName, "usage": nil,
			"choices": []any{fields{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}},
		})
	}
	chunk(fields{"role": "assistant", "content": "", "refusal": nil}, nil)
	spread := func(text string, delta func(piece string) fields) {
		cut := pieces(text)
		for i, piece := range cut {
			if i == len(cut)/2 {
				mid()
			}
			chunk(delta(piece), nil)
		}
	}
	spread(t.Thinking, func(piece string) fields { return fields{"reasoning_content": piece} })
	said := "content"
	if t.Stop == "refused" {
		said = "refusal"
	}
	spread(t.Text, func(piece string) fields { return fields{said: piece} })
	for i := range t.Calls {
		c := &t.Calls[i]
		chunk(fields{"tool_calls": []any{
			fields{"index": i, "id": c.ID, "type": "function", "function": fields{"name": c.Tool, "arguments": ""}},
		}}, nil)
		spread(c.arguments(), func(piece string) fields {
			return fields{"tool_calls": []any{fields{"index": i, "function": fields{"arguments": piece}}}}
		})
	}
	chunk(fields{}, finishReason(t))
	out.event("", fields{
		"id": "chatcmpl-llmtest", "object": "chat.completion.chunk", "created": 1, "model": ModelName,
		"choices": []any{},
		"usage":   fields{"prompt_tokens": 111, "completion_tokens": 42, "total_tokens": 153},
	})
	out.event("", "[DONE]")
}

func finishReason(t *Turn) string {
	switch {
	case t.Stop == "cut":
		return "length"
	case len(t.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (chatWire) failure(out *stream) {
	out.event("", fields{"error": fields{
		"message": "The server is overloaded", "type": "server_error", "param": nil, "code": "server_error",
	}})
}

func (chatWire) more(out *stream, text string) {
	out.event("", fields{
		"id": "chatcmpl-llmtest", "object": "chat.completion.chunk", "created": 1, "model": ModelName,
		"choices": []any{fields{"index": 0, "delta": fields{"content": text}, "finish_reason": nil}},
	})
}
