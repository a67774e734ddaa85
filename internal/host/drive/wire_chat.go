package drive

import (
	"encoding/json"
	"net/http"
)

// chatWire is OpenAI's Chat Completions.
type chatWire struct{}

func (chatWire) read(body []byte) (Request, error) {
	var q struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return Request{}, err
	}
	r := Request{stream: q.Stream, Results: map[string]Result{}}
	for _, tool := range q.Tools {
		r.Tools = append(r.Tools, tool.Function.Name)
	}
	for _, msg := range q.Messages {
		switch msg.Role {
		case "user":
			r.First += plainText(msg.Content)
		case "tool":
			r.Results[msg.ToolCallID] = Result{Text: plainText(msg.Content)}
		}
	}
	return r, nil
}

func (chatWire) write(w http.ResponseWriter, id string, stream bool, text string, calls Turn) {
	finish := "stop"
	var sent []any
	for i, c := range calls {
		finish = "tool_calls"
		sent = append(sent, fields{
			"index": i, "id": c.ID, "type": "function",
			"function": fields{"name": c.Tool, "arguments": encode(c.Input)},
		})
	}
	usage := fields{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	if !stream {
		message := fields{"role": "assistant", "content": text}
		if len(sent) > 0 {
			message["tool_calls"] = sent
		}
		choice := fields{"index": 0, "message": message, "finish_reason": finish}
		writeJSON(w, fields{
			"id": id, "object": "chat.completion", "created": 1, "model": modelName,
			"choices": []any{choice}, "usage": usage,
		})
		return
	}
	out := newEventStream(w)
	send := func(choices []any, usage any) {
		out.send("", fields{
			"id": id, "object": "chat.completion.chunk", "created": 1, "model": modelName,
			"choices": choices, "usage": usage,
		})
	}
	delta := func(delta fields, finish any) []any {
		return []any{fields{"index": 0, "delta": delta, "finish_reason": finish}}
	}
	send(delta(fields{"role": "assistant", "content": text}, nil), nil)
	for _, call := range sent {
		send(delta(fields{"tool_calls": []any{call}}, nil), nil)
	}
	send(delta(fields{}, finish), nil)
	send([]any{}, usage)
	out.finish()
}
