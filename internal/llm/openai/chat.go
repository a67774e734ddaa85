package openai

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/umpirehq/umpire/internal/llm"
)

// A chatModel speaks https://developers.openai.com/api/docs/api-reference/chat.
type chatModel struct {
	name    string
	options llm.Options
	service sdk.ChatCompletionService
}

func newChat(name string, o llm.Options, options []option.RequestOption) *chatModel {
	options = append(options, option.WithHTTPClient(llm.HTTPClient()))
	return &chatModel{name: name, options: o, service: sdk.NewChatCompletionService(options...)}
}

// windows are what the provider's list of models says.
var windows = llm.Windows{
	"gpt-4o": 128_000, "gpt-4-turbo": 128_000, "gpt-4.1": 1_000_000, "gpt-5": 272_000,
	"o1": 200_000, "o3": 200_000, "o4-mini": 200_000,
}

// Window is the model's context in tokens, 0 for a name that is not known.
func (m *chatModel) Window() int64 { return windows.Of(m.name) }

// Reply asks the model, and listens until the message is whole.
func (m *chatModel) Reply(ctx context.Context, r llm.Request, onDelta func(llm.Delta)) (llm.Message, error) {
	ctx, line := llm.Watch(ctx, m.options)
	defer line.Close()
	stream := m.service.NewStreaming(ctx, m.params(r), option.WithMiddleware(line.Middleware))
	defer stream.Close()
	reply := &chatReply{deltaFunc: onDelta}
	for stream.Next() {
		chunk := stream.Current()
		reply.addChunk(&chunk)
	}
	// The end is a choice that is finished; what comes after it only counts tokens.
	if reply.finish == "" || stream.Err() != nil {
		return llm.Message{}, endOfStream(line, stream.Err(), reply.begun)
	}
	return reply.message(), nil
}

// params is a request in the SDK's words.
func (m *chatModel) params(r llm.Request) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{
		Model: m.name, StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
		ReasoningEffort: shared.ReasoningEffort(m.options.Effort),
	}
	if r.System != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(r.System)) // other servers know no developer
	}
	for _, message := range r.Messages {
		p.Messages = append(p.Messages, chatMessages(message)...)
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: llm.WireName(t.Name), Description: sdk.String(t.Description), Parameters: schemaOf(t.Schema),
		}))
	}
	return p
}

// chatMessages are the messages that one of ours is: each result is one, and so is
// what the user says.
func chatMessages(m llm.Message) []sdk.ChatCompletionMessageParamUnion {
	blocks := llm.Sendable(m, provider)
	if m.Role == llm.RoleAssistant {
		return []sdk.ChatCompletionMessageParamUnion{assistantMessage(blocks)}
	}
	var all []sdk.ChatCompletionMessageParamUnion
	for _, b := range blocks {
		if b.Type == llm.TypeResult {
			all = append(all, sdk.ToolMessage(outputOf(&b), llm.WireID(b.Call)))
		}
	}
	if text := (llm.Message{Content: blocks}).Text(); text != "" {
		all = append(all, sdk.UserMessage(text))
	}
	return all
}

// assistantMessage is what the model said: a text, calls, or both.
func assistantMessage(blocks []llm.Block) sdk.ChatCompletionMessageParamUnion {
	m := &sdk.ChatCompletionAssistantMessageParam{}
	said := llm.Message{Content: blocks}
	if text := said.Text(); text != "" {
		m.Content.OfString = sdk.String(text)
	}
	for _, call := range said.Calls() {
		function := sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: llm.WireID(call.ID), Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
				Name: llm.WireName(call.Tool), Arguments: string(call.Input),
			},
		}
		m.ToolCalls = append(m.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &function})
	}
	if len(m.ToolCalls) == 0 && m.Content.OfString.Value == "" {
		m.Content.OfString = sdk.String("(nothing)") // all that was said went to another provider's model
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: m}
}

// A chatReply is a message that comes in, one chunk after the other.
type chatReply struct {
	deltaFunc

	begun, refused bool
	text           strings.Builder
	calls          []*chatCall
	finish         string
	usage          llm.Usage
}

// A chatCall is a call that comes in.
type chatCall struct {
	index    int64
	id, tool string
	input    strings.Builder
}

// addChunk adds a chunk.
func (r *chatReply) addChunk(c *sdk.ChatCompletionChunk) {
	r.begun = true
	if c.Usage.TotalTokens > 0 {
		r.usage = llm.Usage{Input: c.Usage.PromptTokens, Output: c.Usage.CompletionTokens}
	}
	if len(c.Choices) == 0 {
		return
	}
	choice := &c.Choices[0]
	if choice.FinishReason != "" {
		r.finish = choice.FinishReason
	}
	r.refused = r.refused || choice.Delta.Refusal != ""
	r.text.WriteString(choice.Delta.Content + choice.Delta.Refusal)
	r.send(llm.Delta{Text: choice.Delta.Content + choice.Delta.Refusal, Thinking: thinkingOf(&choice.Delta)})
	for i := range choice.Delta.ToolCalls {
		r.addCall(&choice.Delta.ToolCalls[i])
	}
}

// thinkingOf is what servers other than OpenAI's tell of it, under either of two names.
func thinkingOf(d *sdk.ChatCompletionChunkChoiceDelta) string {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var text string
		if json.Unmarshal([]byte(d.JSON.ExtraFields[name].Raw()), &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// addCall continues the last call, or begins one. Some servers count no index, and tell
// calls apart by their ids alone.
func (r *chatReply) addCall(d *sdk.ChatCompletionChunkChoiceDeltaToolCall) {
	var call *chatCall
	if n := len(r.calls); n > 0 {
		call = r.calls[n-1]
	}
	if call == nil || d.Index != call.index || d.ID != "" && d.ID != call.id {
		call = &chatCall{index: d.Index, id: d.ID, tool: d.Function.Name}
		r.calls = append(r.calls, call)
		r.send(llm.Delta{Tool: call.tool})
	}
	call.input.WriteString(d.Function.Arguments)
}

// message is the reply once it is over.
func (r *chatReply) message() llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Usage: r.usage}
	switch {
	case r.finish == "length":
		m.Stop = llm.StopCut
	case r.finish == "content_filter" || r.refused:
		m.Stop = llm.StopRefused
	}
	if r.text.Len() > 0 {
		m.Content = append(m.Content, llm.Text(r.text.String()))
	}
	for i, call := range r.calls {
		cut := m.Stop == llm.StopCut && i == len(r.calls)-1
		m.Content = append(m.Content, llm.Arguments(call.id, call.tool, call.input.String(), cut))
	}
	return m
}
