package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
	"github.com/umpirehq/umpire/internal/view"
)

// The answer of a PreToolUse hook. Claude Code drops an answer with a word it
// does not know and runs the call, so these structs hold every field there is.
type preToolUseAnswer struct {
	Message string            `json:"systemMessage,omitempty"`
	Output  *preToolUseOutput `json:"hookSpecificOutput,omitempty"`
}

type preToolUseOutput struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
	// Input takes the place of the whole input of the call.
	Input json.RawMessage `json:"updatedInput,omitempty"`
}

// The answer of a PermissionRequest hook.
type permissionRequestAnswer struct {
	Output permissionRequestOutput `json:"hookSpecificOutput"`
}

type permissionRequestOutput struct {
	Event    string             `json:"hookEventName"`
	Decision permissionBehavior `json:"decision"`
}

type permissionBehavior struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

// Reply is what Claude Code is told about a decision on e, in the mode that it was sent
// with. Headless says that nobody can answer. An allow of ours never answers a dialog
// that is the whole point of a tool.
func (e ClaudeEvent) Reply(d umpire.Decision, m Mode, headless bool) Reply {
	if !e.Kind.Decides() {
		return Silent
	}
	m.Permission = ClaudePermission(e.PermissionMode)
	reply := Answer(d, m)
	switch {
	case headless && d.Verdict == umpire.Ask && reply != Allow:
		return Deny
	case reply == Allow && isDialog(e.ToolName):
		return Silent
	}
	return reply
}

// AnswerClaude writes a reply to e in Claude Code's words; d says why.
//
//	           PreToolUse                 PermissionRequest
//	deny       JSON, stderr, exit 2       JSON, stderr, exit 0
//	ask, hold  JSON "ask"                 nothing: the dialog stays
//	allow      JSON                       JSON
//	silent     nothing                    nothing
//
// Every other event gets no output and exit 0. A reply out of range denies.
func AnswerClaude(e ClaudeEvent, d umpire.Decision, reply Reply) Output {
	if !e.Kind.Decides() {
		return Output{}
	}
	switch reply {
	case Allow:
		return allowClaude(e, d)
	case Ask, Hold:
		return askClaude(e, d)
	case Silent:
		return Output{}
	case Deny:
	}
	if d.Verdict == umpire.Ask {
		return denyClaude(e.Kind, headlessText(d))
	}
	return denyClaude(e.Kind, denyText(e, d))
}

// HandBackClaude answers a PreToolUse whose question was held and goes to Claude Code's
// own dialog after all. The user reads the message above it. A reply that is neither a
// question nor silence denies.
func HandBackClaude(e ClaudeEvent, d umpire.Decision, reply Reply, message string) Output {
	answer := preToolUseAnswer{Message: message}
	switch reply {
	case Silent:
	case Ask, Hold:
		answer.Output = &preToolUseOutput{
			Event: ClaudePreToolUse.String(), Decision: umpire.Ask.String(), Reason: askText(d),
		}
	case Deny, Allow:
		return AnswerClaude(e, d, Deny)
	}
	return Output{Stdout: strictjson.EncodeLine(answer)}
}

// FailClaude is the answer when umpire could not decide: the payload was
// unreadable, the gate failed, or the deadline is near. event is the name from
// the payload; when it is empty or unknown, the answer has the form of PreToolUse.
//
// Events that decide nothing are not denied, for exit 2 there would throw away
// the user's prompt or keep the agent from stopping: the problem goes to stderr
// with exit 1, which is shown and changes nothing. A question of another agent is refused
// whatever it is about.
func FailClaude(event string, problem error) Output {
	kind := ClaudeKindOf(event)
	if _, is := errors.AsType[*ForeignError](problem); is {
		kind = ClaudeOther // whatever it asked, it is not to go on as if it were answered
	}
	if kind != ClaudeOther && !kind.Decides() {
		return Output{Stderr: []byte(problemText("umpire missed a "+kind.String()+" event", problem) + "\n"), Exit: 1}
	}
	return denyClaude(kind, problemText(undecided, problem))
}

// denyClaude says no in every way that the event listens to. PreToolUse is
// blocked by the JSON, or by exit 2 with a reason should the JSON get lost.
// PermissionRequest reads JSON with exit 0 only: exit 2 leaves its dialog open.
func denyClaude(kind ClaudeKind, reason string) Output {
	stderr := []byte(reason + "\n")
	if kind == ClaudePermissionRequest {
		verdict := permissionBehavior{Behavior: "deny", Message: reason}
		return Output{Stdout: answerRequest(verdict), Stderr: stderr}
	}
	return Output{Stdout: answerPreToolUse(umpire.Deny, reason), Stderr: stderr, Exit: exitBlock}
}

func askClaude(e ClaudeEvent, d umpire.Decision) Output {
	if e.Kind == ClaudePermissionRequest {
		return Output{}
	}
	return Output{Stdout: answerPreToolUse(umpire.Ask, askText(d))}
}

func allowClaude(e ClaudeEvent, d umpire.Decision) Output {
	if e.Kind == ClaudePermissionRequest {
		return Output{Stdout: answerRequest(permissionBehavior{Behavior: "allow"})}
	}
	reason := view.Clip(view.Visible(cmp.Or(english(d.Reason), "Allowed by umpire")), MaxReason)
	return Output{Stdout: answerPreToolUse(umpire.Allow, reason)}
}

// rewriteClaude lets another command line run instead of that of the call.
func rewriteClaude(e ClaudeEvent, line string) Output {
	input, err := strictjson.ReadObject(e.Call.Input)
	if err != nil {
		return FailClaude(e.Event, err)
	}
	input["command"] = bytes.TrimSuffix(strictjson.EncodeLine(line), []byte("\n"))
	return Output{Stdout: strictjson.EncodeLine(preToolUseAnswer{Output: &preToolUseOutput{
		Event: ClaudePreToolUse.String(), Decision: umpire.Allow.String(), Reason: rewrittenText,
		Input: strictjson.EncodeLine(input),
	}})}
}

// rewrittenText is the reason of a call that umpire runs.
const rewrittenText = "umpire runs it: what it changes is looked at, and can be undone"

func answerPreToolUse(v umpire.Verdict, reason string) []byte {
	return strictjson.EncodeLine(preToolUseAnswer{Output: &preToolUseOutput{
		Event: ClaudePreToolUse.String(), Decision: v.String(), Reason: reason,
	}})
}

func answerRequest(v permissionBehavior) []byte {
	return strictjson.EncodeLine(permissionRequestAnswer{permissionRequestOutput{ClaudePermissionRequest.String(), v}})
}
