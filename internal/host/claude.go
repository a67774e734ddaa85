package host

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
	"github.com/umpirehq/umpire/internal/view"
)

// A ClaudeKind is a kind of hook event. The zero value, ClaudeOther, is an
// event that umpire has nothing to say about.
type ClaudeKind uint8

// The events that `umpire hook claude` is registered for.
const (
	ClaudeOther              ClaudeKind = iota // any other event: no answer
	ClaudePreToolUse                           // before a call: may deny, allow or ask
	ClaudePermissionRequest                    // before Claude Code's own dialog: may deny or allow
	ClaudePostToolUse                          // a call has run
	ClaudePostToolUseFailure                   // a call has failed
	ClaudeSessionStart
	ClaudeUserPromptSubmit
	ClaudeStop
	ClaudeSessionEnd
)

var claudeKindNames = [...]string{
	ClaudeOther:      "other",
	ClaudePreToolUse: "PreToolUse", ClaudePermissionRequest: "PermissionRequest",
	ClaudePostToolUse: "PostToolUse", ClaudePostToolUseFailure: "PostToolUseFailure",
	ClaudeSessionStart: "SessionStart", ClaudeUserPromptSubmit: "UserPromptSubmit",
	ClaudeStop: "Stop", ClaudeSessionEnd: "SessionEnd",
}

// String returns the event's name as Claude Code spells it; "other" for
// ClaudeOther and values out of range.
func (k ClaudeKind) String() string {
	if int(k) < len(claudeKindNames) {
		return claudeKindNames[k]
	}
	return claudeKindNames[ClaudeOther]
}

// Decides reports whether an answer to the event can stop or permit a call.
func (k ClaudeKind) Decides() bool {
	return k == ClaudePreToolUse || k == ClaudePermissionRequest
}

// AboutTool reports whether the event is about one call of one tool.
func (k ClaudeKind) AboutTool() bool {
	return k.Decides() || k == ClaudePostToolUse || k == ClaudePostToolUseFailure
}

// ClaudeKindOf returns the kind of an event by its name, ClaudeOther for one that is not known.
func ClaudeKindOf(event string) ClaudeKind {
	for kind, name := range claudeKindNames {
		if name == event && ClaudeKind(kind) != ClaudeOther {
			return ClaudeKind(kind)
		}
	}
	return ClaudeOther
}

// A ClaudeEvent is one hook payload of Claude Code.
type ClaudeEvent struct {
	Kind ClaudeKind
	// Event is the name as it was sent.
	Event          string
	Session        umpire.SessionID
	TranscriptPath string
	// Dir is the shell's current directory. It follows `cd`, so it is where
	// relative paths start, and not the project. It may be empty.
	Dir string
	// PermissionMode is Claude Code's own mode, "" when the event has none.
	PermissionMode string
	// PromptID names the user's prompt that the call belongs to.
	PromptID string
	// AgentID and AgentType are set inside a sub-agent.
	AgentID, AgentType string

	// Call is set for events about a tool. Its Input aliases the payload
	// unless a field had to be renamed.
	Call umpire.Call
	// ToolName is the tool as Claude Code names it; Call.Tool is umpire's name.
	ToolName string
	// ToolUseID is Claude Code's id of the call. PermissionRequest has none;
	// Call.ID is then derived from Digest.
	ToolUseID string

	Response json.RawMessage // PostToolUse: the tool's result
	Failure  string          // PostToolUseFailure: the error text
	Source   string          // SessionStart: startup, resume, clear, compact, fork
	Reason   string          // SessionEnd: why it ended
}

// ReadClaude reads one hook payload. Fields it does not know are ignored and
// events it does not know become ClaudeOther. What matters is read strictly: an
// error names the field that is missing, given twice or of the wrong type.
//
// With an error, the event's Kind and Event are set as far as they could be
// read, so that [FailClaude] can answer in the form of that event.
func ReadClaude(payload []byte) (ClaudeEvent, error) {
	e, err := readClaude(payload)
	if err != nil {
		return ClaudeEvent{Kind: e.Kind, Event: e.Event}, umpire.Errorf("read claude hook payload: %w", err)
	}
	return e, nil
}

func readClaude(payload []byte) (ClaudeEvent, error) {
	var e ClaudeEvent
	o, err := readPayload(payload)
	if err != nil {
		return e, err
	}
	if err := foreign(o); err != nil {
		return e, err
	}
	if e.Event, err = o.RequiredText("hook_event_name"); err != nil {
		return e, err
	}
	e.Kind = ClaudeKindOf(e.Event)
	if err := e.readCommon(o); err != nil {
		return e, err
	}
	if e.Kind.AboutTool() {
		err = e.readTool(o)
	}
	return e, err
}

// foreign is the error of a payload that comes from another agent.
func foreign(o strictjson.Object) error {
	event, err := o.Text("hook_event_name")
	if err != nil {
		event = "" // the error is told where the field is read
	}
	return CheckClaude(func(name string) bool { _, has := o[name]; return has }, event)
}

func (e *ClaudeEvent) readCommon(o strictjson.Object) error {
	var session string
	for _, f := range []struct {
		name string
		to   *string
	}{
		{"transcript_path", &e.TranscriptPath},
		{"cwd", &e.Dir},
		{"permission_mode", &e.PermissionMode},
		{"agent_type", &e.AgentType},
	} {
		var err error
		if *f.to, err = o.Text(f.name); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name string
		to   *string
	}{{"session_id", &session}, {"prompt_id", &e.PromptID}, {"agent_id", &e.AgentID}} {
		var err error
		if *f.to, err = o.ID(f.name); err != nil {
			return err
		}
	}
	if e.Dir != "" && !IsAbsolute(e.Dir) {
		return umpire.Errorf("cwd: want an absolute path, got %q", view.Clip(e.Dir, maxName))
	}
	e.Session = umpire.SessionID(session)
	return e.readNotice(o)
}

// readNotice reads what only a single kind of event carries.
func (e *ClaudeEvent) readNotice(o strictjson.Object) (err error) {
	switch e.Kind {
	case ClaudeSessionStart:
		e.Source, err = o.Text("source")
	case ClaudeSessionEnd:
		e.Reason, err = o.Text("reason")
	case ClaudePostToolUse:
		e.Response = o["tool_response"]
	case ClaudePostToolUseFailure:
		e.Failure, err = o.Text("error")
	case ClaudeOther, ClaudePreToolUse, ClaudePermissionRequest, ClaudeUserPromptSubmit, ClaudeStop:
	}
	return err
}

func (e *ClaudeEvent) readTool(o strictjson.Object) error {
	var err error
	if e.ToolName, err = o.RequiredText("tool_name"); err != nil {
		return err
	}
	if e.ToolUseID, err = o.ID("tool_use_id"); err != nil {
		return err
	}
	input, err := o.Child("tool_input")
	if err != nil {
		return err
	}
	if input == nil {
		return umpire.Errorf("tool_input: missing")
	}
	if err := input.CheckSpelling(); err != nil {
		return umpire.Errorf("tool_input: %w", err)
	}
	e.Call, err = claudeCall(e.ToolName, o["tool_input"], input)
	if err != nil {
		return umpire.Errorf("tool_input: %w", err)
	}
	e.Call.Dir, e.Call.Session, e.Call.Agent = e.Dir, e.Session, e.agent()
	e.Call.ID = umpire.CallID(e.ToolUseID)
	if e.ToolUseID == "" {
		e.Call.ID = umpire.CallID(derivedID + e.Digest())
	}
	return nil
}

// agent names who calls: "claude", or "claude/TYPE" inside a sub-agent.
func (e *ClaudeEvent) agent() string {
	if e.AgentType == "" {
		return "claude"
	}
	return "claude/" + e.AgentType
}

// derivedID begins the ids of calls that came without one.
const derivedID = "digest-"

// Digest returns a hash of the tool's name and its input, equal for equal calls
// whatever the order of keys. It ties a PermissionRequest, which has no id, to
// the PreToolUse of the same call. It is no proof against who wants two calls to
// look alike: the gate compares them whole.
func (e ClaudeEvent) Digest() string {
	canonicalInput, err := strictjson.Canonical(e.Call.Input)
	if err != nil {
		canonicalInput = e.Call.Input
	}
	sum := fnv.New128a()
	for _, part := range [][]byte{[]byte(e.ToolName), {0}, canonicalInput} {
		_, _ = sum.Write(part) // it never fails
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Mode returns the mode to decide the event in, given the configured one. Claude Code's
// plan mode plans; what its other modes mean is decided afterwards, see package host.
func (e ClaudeEvent) Mode(configured umpire.Mode) umpire.Mode {
	switch p := ClaudePermission(e.PermissionMode); {
	case p == Plan:
		return umpire.ModePlan
	case p == DontAsk && configured == umpire.ModeBypass:
		return umpire.ModeReject // bypass would leave nothing to deny
	}
	return configured
}

// Unattended reports whether the user chose a mode in which nobody is asked, so
// that Ask must be Deny.
func (e ClaudeEvent) Unattended() bool {
	return ClaudePermission(e.PermissionMode) == DontAsk
}

// IsAbsolute reports whether p is absolute on Unix or on Windows.
func IsAbsolute(p string) bool {
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}
