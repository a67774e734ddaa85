package openai

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/umpirehq/umpire/internal/llm"
)

// A responsesModel speaks https://developers.openai.com/api/docs/api-reference/responses.
type responsesModel struct {
	name    string
	options llm.Options
	service responses.ResponseService
	// plain says that the model has refused to give its reasoning encrypted: it has none.
	plain atomic.Bool
}

func newResponses(name string, o llm.Options, options []option.RequestOption) *responsesModel {
	options = append(options, option.WithHTTPClient(llm.HTTPClient()))
	return &responsesModel{name: name, options: o, service: responses.NewResponseService(options...)}
}

// Window is the model's context in tokens, 0 for a name that is not known.
func (m *responsesModel) Window() int64 { return windows.Of(m.name) }

// Reply asks the model, and listens until the message is whole.
func (m *responsesModel) Reply(ctx context.Context, r llm.Request, onDelta func(llm.Delta)) (llm.Message, error) {
	message, err := m.sendRequest(ctx, r, onDelta)
	if err == nil || m.plain.Load() || !refusesInclude(err) {
		return message, err
	}
	m.plain.Store(true)
	return m.sendRequest(ctx, r, onDelta)
}

// refusesInclude recognizes a model that does not reason.
func refusesInclude(err error) bool {
	answer, ok := errors.AsType[*sdk.Error](err)
	return ok && answer.Param == "include"
}

func (m *responsesModel) sendRequest(ctx context.Context, r llm.Request, onDelta func(llm.Delta)) (llm.Message, error) {
	ctx, line := llm.Watch(ctx, m.options)
	defer line.Close()
	stream := m.service.NewStreaming(ctx, m.params(r), option.WithMiddleware(line.Middleware))
	defer stream.Close()
	reply := &responsesReply{deltaFunc: onDelta}
	for stream.Next() {
		if event := stream.Current(); reply.addEvent(&event) {
			return reply.message()
		}
	}
	return llm.Message{}, endOfStream(line, stream.Err(), reply.begun)
}

// params is a request in the SDK's words.
func (m *responsesModel) params(r llm.Request) responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model: m.name, Store: param.NewOpt(false),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: itemsOf(r.Messages)},
	}
	if r.System != "" {
		p.Instructions = param.NewOpt(r.System)
	}
	if !m.plain.Load() {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	if m.options.Effort != "" {
		p.Reasoning = shared.ReasoningParam{
			Effort: shared.ReasoningEffort(m.options.Effort), Summary: shared.ReasoningSummaryAuto,
		}
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: llm.WireName(t.Name), Description: param.NewOpt(t.Description), Parameters: schemaOf(t.Schema),
			Strict: param.NewOpt(false),
		}})
	}
	return p
}

// schemaOf is a tool's schema as the SDK takes it. It has been checked to be an object.
func schemaOf(raw json.RawMessage) map[string]any {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return map[string]any{"type": "object"}
	}
	return fields
}

// itemsOf are the messages as a list of items.
func itemsOf(messages []llm.Message) responses.ResponseInputParam {
	var all responses.ResponseInputParam
	for _, m := range messages {
		for _, b := range llm.Sendable(m, provider) {
			all = append(all, itemOf(m.Role, &b))
		}
	}
	return all
}

// itemOf is one block. Items that this API sent go back unchanged.
func itemOf(role llm.Role, b *llm.Block) responses.ResponseInputItemUnionParam {
	switch b.Type {
	case llm.TypeThinking:
		return param.Override[responses.ResponseInputItemUnionParam](b.Raw)
	case llm.TypeCall:
		if b.Own(provider) && callID(b.Raw) == b.ID {
			return param.Override[responses.ResponseInputItemUnionParam](b.Raw)
		}
		return responses.ResponseInputItemParamOfFunctionCall(string(b.Input), llm.WireID(b.ID), llm.WireName(b.Tool))
	case llm.TypeResult:
		result := responses.ResponseInputItemParamOfFunctionCallOutput(outputOf(b))
		result.OfFunctionCallOutput.CallID = param.NewOpt(llm.WireID(b.Call))
		return result
	case llm.TypeText:
	}
	if b.Own(provider) {
		return param.Override[responses.ResponseInputItemUnionParam](b.Raw)
	}
	return responses.ResponseInputItemParamOfMessage(b.Text, responses.EasyInputMessageRole(role))
}

// callID is the id in an item; the call may have been given another one since.
func callID(raw json.RawMessage) string {
	var i struct {
		CallID string `json:"call_id"`
	}
	if json.Unmarshal(raw, &i) != nil {
		return ""
	}
	return i.CallID
}
