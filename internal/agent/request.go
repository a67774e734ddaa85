package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/agent/tool"
	"github.com/umpirehq/umpire/internal/gate/batch"
	"github.com/umpirehq/umpire/policy"
)

// request builds the next request from the stored conversation.
func (r *run) request(c *umpire.Conversation) (llm.Request, error) {
	request := llm.Request{System: r.System, Tools: r.tools.Tools()}
	for _, stored := range c.Messages {
		message, err := readMessage(stored)
		if err != nil {
			return request, umpire.Errorf("message %d of session %q: %w", stored.N, r.session.ID, err)
		}
		request.Messages = addMessage(request.Messages, message)
		if stored.Batch != "" {
			request.Messages = addMessage(request.Messages, resultMessage(c.Batches[stored.Batch], message.Calls()))
		}
	}
	return request, nil
}

// readMessage decodes a stored message: the user's are texts, the assistant's are the model's
// blocks.
func readMessage(stored umpire.Message) (llm.Message, error) {
	if stored.Role == string(llm.RoleUser) {
		var text string
		if err := json.Unmarshal(stored.Content, &text); err != nil {
			return llm.Message{}, err
		}
		return llm.Message{Role: llm.RoleUser, Content: []llm.Block{llm.Text(text)}}, nil
	}
	message := llm.Message{}
	err := json.Unmarshal(stored.Content, &message)
	message.Role = llm.RoleAssistant
	return message, err
}

// resultMessage returns the results of a batch as a message. It tells the model why a call is
// broken; the gate only knows that it was malformed.
func resultMessage(done umpire.Done, calls []llm.Block) llm.Message {
	broken := map[string]string{}
	for _, call := range calls {
		broken[call.ID] = call.Broken
	}
	message := llm.Message{Role: llm.RoleUser}
	for _, result := range done.Results {
		output := result.Output
		if why := broken[string(result.Call)]; why != "" {
			output = "Error: The call was not run. " + why
		}
		message.Content = append(message.Content, llm.Result(string(result.Call), output, result.IsError()))
	}
	return message
}

// addMessage appends a message. It merges consecutive texts of one side.
func addMessage(messages []llm.Message, m llm.Message) []llm.Message {
	if len(m.Content) == 0 {
		return messages
	}
	if n := len(messages); n > 0 && messages[n-1].Role == m.Role {
		messages[n-1].Content = append(messages[n-1].Content, m.Content...)
		return messages
	}
	return append(messages, m)
}

// silence replaces an empty reply, which could not be sent back.
const silence = "(no reply)"

// cleanReply drops empty texts of a reply, and marks broken calls.
func cleanReply(m llm.Message) llm.Message {
	kept := llm.Message{Role: llm.RoleAssistant, Stop: m.Stop, Usage: m.Usage}
	says := false
	for _, b := range m.Content {
		if b.Type == llm.TypeText && strings.TrimSpace(b.Text) == "" {
			continue
		}
		kept.Content = append(kept.Content, markBroken(b))
		says = says || b.Type != llm.TypeThinking
	}
	if !says {
		kept.Content = append(kept.Content, llm.Text(silence))
	}
	return kept
}

// markBroken marks an ambiguous call as broken: the gate would refuse it, and with it all calls of
// the message.
func markBroken(b llm.Block) llm.Block {
	if b.Type != llm.TypeCall || b.Broken != "" {
		return b
	}
	if _, err := batch.Canonical(b.Input); err != nil {
		call := llm.Call(b.ID, b.Tool, nil)
		call.Broken = "Its input cannot be used: " + err.Error()
		return call
	}
	return b
}

// storeReply stores a reply. One with calls becomes an open batch.
func (r *run) storeReply(ctx context.Context, message llm.Message, request llm.Request) error {
	makeDistinct(message, request.Messages)
	content, err := json.Marshal(message)
	if err != nil {
		return umpire.Errorf("reply of the model: %w", err)
	}
	calls := message.Calls()
	if len(calls) == 0 {
		reply := umpire.Reply{Session: r.session.ID, Message: content, Epoch: r.session.Epoch}
		_, err = r.Gate.Conversations().Reply(ctx, reply)
	} else {
		err = r.submit(ctx, calls, content)
	}
	if err != nil {
		return umpire.Errorf("store the model's reply: %w", err)
	}
	if text := message.Text(); text != "" {
		r.notify(func(h Handler) { h.Said(text) })
	}
	return nil
}

// makeDistinct replaces an id that is empty or was used before: some models restart their numbering
// in every message.
func makeDistinct(message llm.Message, before []llm.Message) {
	used := map[string]bool{}
	for _, m := range before {
		for _, call := range m.Calls() {
			used[call.ID] = true
		}
	}
	for i := range message.Content {
		b := &message.Content[i]
		if b.Type != llm.TypeCall {
			continue
		}
		id := b.ID
		if id == "" || len(id) > maxID {
			id = newID("call_")
		}
		for n := 2; used[id]; n++ {
			id = fmt.Sprintf("%s-%d", b.ID, n)
		}
		b.ID, used[id] = id, true
	}
}

// maxID is the longest call id that is kept as the model gave it.
const maxID = 128

// newID makes up an id.
func newID(prefix string) string { return prefix + rand.Text() }

// submit submits the calls of a message, all at once.
func (r *run) submit(ctx context.Context, calls []llm.Block, message json.RawMessage) error {
	s := umpire.Submission{
		Session: r.session.ID, Batch: umpire.BatchID(newID("msg_")), Message: message, Epoch: r.session.Epoch,
		Headless: r.session.Headless,
		Sandbox:  r.Sandbox,
	}
	for _, call := range calls {
		input := inputOf(&call)
		s.Calls = append(s.Calls, umpire.Call{
			ID: umpire.CallID(call.ID), Tool: call.Tool, Input: input, Dir: r.session.Dir, Agent: r.session.Agent,
			Session: s.Session, Batch: s.Batch, Background: tool.Background(input),
			Extra: claimsOf(r.tools, call.Tool),
		})
		if !r.tools.Has(call.Tool) && len(call.Tool) <= maxPlain && llm.Plain(call.Tool) &&
			!policy.JudgesOthers(call.Tool) {
			s.Tighten = append(s.Tighten, missingToolRule(call.Tool))
		}
	}
	_, err := retryPatiently(ctx, func() (umpire.Batch, error) { return r.Gate.Submit(ctx, s) })
	if err == nil {
		r.open = s.Batch
	}
	return err
}

// inputOf returns the input of a call for the gate. For a broken call it is the reason as a JSON
// string: no tool takes such an input, so the call is denied as malformed under any rules.
func inputOf(call *llm.Block) json.RawMessage {
	if call.Broken == "" {
		return call.Input
	}
	why, err := json.Marshal(call.Broken)
	if err != nil {
		return json.RawMessage(`"broken"`)
	}
	return why
}

// maxPlain bounds the name of a missing tool, because a rule must be able to name it.
const maxPlain = 128

// missingToolRule denies a missing tool: there is no point in asking about a call that cannot run.
// It is sent only if it covers no other call of the message; otherwise running the call reports
// that the tool is missing.
func missingToolRule(name string) umpire.Rule {
	return umpire.Rule{
		ID: "no-such-tool", Action: umpire.Deny, Tool: name, Source: umpire.SourceSession,
		Description: "This agent has no tool of that name.",
	}
}
