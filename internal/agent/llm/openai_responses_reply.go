package llm

import (
	"cmp"
	"encoding/json"
	"strings"
)

// A responsesEvent is an event of any kind.
type responsesEvent struct {
	Type        string          `json:"type"`
	OutputIndex int64           `json:"output_index"`
	Item        json.RawMessage `json:"item"`
	Delta       string          `json:"delta"`
	Response    response        `json:"response"`
	Error       *openAIError    `json:"error"` // of other servers; OpenAI's is in the event itself

	openAIError
}

// A response is the complete response.
type response struct {
	Status            string      `json:"status"`
	Error             openAIError `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		InputTokens  int64 `json:"input_tokens"`
		OutputTokens int64 `json:"output_tokens"`
	} `json:"usage"`
}

// A responsesItem is an item of any kind.
type responsesItem struct {
	Type      string `json:"type"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments text   `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

func decodeItem(raw json.RawMessage) responsesItem {
	var i responsesItem
	_ = json.Unmarshal(raw, &i) // ignore fields of other types
	return i
}

// A responsesReply is a message being received, one event after the other.
type responsesReply struct {
	deltaFunc

	items  []*outputItem // in order of their beginning
	open   map[int64]*outputItem
	end    response
	failed error
}

// An outputItem is an item being received. It is only final when done.
type outputItem struct {
	kind, call, tool string
	done             json.RawMessage

	text, input strings.Builder
}

// addEvent adds an event. It reports whether it was the last one.
func (r *responsesReply) addEvent(e *responsesEvent) bool {
	if e.Error != nil {
		r.failed = openAIStreamFailure(cmp.Or(e.Error.Code, e.Error.Type), e.Error.Message)
		return true
	}
	switch e.Type {
	case "response.output_item.added":
		r.startItem(e)
	case "response.output_item.done":
		r.itemAt(e.OutputIndex).done = e.Item
	case "response.output_text.delta", "response.refusal.delta":
		r.itemAt(e.OutputIndex).text.WriteString(e.Delta)
		r.send(Delta{Text: e.Delta})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.send(Delta{Thinking: e.Delta})
	case "response.function_call_arguments.delta":
		r.itemAt(e.OutputIndex).input.WriteString(e.Delta)
	case "error":
		r.failed = openAIStreamFailure(e.Code, e.Message)
	case "response.failed":
		r.failed = openAIStreamFailure(e.Response.Error.Code, e.Response.Error.Message)
	case "response.completed", "response.incomplete":
		r.end = e.Response
		return true
	}
	return r.failed != nil
}

func (r *responsesReply) startItem(e *responsesEvent) {
	item := r.itemAt(e.OutputIndex)
	begun := decodeItem(e.Item)
	item.kind, item.call, item.tool = begun.Type, begun.CallID, begun.Name
}

// itemAt returns the item with an index, creating it on first use.
func (r *responsesReply) itemAt(index int64) *outputItem {
	if r.open == nil {
		r.open = map[int64]*outputItem{}
	}
	item := r.open[index]
	if item == nil {
		item = &outputItem{}
		r.items, r.open[index] = append(r.items, item), item
	}
	return item
}

// message returns the finished reply.
func (r *responsesReply) message() (Message, error) {
	if r.failed != nil {
		return Message{}, r.failed
	}
	m := Message{
		Role: RoleAssistant, Stop: stopOfResponse(&r.end),
		Usage: Usage{Input: r.end.Usage.InputTokens, Output: r.end.Usage.OutputTokens},
	}
	for _, item := range r.items {
		block, refused := item.block(m.Stop == StopCut)
		if block.Type != "" {
			m.Content = append(m.Content, block)
		}
		if refused {
			m.Stop = StopRefused
		}
	}
	return m, nil
}

func stopOfResponse(r *response) Stop {
	switch {
	case r.Status != "incomplete":
		return StopEnd
	case r.IncompleteDetails.Reason == "content_filter":
		return StopRefused
	}
	return StopCut
}

// block converts an item to our form, and reports whether the model refuses. It omits an item of a
// kind that was not requested.
func (o *outputItem) block(cut bool) (block Block, refused bool) {
	if o.done == nil {
		return o.half(cut), false
	}
	item := decodeItem(o.done)
	switch item.Type {
	case "message":
		words, refused := messageText(&item)
		return o.markOwn(Text(words)), refused
	case "function_call":
		call := Arguments(item.CallID, item.Name, string(item.Arguments), cut && item.Status != "completed")
		if call.Broken != "" {
			return call, false // the original cannot be sent back
		}
		return o.markOwn(call), false
	case "reasoning":
		var summary []string
		for _, part := range item.Summary {
			summary = append(summary, part.Text)
		}
		return o.markOwn(Block{Type: TypeThinking, Text: strings.Join(summary, "\n")}), false
	}
	return Block{}, false
}

// half converts an item that was not done when the reply was cut off.
func (o *outputItem) half(cut bool) Block {
	switch o.kind {
	case "message":
		return Text(o.text.String())
	case "function_call":
		return Arguments(o.call, o.tool, o.input.String(), cut)
	}
	return Block{}
}

// markOwn marks a block to be sent back unchanged.
func (o *outputItem) markOwn(b Block) Block {
	b.Provider, b.Raw = openAIName, o.done
	return b
}

// messageText returns the text of a message.
func messageText(item *responsesItem) (text string, refused bool) {
	var texts []string
	for _, part := range item.Content {
		refused = refused || part.Type == "refusal"
		texts = append(texts, part.Text+part.Refusal)
	}
	return strings.Join(texts, ""), refused
}
