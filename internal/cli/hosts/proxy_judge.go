package hosts

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/editor"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// A gateJudge asks the same questions as a hook, to the running gate or to one of this process.
// It is safe for concurrent use.
type gateJudge struct {
	app    *app.App
	host   string // the name of the host in package host
	runner string // the process that works for the model
	// unattended says that people can answer only in umpire's inbox.
	unattended bool

	own     sync.Once
	gate    *app.StartedGate
	fallen  *host.Responder
	problem error
}

func newJudge(a *app.App, host string) *gateJudge { return &gateJudge{app: a, host: host} }

// close ends the gate of this process.
func (j *gateJudge) close() {
	j.own.Do(func() {})
	if j.gate == nil {
		return
	}
	if err := j.gate.Close(); err != nil {
		j.app.RemarkError(err)
	}
}

// responder returns the responder of this process, for use without a running gate.
func (j *gateJudge) responder(ctx context.Context) (*host.Responder, error) {
	j.own.Do(func() {
		conf, err := j.app.LoadConfig(j.app.Dir)
		if err != nil {
			j.problem = err
			return
		}
		at, err := j.app.ReadStoreAddress(conf.Store)
		if err == nil {
			j.gate, err = j.app.StartGate(context.WithoutCancel(ctx), conf, at, true)
		}
		if j.problem = err; err != nil {
			return
		}
		j.fallen = NewGateResponder(j.app, j.gate.Gate)
		j.fallen.UseGate(j.gate.Gate, func(context.Context, umpire.SessionID) bool { return false })
	})
	return j.fallen, j.problem
}

// A payload is a question or a notice in the form of the hosts that start no hook.
type payload struct {
	Event    string          `json:"proxy_event"`
	Mode     string          `json:"permission_mode,omitempty"`
	Session  string          `json:"session_id"`
	Dir      string          `json:"cwd"`
	Project  string          `json:"project_dir"`
	Tool     string          `json:"tool_name,omitempty"`
	Input    json.RawMessage `json:"tool_input,omitempty"`
	ID       string          `json:"tool_use_id,omitempty"`
	Response json.RawMessage `json:"tool_response,omitempty"`
	Failure  string          `json:"error,omitempty"`
	Prompt   string          `json:"prompt,omitempty"`
}

// Decide asks about a call.
func (j *gateJudge) Decide(ctx context.Context, q editor.Question) (editor.Answer, error) {
	p := payloadOf("before", string(q.Call.Session), q.Project, &q.Call)
	silence := host.Allow // the editor acts on its own request; only a refusal or a question needs words
	if p.Mode = host.ACPRequest; q.Dialog {
		p.Mode, silence = host.ACPQuestion, host.Ask
	}
	out, exit, err := j.ask(ctx, p)
	if err != nil {
		return editor.Answer{}, err
	}
	return readAnswer(out, exit, silence)
}

func payloadOf(event, session, project string, call *umpire.Call) payload {
	return payload{
		Event: event, Session: session, Dir: cmp.Or(call.Dir, project), Project: project,
		Tool: call.Tool, Input: call.Input, ID: string(call.ID),
	}
}

// noticeEvents are the events that report past actions.
var noticeEvents = map[editor.NoticeKind]string{
	editor.Prompted: "prompt", editor.Stopped: "stop", editor.Finished: "after", editor.Failed: "failed",
}

// Tell reports a past action.
func (j *gateJudge) Tell(ctx context.Context, n editor.Notice) {
	p := payloadOf(noticeEvents[n.Kind], string(n.Session), n.Project, &n.Call)
	p.Prompt, p.Response = n.Text, n.Output
	if n.Kind == editor.Failed {
		p.Failure, p.Response = string(n.Output), nil
	}
	if out, exit, err := j.ask(ctx, p); err != nil {
		j.app.RemarkError(err)
	} else if exit != 0 {
		j.app.Remark(string(bytes.TrimSpace(out.Bytes())))
	}
}

// ask answers the question like that of a hook. The output is the hook's output.
func (j *gateJudge) ask(ctx context.Context, p payload) (out *bytes.Buffer, exit int, err error) {
	line, err := findLine(ctx, j.app)
	var responder *host.Responder
	if err == nil && line == nil {
		responder, err = j.responder(ctx)
	}
	if err != nil {
		return nil, 0, err
	}
	out = &bytes.Buffer{}
	front := host.Front{
		Stdin: bytes.NewReader(strictjson.EncodeLine(p)), Stdout: out, Stderr: io.Discard, Getenv: j.getenv,
		Dir: p.Project, Now: j.app.Now, Nonce: rand.Text, Runner: func() string { return j.runner },
		Responder: responder,
		Line:      func(context.Context, *host.Question) (*relay.Line, error) { return line, nil },
	}
	exit, known := front.Answer(ctx, []string{j.host})
	if !known {
		return nil, 0, umpire.Errorf("unknown host %q", j.host)
	}
	return out, exit, nil
}

// getenv returns the environment without variables about an attending person: the proxy knows that.
func (j *gateJudge) getenv(name string) string {
	switch name {
	case "CLAUDE_CODE_SESSION_ATTENDED":
		if j.unattended {
			return "0"
		}
		return ""
	case "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR":
		return ""
	}
	return j.app.Getenv(name)
}

// readAnswer parses the output of the hook of host acp. Empty output means silence.
func readAnswer(out *bytes.Buffer, exit int, silence host.Reply) (editor.Answer, error) {
	var said struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Message  string `json:"message"`
	}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &said); err != nil {
			return editor.Answer{}, umpire.Errorf("read the gate's answer: %w", err)
		}
	}
	reason := cmp.Or(said.Reason, said.Message, "denied by umpire")
	answer := editor.Answer{Reason: strings.TrimPrefix(reason, "umpire: ")} // the proxy says so itself
	switch {
	case exit != 0:
	case said.Decision == "allow":
		answer.Reply = host.Allow
	case said.Decision == "ask":
		answer.Reply = host.Ask
	case said.Decision == "":
		answer.Reply = silence
	}
	return answer, nil
}
