package host

import (
	"cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
	"github.com/umpirehq/umpire/internal/view"
)

// ClaudeAnswerOptions say what the event itself does not. The zero value has
// somebody who can answer Claude Code's own prompt.
type ClaudeAnswerOptions struct {
	// Headless says that nobody can answer: Ask becomes Deny.
	Headless bool
}

// The answer of a PreToolUse hook. Claude Code drops an answer with a word it
// does not know and runs the call, so these structs hold every field there is.
type preToolUseAnswer struct {
	Output preToolUseOutput `json:"hookSpecificOutput"`
}

type preToolUseOutput struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
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

// AnswerClaude writes d as the answer to e.
//
//	           PreToolUse                 PermissionRequest
//	deny       JSON, stderr, exit 2       JSON, stderr, exit 0
//	ask           JSON "ask"                 nothing: the dialog stays
//	ask headless  as deny                    as deny
//	allow         JSON, or nothing where Claude Code's own mode holds back more
//
// Every other event gets no output and exit 0. A verdict out of range denies.
func AnswerClaude(e ClaudeEvent, d umpire.Decision, o ClaudeAnswerOptions) Output {
	if !e.Kind.Decides() {
		return Output{}
	}
	switch d.Verdict {
	case umpire.Allow:
		return allowClaude(e, d)
	case umpire.Ask:
		if o.Headless || e.Unattended() {
			return denyClaude(e.Kind, headlessText(d))
		}
		return askClaude(e, d)
	case umpire.Deny:
		return denyClaude(e.Kind, denyText(e, d))
	}
	return denyClaude(e.Kind, denyText(e, d))
}

// FailClaude is the answer when umpire could not decide: the payload was
// unreadable, the gate failed, or the deadline is near. event is the name from
// the payload; when it is empty or unknown, the answer has the form of PreToolUse.
//
// Events that decide nothing are not denied, for exit 2 there would throw away
// the user's prompt or keep the agent from stopping: the problem goes to stderr
// with exit 1, which is shown and changes nothing.
func FailClaude(event string, problem error) Output {
	kind := claudeKind(event)
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
	if !mayAllow(e, d) {
		return Output{}
	}
	if e.Kind == ClaudePermissionRequest {
		return Output{Stdout: answerRequest(permissionBehavior{Behavior: "allow"})}
	}
	reason := view.Clip(view.Visible(cmp.Or(d.Reason, "Allowed by umpire")), MaxReason)
	return Output{Stdout: answerPreToolUse(umpire.Allow, reason)}
}

// mayAllow reports whether an allow may be said aloud. Claude Code lets a
// hook's allow overrule plan mode, so there only looking is allowed. In
// bypassPermissions nothing is gained by it, and what still asks there is meant
// to. In a mode nobody here knows, no opinion is the careful answer.
func mayAllow(e ClaudeEvent, d umpire.Decision) bool {
	if isDialog(e.ToolName) {
		return false
	}
	switch e.PermissionMode {
	case "", claudeDefault, claudeAcceptEdits, claudeAuto, claudeDontAsk:
		return true
	case claudePlan:
		return onlyReads(d)
	case claudeBypass:
		return false
	}
	return false
}

// onlyReads reports whether every access is known and only looks.
func onlyReads(d umpire.Decision) bool {
	for i := range d.Accesses {
		a := &d.Accesses[i]
		if a.Changes() || a.Risk != umpire.Safe || a.Doubt != "" {
			return false
		}
	}
	return len(d.Accesses) > 0
}

func answerPreToolUse(v umpire.Verdict, reason string) []byte {
	return line(preToolUseAnswer{preToolUseOutput{ClaudePreToolUse.String(), v.String(), reason}})
}

func answerRequest(v permissionBehavior) []byte {
	return strictjson.EncodeLine(permissionRequestAnswer{permissionRequestOutput{ClaudePermissionRequest.String(), v}})
}
