package agent

import (
	"context"
	"fmt"

	"github.com/umpirehq/umpire/internal/agent/llm"
)

// askModel asks the model. It leaves outputs of calls out of the request when the conversation
// nears the size of the model's context window, and when the model refuses it as too long; it then
// asks once more. The store keeps all outputs.
func (r *run) askModel(ctx context.Context, request llm.Request) (llm.Message, error) {
	r.elided = max(r.elided, foreseeElided(request, llm.WindowOf(r.Model)))
	message, err := r.Model.Reply(ctx, elideOutputs(request, r.elided), r.saying)
	if kind, ok := llm.KindOf(err); !ok || kind != llm.FailedTooLong {
		return message, err
	}
	more := countElidable(request, r.elided)
	if more == r.elided {
		return message, err
	}
	r.elided = more
	return r.Model.Reply(ctx, elideOutputs(request, r.elided), r.saying)
}

// A conversation is near the end of a context if a reply has left no more than this part of it: the
// next results and the next reply have to fit.
const spare = 5

// foreseeElided returns how many outputs to leave out before a model with a context of window
// tokens refuses. The number follows from the stored token counts of the replies; another run
// therefore leaves out the same ones.
func foreseeElided(request llm.Request, window int64) int {
	elided := 0
	for i, m := range request.Messages {
		if window > 0 && m.Usage.Input+m.Usage.Output > window-window/spare {
			elided = countElidable(llm.Request{Messages: request.Messages[:i]}, elided)
		}
	}
	return elided
}

// elideOutputs leaves out the first n outputs of a request. It copies the messages that it changes.
func elideOutputs(request llm.Request, n int) llm.Request {
	if n == 0 {
		return request
	}
	messages := make([]llm.Message, len(request.Messages))
	for i, m := range request.Messages {
		content := make([]llm.Block, len(m.Content))
		for k, b := range m.Content {
			if b.Type == llm.TypeResult && n > 0 {
				n--
				b.Output = shortenOutput(b.Output)
			}
			content[k] = b
		}
		m.Content = content
		messages[i] = m
	}
	request.Messages = messages
	return request
}

// countElidable returns how many outputs to leave out, oldest first, to halve the bytes of the
// outputs still sent. Token counts differ between models, so bytes stand in for them; and leaving
// out half lasts for a while.
func countElidable(request llm.Request, elided int) int {
	var outputs []string
	left := 0
	for _, m := range request.Messages {
		for _, b := range m.Results() {
			outputs = append(outputs, b.Output)
		}
	}
	for _, output := range outputs[min(elided, len(outputs)):] {
		left += savedBytes(output)
	}
	goal := left / 2
	for n := elided; n < len(outputs); n++ {
		if left <= goal {
			return n
		}
		left -= savedBytes(outputs[n])
	}
	return max(elided, len(outputs))
}

// savedBytes returns how many bytes leaving out an output saves.
func savedBytes(output string) int { return len(output) - len(shortenOutput(output)) }

// shortenOutput returns the note that replaces an output, or the output if it is shorter than the
// note.
func shortenOutput(output string) string {
	note := fmt.Sprintf("[Elided] This output of %d bytes was left out, since the conversation became too long. Run "+
		"the call again, or ask for less, if you need it.", len(output))
	if len(note) >= len(output) {
		return output
	}
	return note
}
