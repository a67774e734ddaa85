package llm

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
)

// A responsesModel speaks https://developers.openai.com/api/docs/api-reference/responses.
type responsesModel struct {
	name    string
	options Options
	server  *Endpoint
	// plain is set once the model has refused to encrypt its reasoning: it does not reason.
	plain atomic.Bool
}

func newResponses(name string, o Options, server *Endpoint) *responsesModel {
	return &responsesModel{name: name, options: o, server: server}
}

// Window returns the model's context in tokens, or 0 for an unknown name.
func (m *responsesModel) Window() int64 { return gptWindows.Of(m.name) }

// Reply sends the request and reads the stream until the message is complete.
func (m *responsesModel) Reply(ctx context.Context, r Request, onDelta func(Delta)) (Message, error) {
	message, err := m.sendRequest(ctx, r, onDelta)
	if err == nil || m.plain.Load() || !refusesInclude(err) {
		return message, err
	}
	m.plain.Store(true)
	return m.sendRequest(ctx, r, onDelta)
}

// refusesInclude recognizes the error of a model that does not reason.
func refusesInclude(err error) bool {
	bad, ok := errors.AsType[*badRequestError](err)
	return ok && bad.param == "include"
}

func (m *responsesModel) sendRequest(
	ctx context.Context, r Request, onDelta func(Delta),
) (Message, error) {
	stream := m.server.Post(ctx, m.options, "responses", m.requestBody(r))
	defer stream.Close()
	reply := &responsesReply{deltaFunc: onDelta}
	for stream.Next() {
		var event responsesEvent
		if !stream.Decode(&event) {
			break
		}
		if reply.addEvent(&event) {
			return reply.message()
		}
	}
	return Message{}, endOfStream(stream.Err())
}

// A responsesRequest requests a response.
type responsesRequest struct {
	Model        string   `json:"model"`
	Stream       bool     `json:"stream"`
	Store        bool     `json:"store"`
	Instructions string   `json:"instructions,omitempty"`
	Include      []string `json:"include,omitempty"`
	Reasoning    fields   `json:"reasoning,omitempty"`
	Input        []any    `json:"input"`
	Tools        []fields `json:"tools,omitempty"`
}

func (m *responsesModel) requestBody(r Request) responsesRequest {
	body := responsesRequest{Model: m.name, Stream: true, Instructions: r.System}
	for _, message := range r.Messages {
		for _, b := range sendable(message, openAIName) {
			body.Input = append(body.Input, itemOf(message.Role, &b))
		}
	}
	if !m.plain.Load() {
		body.Include = []string{"reasoning.encrypted_content"}
	}
	if m.options.Effort != "" {
		body.Reasoning = fields{"effort": m.options.Effort, "summary": "auto"}
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, fields{
			"type": "function", "name": WireName(t.Name), "description": t.Description, "parameters": t.Schema,
			"strict": false,
		})
	}
	return body
}

// itemOf converts one block. Items that this API sent go back unchanged.
func itemOf(role Role, b *Block) any {
	switch b.Type {
	case TypeThinking:
		return b.Raw
	case TypeCall:
		if b.Own(openAIName) && callID(b.Raw) == b.ID {
			return b.Raw
		}
		return fields{
			"type": "function_call", "call_id": WireID(b.ID), "name": WireName(b.Tool),
			"arguments": string(b.Input),
		}
	case TypeResult:
		return fields{"type": "function_call_output", "call_id": WireID(b.Call), "output": outputOf(b)}
	case TypeText:
	}
	if b.Own(openAIName) {
		return b.Raw
	}
	return fields{"role": role, "content": b.Text}
}

// callID returns the id in an item; the call's own id may have changed since.
func callID(raw json.RawMessage) string {
	var i struct {
		CallID string `json:"call_id"`
	}
	if json.Unmarshal(raw, &i) != nil {
		return ""
	}
	return i.CallID
}
