package editor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/jsonrpc"
)

// settleRequest judges a request of the agent and answers or forwards it. It returns an error if it
// cannot write to a side.
func (p *ACPProxy) settleRequest(ctx context.Context, m *jsonrpc.Message) error {
	s, calls, err := p.readRequest(m)
	if err != nil {
		return p.refuse(m, Answer{Reason: err.Error()})
	}
	if m.Method == methodPermission && s.isDialog(m.Params) {
		return p.Editor.Write(m.Raw)
	}
	answer := p.decide(ctx, s, m, calls)
	switch cause := context.Cause(ctx); {
	case p.relay.Over():
		return nil // the connection is gone
	case errors.Is(cause, errTurnCancelled) && m.Method == methodPermission:
		return p.Agent.Write(jsonrpc.Answer(m.ID, cancelled))
	case cause != nil:
		return p.Agent.Write(jsonrpc.Refuse(m.ID, jsonrpc.CodeCancelled, cause.Error()))
	}
	switch answer.Reply {
	case host.Allow:
		return p.allow(s, m, calls)
	case host.Ask, host.Hold, host.Silent:
		return p.ask(ctx, s, m, calls, answer)
	case host.Deny:
	}
	return p.refuse(m, answer)
}

// readRequest determines the session and the calls of a request.
func (p *ACPProxy) readRequest(m *jsonrpc.Message) (*session, []umpire.Call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, err := p.sessionOf(m.Params)
	if err != nil {
		return nil, nil, err
	}
	calls, err := callsOf(s, m.Method, m.Params)
	if err == nil && len(calls) == 0 {
		err = umpire.Errorf("%s: nothing to judge", m.Method)
	}
	for i := range calls {
		p.counter++
		// Not the agent's id alone: it may ask twice about one call, also after a restart.
		calls[i].ID = umpire.CallID(fmt.Sprintf("%s-%s-%d", cmp.Or(toolID(m.Params), m.Method), p.nonce[:8], p.counter))
	}
	return s, calls, err
}

// isDialog reports whether a question is a dialog of the agent's own, which only the user may
// answer.
func (s *session) isDialog(params json.RawMessage) bool {
	o, err := readParams(params)
	if err != nil {
		return false
	}
	t, err := s.readToolCall(o)
	return err == nil && t.kind == kindSwitchMode
}

// decide judges the calls of a request, except for those allowed in an earlier question.
func (p *ACPProxy) decide(ctx context.Context, s *session, m *jsonrpc.Message, calls []umpire.Call) Answer {
	var questions []Question
	dialog := m.Method == methodPermission
	p.mu.Lock()
	for i := range calls {
		if dialog || !s.usePass(&calls[i]) {
			questions = append(questions, Question{Call: calls[i], Project: s.project, Dialog: dialog})
		}
	}
	p.mu.Unlock()
	return DecideAll(ctx, p.Judge, questions)
}

// allow allows a request: it answers the question, or lets the editor carry it out.
func (p *ACPProxy) allow(s *session, m *jsonrpc.Message, calls []umpire.Call) error {
	p.mu.Lock()
	id := toolID(m.Params)
	if id != "" {
		s.asked.Put(id, calls[0])
	}
	p.mu.Unlock()
	if m.Method != methodPermission {
		p.awaitResult(s, m, calls)
		return p.Editor.Write(m.Raw)
	}
	o, ok := pick(optionsOf(m.Params), optionAllow)
	if !ok {
		return p.forwardQuestion(s, m, calls)
	}
	p.mu.Lock()
	s.allow(calls)
	p.mu.Unlock()
	return p.Agent.Write(jsonrpc.Answer(m.ID, selected(o)))
}

// refuse refuses a request. A question without an option to refuse once gets an error.
func (p *ACPProxy) refuse(m *jsonrpc.Message, answer Answer) error {
	if p.relay.Over() {
		return nil
	}
	if m.Method == methodPermission {
		if o, ok := pick(optionsOf(m.Params), optionReject); ok {
			p.report(umpire.Errorf("denied: %s", answer.Reason))
			return p.Agent.Write(jsonrpc.Answer(m.ID, selected(o)))
		}
	}
	return p.Agent.Write(jsonrpc.Refuse(m.ID, jsonrpc.CodeDenied, "umpire: "+answer.Reason))
}

// ask makes the editor ask its user.
func (p *ACPProxy) ask(ctx context.Context, s *session, m *jsonrpc.Message, calls []umpire.Call, why Answer) error {
	if m.Method == methodPermission {
		return p.forwardQuestion(s, m, calls)
	}
	answered := make(chan bool, 1)
	options := []option{{optionAllow, "Allow once", optionAllow}, {optionReject, "Reject", optionReject}}
	p.mu.Lock()
	p.counter++
	id := fmt.Appendf(nil, `"umpire-%s-%d"`, p.nonce, p.counter)
	p.dialogs.Put(jsonrpc.KeyOf(id), func(said *jsonrpc.Message) bool {
		answered <- chosen(said.Result, options) == optionAllow
		return true
	})
	p.mu.Unlock()
	params := dialogOf(s, m, calls, options, why.Reason)
	if err := p.Editor.Write(jsonrpc.Call(id, methodPermission, params)); err != nil {
		return err
	}
	select {
	case yes := <-answered:
		if !yes {
			return p.refuse(m, Answer{Reason: "the user said no"})
		}
		p.awaitResult(s, m, calls)
		return p.Editor.Write(m.Raw)
	case <-ctx.Done():
	}
	p.mu.Lock()
	p.dialogs.Put(jsonrpc.KeyOf(id), func(*jsonrpc.Message) bool { return true }) // it came too late
	p.mu.Unlock()
	if p.relay.Over() {
		return nil
	}
	return p.Agent.Write(jsonrpc.Refuse(m.ID, jsonrpc.CodeCancelled, context.Cause(ctx).Error()))
}

// forwardQuestion passes a question of the agent to the editor unchanged, and records what its user
// allows.
func (p *ACPProxy) forwardQuestion(s *session, m *jsonrpc.Message, calls []umpire.Call) error {
	options := optionsOf(m.Params)
	p.mu.Lock()
	p.dialogs.Put(m.Key(), func(said *jsonrpc.Message) bool {
		if kind := chosen(said.Result, options); kind == optionAllow || kind == "allow_always" {
			s.allow(calls)
		}
		return false
	})
	p.mu.Unlock()
	return p.Editor.Write(m.Raw)
}

// awaitResult watches for the editor's answer to a request that it carries out.
func (p *ACPProxy) awaitResult(s *session, m *jsonrpc.Message, calls []umpire.Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialogs.Put(m.Key(), func(said *jsonrpc.Message) bool {
		for i := range calls {
			n := &Notice{Kind: Finished, Session: s.umpireID(), Project: s.project, Call: calls[i]}
			if said.Error != nil {
				n.Kind, n.Output = Failed, said.Error
			}
			p.tell(n)
		}
		return false
	})
}

// answerDialog runs the handler of an answer from the editor. It reports whether the answer is to
// one of umpire's own questions.
func (p *ACPProxy) answerDialog(m *jsonrpc.Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	follow, known := p.dialogs.Take(m.Key())
	return known && follow(m)
}

// noteUpdate processes the agent's report on its calls.
func (p *ACPProxy) noteUpdate(m *jsonrpc.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	params, err := readParams(m.Params)
	if err != nil {
		return
	}
	update, err := params.Child("update")
	if err != nil {
		return
	}
	id, _ := update.Text("toolCallId")
	s, err := p.sessionOf(m.Params)
	if err != nil || id == "" {
		return
	}
	s.noteTool(update)
	status, _ := update.Text("status")
	kinds := map[string]NoticeKind{"completed": Finished, "failed": Failed}
	kind, over := kinds[status]
	if !over {
		return
	}
	s.tools.Take(id)
	if call, known := s.asked.Take(id); known {
		p.tell(&Notice{Kind: kind, Session: s.umpireID(), Project: s.project, Call: call, Output: update["content"]})
	}
}

// toolID returns the agent's id of the call that a question is about, or "" for other requests.
func toolID(params json.RawMessage) string {
	o, err := readParams(params)
	if err != nil {
		return ""
	}
	call, err := o.Child("toolCall")
	if err != nil {
		return ""
	}
	id, _ := call.Text("toolCallId")
	if umpire.CheckID("toolCallId", id) != nil || len(id) > maxToolID {
		return ""
	}
	return id
}

// maxToolID leaves room for a suffix that distinguishes two questions about one call.
const maxToolID = umpire.MaxID / 2

// dialogOf returns the parameters of a question that umpire asks itself.
func dialogOf(s *session, m *jsonrpc.Message, calls []umpire.Call, options []option, why string) json.RawMessage {
	type location struct {
		Path string `json:"path"`
	}
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type content struct {
		Type    string `json:"type"`
		Content text   `json:"content"`
	}
	kinds := map[string]string{methodRead: kindRead, methodWrite: kindEdit, methodTerminal: kindExecute}
	call := struct {
		ID        string          `json:"toolCallId"`
		Kind      string          `json:"kind"`
		Status    string          `json:"status"`
		Title     string          `json:"title"`
		Input     json.RawMessage `json:"rawInput"`
		Locations []location      `json:"locations"`
		Content   []content       `json:"content"`
	}{ID: "umpire-" + string(calls[0].ID), Kind: cmp.Or(kinds[m.Method], "other"), Status: "pending",
		Title: titleOf(m, calls), Input: calls[0].Input, Locations: []location{}, Content: []content{}}
	if why != "" {
		call.Content = append(call.Content, content{"content", text{"text", why}})
	}
	return encode(map[string]any{"sessionId": s.id, "toolCall": call, "options": options})
}

// titleOf describes a request in one line.
func titleOf(m *jsonrpc.Message, calls []umpire.Call) string {
	var input struct {
		Command string `json:"command"`
		Path    string `json:"file_path"`
	}
	_ = json.Unmarshal(calls[0].Input, &input) // it was encoded here
	switch {
	case input.Command != "":
		return input.Command
	case input.Path != "" && m.Method == methodRead:
		return "Read " + filepath.ToSlash(input.Path)
	case input.Path != "":
		return "Write " + filepath.ToSlash(input.Path)
	}
	return m.Method
}
