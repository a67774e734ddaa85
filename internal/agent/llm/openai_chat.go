package llm

import (
	"cmp"
	"context"
	"strings"
)

// A chatModel speaks https://developers.openai.com/api/docs/api-reference/chat.
type chatModel struct {
	name    string
	options Options
	server  *Endpoint
}

func newChat(name string, o Options, server *Endpoint) *chatModel {
	return &chatModel{name: name, options: o, server: server}
}

// gptWindows are the context sizes from the provider's list of models.
var gptWindows = windows{
	"gpt-4o": 128_000, "gpt-4-turbo": 128_000, "gpt-4.1": 1_000_000, "gpt-5": 272_000,
	"o1": 200_000, "o3": 200_000, "o4-mini": 200_000,
}

// Window returns the model's context in tokens, or 0 for an unknown name.
func (m *chatModel) Window() int64 { return gptWindows.Of(m.name) }

// Reply sends the request and reads the stream until the message is complete.
func (m *chatModel) Reply(ctx context.Context, r Request, onDelta func(Delta)) (Message, error) {
	stream := m.server.Post(ctx, m.options, "chat/completions", m.requestBody(r))
	defer stream.Close()
	reply := &chatReply{deltaFunc: onDelta}
	for stream.Next() && string(stream.Data()) != "[DONE]" {
		var chunk chatChunk
		if !stream.Decode(&chunk) {
			break
		}
		if chunk.Error != nil {
			return Message{}, openAIStreamFailure(cmp.Or(chunk.Error.Code, chunk.Error.Type), chunk.Error.Message)
		}
		reply.addChunk(&chunk)
	}
	// A finished choice ends the reply; later events only count tokens.
	if reply.finish == "" || stream.Err() != nil {
		return Message{}, endOfStream(stream.Err())
	}
	return reply.message(), nil
}

// A chatRequest requests a completion.
type chatRequest struct {
	Model           string        `json:"model"`
	Stream          bool          `json:"stream"`
	StreamOptions   fields        `json:"stream_options"`
	ReasoningEffort string        `json:"reasoning_effort,omitempty"`
	Messages        []chatMessage `json:"messages"`
	Tools           []fields      `json:"tools,omitempty"`
}

// A chatMessage is a message of any role.
type chatMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
}

// A chatCall is a call of a tool, or a piece of one.
type chatCall struct {
	Index    int64  `json:"index,omitempty"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments text   `json:"arguments"`
	} `json:"function"`
}

func (m *chatModel) requestBody(r Request) chatRequest {
	body := chatRequest{
		Model: m.name, Stream: true, StreamOptions: fields{"include_usage": true}, ReasoningEffort: m.options.Effort,
	}
	if r.System != "" {
		// Other servers do not know the role developer.
		body.Messages = append(body.Messages, chatMessage{Role: "system", Content: &r.System})
	}
	for _, message := range r.Messages {
		body.Messages = append(body.Messages, chatMessages(message)...)
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, fields{"type": "function", "function": fields{
			"name": WireName(t.Name), "description": t.Description, "parameters": t.Schema,
		}})
	}
	return body
}

// chatMessages converts one of our messages to several: one for each result, and one for the user's
// text.
func chatMessages(m Message) []chatMessage {
	blocks := sendable(m, openAIName)
	if m.Role == RoleAssistant {
		return []chatMessage{assistantMessage(blocks)}
	}
	var all []chatMessage
	for _, b := range blocks {
		if b.Type == TypeResult {
			output := outputOf(&b)
			all = append(all, chatMessage{Role: "tool", Content: &output, ToolCallID: WireID(b.Call)})
		}
	}
	if text := (Message{Content: blocks}).Text(); text != "" {
		all = append(all, chatMessage{Role: "user", Content: &text})
	}
	return all
}

// assistantMessage converts a message of the model: a text, calls, or both.
func assistantMessage(blocks []Block) chatMessage {
	m := chatMessage{Role: "assistant"}
	said := Message{Content: blocks}
	for _, c := range said.Calls() {
		call := chatCall{ID: WireID(c.ID), Type: "function"}
		call.Function.Name, call.Function.Arguments = WireName(c.Tool), text(c.Input)
		m.ToolCalls = append(m.ToolCalls, call)
	}
	words := said.Text()
	if words == "" && len(m.ToolCalls) == 0 {
		words = "(nothing)" // everything went to another provider's model
	}
	if words != "" {
		m.Content = &words
	}
	return m
}

// A chatChunk is a piece of a reply, or the failure that ends it.
type chatChunk struct {
	Error *openAIError `json:"error"`
	Usage struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
		TotalTokens      int64 `json:"total_tokens"`
	} `json:"usage"`
	Choices []struct {
		FinishReason string    `json:"finish_reason"`
		Delta        chatDelta `json:"delta"`
	} `json:"choices"`
}

// A chatDelta is one streamed piece. Servers other than OpenAI's send the thinking too, under
// either of two names.
type chatDelta struct {
	Content          text       `json:"content"`
	Refusal          string     `json:"refusal"`
	ReasoningContent string     `json:"reasoning_content"`
	Reasoning        string     `json:"reasoning"`
	ToolCalls        []chatCall `json:"tool_calls"`
}

// A chatReply is a message being received, one chunk after the other.
type chatReply struct {
	deltaFunc

	refused bool
	text    strings.Builder
	calls   []*openCall
	finish  string
	usage   Usage
}

// An openCall is a call being received.
type openCall struct {
	index    int64
	id, tool string
	input    strings.Builder
}

// addChunk adds a chunk.
func (r *chatReply) addChunk(c *chatChunk) {
	if c.Usage.TotalTokens > 0 {
		r.usage = Usage{Input: c.Usage.PromptTokens, Output: c.Usage.CompletionTokens}
	}
	if len(c.Choices) == 0 {
		return
	}
	choice := &c.Choices[0]
	if choice.FinishReason != "" {
		r.finish = choice.FinishReason
	}
	r.refused = r.refused || choice.Delta.Refusal != ""
	words := string(choice.Delta.Content) + choice.Delta.Refusal
	r.text.WriteString(words)
	r.send(Delta{Text: words, Thinking: cmp.Or(choice.Delta.ReasoningContent, choice.Delta.Reasoning)})
	for i := range choice.Delta.ToolCalls {
		r.addCall(&choice.Delta.ToolCalls[i])
	}
}

// addCall continues the last call, or begins one. Some servers send no index, and distinguish calls
// only by their ids.
func (r *chatReply) addCall(d *chatCall) {
	var call *openCall
	if n := len(r.calls); n > 0 {
		call = r.calls[n-1]
	}
	if call == nil || d.Index != call.index || d.ID != "" && d.ID != call.id {
		call = &openCall{index: d.Index, id: d.ID, tool: d.Function.Name}
		r.calls = append(r.calls, call)
	}
	call.input.WriteString(string(d.Function.Arguments))
}

// message returns the finished reply.
func (r *chatReply) message() Message {
	m := Message{Role: RoleAssistant, Usage: r.usage}
	switch {
	case r.finish == "length":
		m.Stop = StopCut
	case r.finish == "content_filter" || r.refused:
		m.Stop = StopRefused
	}
	if r.text.Len() > 0 {
		m.Content = append(m.Content, Text(r.text.String()))
	}
	for i, call := range r.calls {
		cut := m.Stop == StopCut && i == len(r.calls)-1
		m.Content = append(m.Content, Arguments(call.id, call.tool, call.input.String(), cut))
	}
	return m
}
