package fake

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// responsesWire is https://developers.openai.com/api/docs/api-reference/responses.
type responsesWire struct{}

func (responsesWire) headers(h http.Header) (string, error)    { return bearer(h) }
func (responsesWire) refuse(w http.ResponseWriter, r *refusal) { refuseOpenAI(w, r) }
func (responsesWire) fault(f Fault) *refusal                   { return faultOpenAI(f) }
func (responsesWire) reasoningID(n int) string                 { return fmt.Sprintf("rs_llmtest%d", n) }
func (responsesWire) itemID(kind string, n, index int) string {
	return fmt.Sprintf("%s_llmtest%d_%d", kind, n, index)
}
func (responsesWire) summary(text string) []any {
	return []any{fields{"type": "summary_text", "text": text}}
}
func (responsesWire) part(text string) fields {
	return fields{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}
func (responsesWire) refusalPart(text string) fields {
	return fields{"type": "refusal", "refusal": text}
}

// A responsesBody is the request body that the interface accepts from us.
type responsesBody struct {
	Model        string            `json:"model"`
	Stream       bool              `json:"stream"`
	Store        *bool             `json:"store"`
	Instructions string            `json:"instructions"`
	Include      []string          `json:"include"`
	Reasoning    fields            `json:"reasoning"`
	Input        []json.RawMessage `json:"input"`
	Tools        []struct {
		Type        string `json:"type"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  fields `json:"parameters"`
		Strict      *bool  `json:"strict"`
	} `json:"tools"`
}

// A responsesItem is an item of any kind.
type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Role      string          `json:"role"`
	Phase     string          `json:"phase"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments *string         `json:"arguments"`
	Output    *string         `json:"output"`
	Summary   []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"summary"`
	Encrypted string `json:"encrypted_content"`
}

// assistant reports whether an item is part of the model's reply.
func (i *responsesItem) assistant() bool {
	return i.Type == "reasoning" || i.Type == "function_call" || i.Role == "assistant"
}

func (w responsesWire) check(body []byte, turns []Turn) (int, error) {
	var b responsesBody
	if err := strictly(body, &b); err != nil {
		return 0, err
	}
	switch {
	case b.Model != ModelName:
		return 0, w.fault(faultModel)
	case !b.Stream:
		return 0, bad("stream", "llmtest: streams only")
	case len(b.Input) == 0:
		return 0, bad("input", "Missing required parameter: 'input'.")
	case b.Store == nil || *b.Store:
		return 0, bad("store", "llmtest: nothing is to be stored") // stricter than the real one
	}
	known := map[string]bool{}
	for i, t := range b.Tools {
		param := fmt.Sprintf("tools[%d]", i)
		if t.Type != "function" || t.Strict == nil {
			return 0, bad(param, "Missing required parameter: '%s.strict'.", param)
		}
		if err := checkFunction(param, t.Name, t.Parameters, known); err != nil {
			return 0, err
		}
	}
	items := make([]responsesItem, len(b.Input))
	for i, raw := range b.Input {
		if err := strictly(raw, &items[i]); err != nil {
			return 0, err
		}
	}
	if items[len(items)-1].assistant() {
		return 0, bad("input", "llmtest: the last item is not from the user") // stricter than the real one
	}
	return w.checkItems(items, turns)
}

// checkItems checks the items, and counts consecutive items of the assistant as one reply.
func (w responsesWire) checkItems(items []responsesItem, turns []Turn) (replies int, err error) {
	open, answered := map[string]bool{}, map[string]bool{}
	speaking, thought := false, false
	for i := range items {
		it := &items[i]
		if it.assistant() && !speaking {
			speaking, thought = true, !mustThink(turnAt(turns, replies))
			replies++
		}
		if speaking && !it.assistant() {
			speaking = false
			if !thought {
				return 0, bad(
					"input", "Item of type 'function_call' was provided without its required 'reasoning' item: '%s'.",
					w.reasoningID(replies-1),
				)
			}
		}
		if it.Type == "reasoning" && it.ID == w.reasoningID(replies-1) {
			thought = true
		}
		if err := w.checkItem(i, it, items, open, answered); err != nil {
			return 0, err
		}
	}
	for id := range open {
		if !answered[id] {
			return 0, bad("input", "No tool output found for function call %s.", id)
		}
	}
	return replies, nil
}

// mustThink reports whether a turn's thinking must be sent back: not if it was cut off before the
// model wrote anything.
func mustThink(t Turn) bool { return t.Thinking != "" && (t.Text != "" || len(t.Calls) > 0) }

// checkItem checks one item in its place.
func (w responsesWire) checkItem(
	i int, it *responsesItem, items []responsesItem, open, answered map[string]bool,
) error {
	param := fmt.Sprintf("input[%d]", i)
	switch it.Type {
	case "reasoning":
		switch {
		case it.Encrypted == "":
			return &refusal{
				status: 404, kind: "invalid_request_error", param: "input",
				message: "Item with id '" + it.ID +
					"' not found. Items are not persisted when `store` is set to false.",
			}
		case len(it.Summary) != 1 || it.Encrypted != sign(it.Summary[0].Text):
			return &refusal{
				status: 400, kind: "invalid_request_error", code: "invalid_encrypted_content",
				message: "The encrypted content could not be verified.",
			}
		case i+1 >= len(items) || !items[i+1].assistant():
			return bad(
				"input", "Item '%s' of type 'reasoning' was provided without its required following item.", it.ID,
			)
		}
	case "function_call":
		switch {
		case it.Arguments == nil || !json.Valid([]byte(*it.Arguments)):
			return bad(param+".arguments", "Invalid '%s.arguments': not valid JSON.", param)
		case !openaiName.MatchString(it.Name):
			return bad(param+".name", "Invalid '%s.name': string does not match pattern. Expected a string that "+
				"matches the pattern '^[a-zA-Z0-9_-]+$'.", param)
		case it.CallID == "" || len(it.CallID) > maxOpenAIID:
			return bad(
				param+".call_id", "Invalid '%s.call_id': string too long. Expected a string with maximum length 64.",
				param,
			)
		case open[it.CallID]:
			return bad("input", "Duplicate function call with call_id %s.", it.CallID)
		}
		open[it.CallID] = true
	case "function_call_output":
		switch {
		case !open[it.CallID]:
			return bad("input", "No tool call found for function call output with call_id %s.", it.CallID)
		case answered[it.CallID]:
			return bad("input", "Duplicate function call output with call_id %s.", it.CallID)
		case it.Output == nil:
			return bad(param+".output", "Missing required parameter: '%s.output'.", param)
		}
		answered[it.CallID] = true
	case "message", "":
		for id := range open {
			if !answered[id] && it.Role == "user" {
				return bad("input", "No tool output found for function call %s.", id)
			}
		}
		if it.Role != "user" && it.Role != "assistant" || len(it.Content) == 0 {
			return bad(
				param, "Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
				it.Role,
			)
		}
	default:
		return bad(param+".type", "Invalid value: '%s'.", it.Type)
	}
	return nil
}

// play writes response.created, the items one after the other, and response.completed
// or response.incomplete.
func (w responsesWire) play(out *stream, n int, t *Turn, mid func()) {
	p := &responsesPlay{stream: out, mid: mid}
	response := fields{
		"id": "resp_llmtest", "object": "response", "created_at": 1, "status": "in_progress", "model": ModelName,
		"output": []any{}, "error": nil, "incomplete_details": nil,
	}
	p.send("response.created", fields{"response": response})
	p.send("response.in_progress", fields{"response": response})
	if t.Thinking != "" {
		w.playReasoning(p, n, t.Thinking)
	}
	if t.Text != "" {
		w.playMessage(p, n, t)
	}
	for i := range t.Calls {
		w.playCall(p, n, &t.Calls[i], t.Stop == "cut" && i == len(t.Calls)-1)
	}
	end := fields{
		"id": "resp_llmtest", "object": "response", "created_at": 1, "status": "completed", "model": ModelName,
		"output": p.output, "error": nil, "incomplete_details": nil,
		"usage": fields{
			"input_tokens": 111, "input_tokens_details": fields{"cached_tokens": 11}, "output_tokens": 42,
			"output_tokens_details": fields{"reasoning_tokens": 0}, "total_tokens": 153,
		},
	}
	if t.Stop == "cut" {
		end["status"], end["incomplete_details"] = "incomplete", fields{"reason": "max_output_tokens"}
		p.send("response.incomplete", fields{"response": end})
		return
	}
	p.send("response.completed", fields{"response": end})
}

// A responsesPlay numbers the events and collects the items.
type responsesPlay struct {
	*stream

	mid    func()
	n      int
	output []any
}

func (p *responsesPlay) send(kind string, data fields) {
	data["type"], data["sequence_number"] = kind, p.n
	p.n++
	p.event(kind, data)
}

// item streams an item: its beginning, the events in between, and its end.
func (p *responsesPlay) item(begin, end fields, between func(at fields)) {
	index := len(p.output)
	p.send("response.output_item.added", fields{"output_index": index, "item": begin})
	between(fields{"output_index": index, "item_id": end["id"]})
	p.send("response.output_item.done", fields{"output_index": index, "item": end})
	p.output = append(p.output, end)
}

// deltas writes a text in pieces.
func (p *responsesPlay) deltas(kind, text string, at fields) {
	cut := pieces(text)
	for i, piece := range cut {
		if i == len(cut)/2 {
			p.mid()
		}
		p.send(kind, with(at, fields{"delta": piece}))
	}
}

func with(a, b fields) fields {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func (w responsesWire) playReasoning(p *responsesPlay, n int, text string) {
	id := w.reasoningID(n)
	begin := fields{"id": id, "type": "reasoning", "summary": []any{}, "encrypted_content": sign("")}
	end := fields{"id": id, "type": "reasoning", "summary": w.summary(text), "encrypted_content": sign(text)}
	p.item(begin, end, func(at fields) {
		at = with(at, fields{"summary_index": 0})
		p.send(
			"response.reasoning_summary_part.added",
			with(at, fields{"part": fields{"type": "summary_text", "text": ""}}),
		)
		p.deltas("response.reasoning_summary_text.delta", text, at)
		p.send("response.reasoning_summary_text.done", with(at, fields{"text": text}))
		p.send("response.reasoning_summary_part.done", with(at, fields{"part": w.summary(text)[0]}))
	})
}

func (w responsesWire) playMessage(p *responsesPlay, n int, t *Turn) {
	id, part, kind := w.itemID("msg", n, len(p.output)), w.part(t.Text), "output_text"
	if t.Stop == "refused" {
		part, kind = w.refusalPart(t.Text), "refusal"
	}
	begin := fields{"id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": []any{}}
	end := fields{"id": id, "type": "message", "status": "completed", "role": "assistant", "content": []any{part}}
	p.item(begin, end, func(at fields) {
		at = with(at, fields{"content_index": 0})
		p.send("response.content_part.added", with(at, fields{"part": w.part("")}))
		p.deltas("response."+kind+".delta", t.Text, at)
		p.send("response."+kind+".done", with(at, fields{strings.TrimPrefix(kind, "output_"): t.Text}))
		p.send("response.content_part.done", with(at, fields{"part": part}))
	})
}

func (w responsesWire) playCall(p *responsesPlay, n int, c *Call, cut bool) {
	id := w.itemID("fc", n, len(p.output))
	begin := fields{
		"id": id, "type": "function_call", "status": "in_progress", "call_id": c.ID, "name": c.Tool, "arguments": "",
	}
	end := with(begin, fields{"status": "completed", "arguments": c.arguments()})
	if cut {
		end["status"] = "incomplete"
	}
	p.item(begin, end, func(at fields) {
		p.deltas("response.function_call_arguments.delta", c.arguments(), at)
		if !cut {
			p.send("response.function_call_arguments.done", with(at, fields{"arguments": c.arguments()}))
		}
	})
}

func (responsesWire) failure(out *stream) {
	out.event("response.failed", fields{"type": "response.failed", "sequence_number": 9, "response": fields{
		"id": "resp_llmtest", "object": "response", "status": "failed", "model": ModelName, "output": []any{},
		"error": fields{"code": "server_error", "message": "The model is overloaded."},
	}})
}

func (responsesWire) more(out *stream, text string) {
	out.event("response.output_text.delta", fields{
		"type": "response.output_text.delta", "sequence_number": 9, "output_index": 0, "content_index": 0,
		"item_id": "msg_llmtest0_0", "delta": text,
	})
}
