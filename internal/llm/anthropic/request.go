package anthropic

import (
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/umpirehq/umpire/internal/llm"
)

// params is a request in the SDK's words.
func (m *Model) params(r llm.Request) sdk.MessageNewParams {
	p := sdk.MessageNewParams{
		Model: m.name, MaxTokens: maxTokens,
		// The last block is marked, so that what a conversation begins with is paid for once.
		CacheControl: sdk.NewCacheControlEphemeralParam(),
	}
	if r.System != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	for _, t := range r.Tools {
		tool := sdk.ToolUnionParamOfTool(param.Override[sdk.ToolInputSchemaParam](t.Schema), llm.WireName(t.Name))
		tool.OfTool.Description = sdk.String(t.Description)
		p.Tools = append(p.Tools, tool)
	}
	for _, message := range r.Messages {
		p.Messages = append(
			p.Messages, sdk.MessageParam{Role: sdk.MessageParamRole(message.Role), Content: blocksOf(message)},
		)
	}
	if m.options.Effort != "" {
		p.Thinking = sdk.ThinkingConfigParamUnion{
			OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized},
		}
		p.OutputConfig = sdk.OutputConfigParam{Effort: sdk.OutputConfigEffort(m.options.Effort)}
	}
	return p
}

// blocksOf is the content of a message.
func blocksOf(m llm.Message) []sdk.ContentBlockParamUnion {
	var all []sdk.ContentBlockParamUnion
	for _, b := range llm.Sendable(m, provider) {
		switch b.Type {
		case llm.TypeText:
			all = append(all, sdk.NewTextBlock(b.Text))
		case llm.TypeThinking:
			all = append(all, param.Override[sdk.ContentBlockParamUnion](b.Raw))
		case llm.TypeCall:
			all = append(all, sdk.NewToolUseBlock(llm.WireID(b.ID), b.Input, llm.WireName(b.Tool)))
		case llm.TypeResult:
			all = append(all, resultBlock(&b))
		}
	}
	return all
}

// resultBlock answers a call. A text that shows nothing is refused, so an empty output is
// no content.
func resultBlock(b *llm.Block) sdk.ContentBlockParamUnion {
	block := sdk.NewToolResultBlock(llm.WireID(b.Call), b.Output, b.IsError)
	if strings.TrimSpace(b.Output) == "" {
		block.OfToolResult.Content = nil
	}
	return block
}
