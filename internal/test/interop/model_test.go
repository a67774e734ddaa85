//go:build interop

package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A toolCall is a call that the scripted model makes.
type toolCall struct {
	id, tool string
	input    map[string]any
}

// A turn is one message of the model. A turn without calls ends the play.
type turn []toolCall

// A toolResult is what the agent told the model about a call.
type toolResult struct {
	text    string
	isError bool
}

// A model plays turns over the wire format of Anthropic's Messages. It has no
// state: a turn is over once a request holds a result for one of its calls.
type model struct {
	*httptest.Server

	main script
	// sub is what a sub-agent is played, told by subMark in its first message.
	sub script

	mu      sync.Mutex
	results map[string]toolResult
	tools   map[string]bool // that were offered
	asked   int
	grown   chan struct{} // closed when results has grown, and replaced
}

// A script is the turns of one conversation.
type script []turn

// subMark stands in the prompt that a scripted call gives a sub-agent.
const subMark = "SUBTASK"

func newModel(t *testing.T, main ...turn) *model {
	t.Helper()
	m := &model{main: main, results: map[string]toolResult{}, tools: map[string]bool{}, grown: make(chan struct{})}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// result is what the model was told about a call.
func (m *model) result(id string) (toolResult, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.results[id]
	return r, ok
}

// waitFor waits until the model was told about a call; it reports whether that came
// before the end of ctx.
func (m *model) waitFor(ctx context.Context, id string) bool {
	for {
		m.mu.Lock()
		_, ok := m.results[id]
		grown := m.grown
		m.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return false
		}
	}
}

// ServeHTTP answers the model's endpoints and nothing else.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/messages/count_tokens"):
		writeJSON(w, map[string]any{"input_tokens": 10})
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages"):
		var q modelRequest
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.reply(w, q)
	default:
		http.NotFound(w, r)
	}
}

// A modelRequest is the part of a request that matters here.
type modelRequest struct {
	Stream   bool `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

func (m *model) reply(w http.ResponseWriter, q modelRequest) {
	next := m.next(q)
	content, stop := []any{map[string]any{"type": "text", "text": "working"}}, "end_turn"
	for _, c := range next {
		stop = "tool_use"
		content = append(content, map[string]any{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.input})
	}
	m.mu.Lock()
	m.asked++
	id := fmt.Sprintf("msg_%d", m.asked)
	m.mu.Unlock()
	if q.Stream {
		stream(w, id, content, stop)
		return
	}
	message := emptyMessage(id)
	message["content"], message["stop_reason"] = content, stop
	writeJSON(w, message)
}

// offered are the tools that Claude Code has offered to the model so far.
func (m *model) offered() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.tools)
}

// next notes the results in a request and picks the turn to play.
func (m *model) next(q modelRequest) turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, tool := range q.Tools {
		m.tools[tool.Name] = true
	}
	have := map[string]bool{}
	first := ""
	for _, msg := range q.Messages {
		if msg.Role != "user" {
			continue
		}
		if first == "" {
			first = plainText(msg.Content)
		}
		for id, r := range resultsIn(msg.Content) {
			m.results[id], have[id] = r, true
		}
	}
	close(m.grown)
	m.grown = make(chan struct{})
	if len(q.Tools) == 0 {
		return nil // a title or a summary
	}
	turns := m.main
	if strings.Contains(first, subMark) {
		turns = m.sub
	}
	played := 0
	for i, turn := range turns {
		for _, c := range turn {
			if have[c.id] {
				played = i + 1
			}
		}
	}
	if played < len(turns) {
		return turns[played]
	}
	return nil
}

// resultsIn finds the tool results in a message.
func resultsIn(content json.RawMessage) map[string]toolResult {
	var parts []struct {
		Type      string          `json:"type"`
		ToolUseID string          `json:"tool_use_id"`
		IsError   bool            `json:"is_error"`
		Content   json.RawMessage `json:"content"`
	}
	found := map[string]toolResult{}
	if json.Unmarshal(content, &parts) != nil {
		return found // a plain string
	}
	for _, p := range parts {
		if p.Type == "tool_result" {
			found[p.ToolUseID] = toolResult{plainText(p.Content), p.IsError}
		}
	}
	return found
}

// plainText joins the text of a message, which is a string or a list of parts.
func plainText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		text += p.Text + "\n"
	}
	return text
}

func emptyMessage(id string) map[string]any {
	return map[string]any{
		"id": id, "type": "message", "role": "assistant", "model": "scripted", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// stream writes a message as server-sent events.
func stream(w http.ResponseWriter, id string, content []any, stop string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		data, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	send("message_start", map[string]any{"message": emptyMessage(id)})
	for i, part := range content {
		block := part.(map[string]any)
		start, delta := streamed(block)
		send("content_block_start", map[string]any{"index": i, "content_block": start})
		send("content_block_delta", map[string]any{"index": i, "delta": delta})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": map[string]any{"output_tokens": 1}})
	send("message_stop", map[string]any{})
}

// streamed splits a block into how it begins and what is added to it.
func streamed(block map[string]any) (start, delta map[string]any) {
	if block["type"] == "text" {
		return map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": block["text"]}
	}
	input, _ := json.Marshal(block["input"])
	return map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}},
		map[string]any{"type": "input_json_delta", "partial_json": string(input)}
}
