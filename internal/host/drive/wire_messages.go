package drive

import (
	"encoding/json"
	"net/http"
)

// messagesWire is Anthropic's Messages.
type messagesWire struct{}

func (messagesWire) read(body []byte) (Request, error) {
	var q struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return Request{}, err
	}
	r := Request{stream: q.Stream, Results: map[string]Result{}}
	for _, tool := range q.Tools {
		r.Tools = append(r.Tools, tool.Name)
	}
	for _, msg := range q.Messages {
		if msg.Role != "user" {
			continue
		}
		if r.First == "" {
			r.First = plainText(msg.Content)
		}
		readToolResults(msg.Content, r.Results)
	}
	return r, nil
}

// readToolResults finds the tool results in a message.
func readToolResults(content json.RawMessage, found map[string]Result) {
	var parts []struct {
		Type      string          `json:"type"`
		ToolUseID string          `json:"tool_use_id"`
		IsError   bool            `json:"is_error"`
		Content   json.RawMessage `json:"content"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return // a plain string
	}
	for _, p := range parts {
		if p.Type == "tool_result" {
			found[p.ToolUseID] = Result{plainText(p.Content), p.IsError}
		}
	}
}

func (messagesWire) write(w http.ResponseWriter, id string, stream bool, text string, calls Turn) {
	content, stop := []any{fields{"type": "text", "text": text}}, "end_turn"
	for _, c := range calls {
		stop = "tool_use"
		content = append(content, fields{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": c.Input})
	}
	message := fields{
		"id": id, "type": "message", "role": "assistant", "model": modelName, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": fields{"input_tokens": 1, "output_tokens": 1},
	}
	if !stream {
		message["content"], message["stop_reason"] = content, stop
		writeJSON(w, message)
		return
	}
	out := newEventStream(w)
	send := func(kind string, event fields) {
		event["type"] = kind
		out.send(kind, event)
	}
	send("message_start", fields{"message": message})
	send("content_block_start", fields{"index": 0, "content_block": fields{"type": "text", "text": ""}})
	send("content_block_delta", fields{"index": 0, "delta": fields{"type": "text_delta", "text": text}})
	send("content_block_stop", fields{"index": 0})
	for i, c := range calls {
		block := fields{"type": "tool_use", "id": c.ID, "name": c.Tool, "input": fields{}}
		delta := fields{"type": "input_json_delta", "partial_json": encode(c.Input)}
		send("content_block_start", fields{"index": i + 1, "content_block": block})
		send("content_block_delta", fields{"index": i + 1, "delta": delta})
		send("content_block_stop", fields{"index": i + 1})
	}
	send("message_delta", fields{"delta": fields{"stop_reason": stop}, "usage": fields{"output_tokens": 1}})
	send("message_stop", fields{})
}
