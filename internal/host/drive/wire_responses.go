package drive

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// responsesWire is OpenAI's Responses.
type responsesWire struct{}

func (responsesWire) read(body []byte) (Request, error) {
	var q struct {
		Stream bool `json:"stream"`
		Input  []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			CallID  string          `json:"call_id"`
			Output  json.RawMessage `json:"output"`
		} `json:"input"`
		Tools []struct {
			Type string `json:"type"`
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
	for _, item := range q.Input {
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			r.Results[item.CallID] = Result{Text: plainText(item.Output)}
		case item.Role == "user", item.Type == "agent_message":
			r.First += plainText(item.Content)
		}
	}
	return r, nil
}

func (responsesWire) write(w http.ResponseWriter, id string, stream bool, text string, calls Turn) {
	part := fields{"type": "output_text", "text": text, "annotations": []any{}}
	items := []fields{{
		"type": "message", "id": id + "_text", "role": "assistant", "status": "completed", "content": []any{part},
	}}
	for _, c := range calls {
		item := fields{
			"id": "fc_" + c.ID, "call_id": c.ID, "type": "function_call", "name": c.Tool, "status": "completed",
		}
		if c.Input != nil {
			item["arguments"] = encode(c.Input)
		}
		maps.Copy(item, c.Fields)
		items = append(items, item)
	}
	response := func(status string, output []fields) fields {
		return fields{
			"id": id, "object": "response", "created_at": 1, "status": status, "model": modelName, "output": output,
			"usage": fields{
				"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
				"input_tokens_details":  fields{"cached_tokens": 0},
				"output_tokens_details": fields{"reasoning_tokens": 0},
			},
		}
	}
	if !stream {
		writeJSON(w, response("completed", items))
		return
	}
	out := newEventStream(w)
	sent := 0
	send := func(kind string, event fields) {
		event["type"], event["sequence_number"] = kind, sent
		sent++
		out.send(kind, event)
	}
	send("response.created", fields{"response": response("in_progress", []fields{})})
	for i, item := range items {
		begun := maps.Clone(item)
		begun["status"] = "in_progress"
		at := fields{"item_id": item["id"], "output_index": i, "content_index": 0}
		with := func(name string, value any) fields {
			event := maps.Clone(at)
			event[name] = value
			return event
		}
		switch item["type"] {
		case "message":
			begun["content"] = []any{}
			send("response.output_item.added", fields{"output_index": i, "item": begun})
			empty := fields{"type": "output_text", "text": "", "annotations": []any{}}
			send("response.content_part.added", with("part", empty))
			send("response.output_text.delta", with("delta", text))
			send("response.output_text.done", with("text", text))
			send("response.content_part.done", with("part", part))
		case "function_call":
			begun["arguments"] = ""
			send("response.output_item.added", fields{"output_index": i, "item": begun})
			send("response.function_call_arguments.delta", with("delta", item["arguments"]))
			send("response.function_call_arguments.done", with("arguments", item["arguments"]))
		default:
			send("response.output_item.added", fields{"output_index": i, "item": begun})
		}
		send("response.output_item.done", fields{"output_index": i, "item": item})
	}
	send("response.completed", fields{"response": response("completed", items)})
}
