package host

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/view"
)

// An EventKind is a kind of hook event. The zero value, OtherEvent, is an event without an answer
// from umpire.
type EventKind uint8

// The kinds.
const (
	OtherEvent   EventKind = iota // any other event: no answer
	BeforeTool                    // before a call: may deny, allow or ask
	BeforeDialog                  // before the host's own dialog: may deny or allow
	AfterTool                     // a call has run
	AfterFailure                  // a call has failed
	SessionStart
	PromptSent
	TurnEnd
	SessionEnd
)

var eventKindNames = [...]string{
	OtherEvent: "other",
	BeforeTool: "PreToolUse", BeforeDialog: "PermissionRequest",
	AfterTool: "PostToolUse", AfterFailure: "PostToolUseFailure",
	SessionStart: "SessionStart", PromptSent: "UserPromptSubmit",
	TurnEnd: "Stop", SessionEnd: "SessionEnd",
}

// String returns Claude Code's name for the kind, or "other" for OtherEvent and values out of
// range.
func (k EventKind) String() string {
	if int(k) < len(eventKindNames) {
		return eventKindNames[k]
	}
	return eventKindNames[OtherEvent]
}

// kindNamed returns the kind with one of Claude Code's names.
func kindNamed(name string) EventKind {
	return EventKind(max(slices.Index(eventKindNames[:], name), int(OtherEvent)))
}

// Decides reports whether an answer to the event can stop or permit a call.
func (k EventKind) Decides() bool { return k == BeforeTool || k == BeforeDialog }

// AboutTool reports whether the event is about one call of one tool.
func (k EventKind) AboutTool() bool { return k.Decides() || k == AfterTool || k == AfterFailure }

// An Event is one hook payload of a host.
type Event struct {
	Host *Host
	Kind EventKind
	// Name is the event's name as sent.
	Name    string
	Session umpire.SessionID
	// Dir is the start of relative paths, which is not the project: in some hosts it follows `cd`.
	// It may be empty.
	Dir string
	// Project is the folder that the host was started in, from the payload, or "".
	Project string
	// PermissionMode is the host's own mode, or "" if the event lacks one.
	PermissionMode string
	// AgentType is set inside a sub-agent.
	AgentType string

	// Call is set for events about a tool. Its Input aliases the payload unless a field had to be
	// renamed.
	Call umpire.Call
	// ToolName is the host's name of the tool; Call.Tool is umpire's.
	ToolName string
	// ToolUseID is the host's id of the call. If it is empty, Call.ID is derived from Digest.
	ToolUseID string

	// folders shorten paths in texts.
	folders view.Folders
	// mayTry says that umpire may run a call first in a trial.
	mayTry bool

	// turn is the host's id of the turn, and transcript the file with the record of the session.
	turn, transcript string

	// sent is the call's input in the host's names, and input in umpire's: Call.Input, decoded.
	sent, input strictjson.Object

	Response json.RawMessage // AfterTool: the tool's result
	Failure  string          // AfterFailure: the error text
	prompt   string          // PromptSent: the user's text
}

// fields are the names of a payload's fields. A name with dots leads into objects; "" means no field.
type fields struct {
	event, session, dir, project, mode, agentType string
	tool, input, id, response, failure            string
	turn, transcript                              string
	server, serverTool                            string // of an MCP tool
	// checked are ids that are validated but not kept.
	checked []string
}

// claudeFields are Claude Code's fields, which several other hosts use too.
var claudeFields = fields{
	event: "hook_event_name", session: "session_id", dir: "cwd", mode: "permission_mode", agentType: "agent_type",
	tool: "tool_name", input: "tool_input", id: "tool_use_id", response: "tool_response", failure: "error",
	checked: []string{"prompt_id", "agent_id"},
}

// codexFields are Claude Code's fields, plus those that locate the record of a turn.
var codexFields = fields{
	event: "hook_event_name", session: "session_id", dir: "cwd", mode: "permission_mode", agentType: "agent_type",
	tool: "tool_name", input: "tool_input", id: "tool_use_id", response: "tool_response", failure: "error",
	checked: []string{"prompt_id", "agent_id"}, turn: "turn_id", transcript: "transcript_path",
}

// Read reads one hook payload. It ignores unknown fields. An unknown event is an error because it
// may decide about a call. Fields that matter are read strictly: an error names the field that is
// missing, duplicate or of the wrong type.
//
// With an error, the event's Kind and Name are set as far as they could be read, for [Host.Fail] to
// answer in the form of that event.
func (h *Host) Read(payload []byte) (Event, error) {
	e, err := h.read(payload)
	if err != nil {
		return Event{Host: h, Kind: e.Kind, Name: e.Name}, umpire.Errorf("read %s hook payload: %w", h.Name, err)
	}
	return e, nil
}

func (h *Host) read(payload []byte) (Event, error) {
	e := Event{Host: h}
	o, err := readPayload(payload)
	if err != nil {
		return e, err
	}
	if err := h.checkForeign(o); err != nil {
		return e, err
	}
	in := reader{of: o}
	if h.eventOf != nil {
		e.Name = h.eventOf(o)
	} else {
		e.Name = in.required(h.fields.event)
	}
	row, _ := h.Event(e.Name)
	e.Kind = row.Kind
	e.Session = umpire.SessionID(in.id(h.fields.session))
	e.Dir, e.Project = in.folder(h.fields.dir), in.folder(h.fields.project)
	e.PermissionMode, e.AgentType = in.text(h.fields.mode), in.text(h.fields.agentType)
	e.turn, e.transcript = in.text(h.fields.turn), in.text(h.fields.transcript)
	for _, field := range h.fields.checked {
		in.id(field)
	}
	switch e.Kind {
	case AfterTool:
		e.Response = in.raw(h.fields.response)
	case AfterFailure:
		e.Failure = in.text(h.fields.failure)
	case PromptSent:
		e.prompt = in.text("prompt")
	case OtherEvent, BeforeTool, BeforeDialog, SessionStart, TurnEnd, SessionEnd:
	}
	if e.Kind.AboutTool() {
		e.readTool(&in)
	}
	return e, in.err
}

func (e *Event) readTool(in *reader) {
	f := &e.Host.fields
	row, _ := e.Host.Event(e.Name)
	if e.ToolName = row.tool; e.ToolName == "" {
		e.ToolName = in.required(f.tool)
	}
	e.ToolUseID = in.id(f.id)
	raw, sent := in.input(f.input, row)
	server, tool := in.text(f.server), in.text(f.serverTool)
	if in.err != nil {
		return
	}
	call, input, err := e.Host.call(e.ToolName, raw, sent)
	if err != nil {
		in.err = umpire.Errorf("%s: %w", e.Host.fields.input, err)
		return
	}
	if server != "" && tool != "" {
		call.Tool = "mcp__" + server + "__" + tool
	}
	e.Call, e.sent, e.input = call, sent, input
	e.Call.Dir = e.Host.dirOf(e, sent)
	e.Call.Session, e.Call.Agent = e.Session, e.agent()
	e.Call.ID = umpire.CallID(e.ToolUseID)
	if e.Host.complete != nil {
		if err := e.Host.complete(e, sent); err != nil {
			in.err = umpire.Errorf("%s: %w", e.Host.fields.input, err)
			return
		}
	}
	if e.ToolUseID == "" {
		e.Call.ID = umpire.CallID(derivedID + e.digest())
	}
}

// setInput replaces the call's input.
func (e *Event) setInput(o strictjson.Object) { e.input, e.Call.Input = o, encode(o) }

// A reader reads fields of a payload, and stops at the first error.
type reader struct {
	of  strictjson.Object
	err error
}

// at returns the object that holds a field, and the field's name in it. The object is nil if one on
// the way is missing.
func (r *reader) at(field string) (strictjson.Object, string) {
	o := r.of
	for {
		outer, rest, nested := strings.Cut(field, ".")
		if !nested || r.err != nil {
			return o, field
		}
		o, r.err = o.Child(outer)
		field = rest
	}
}

func (r *reader) text(field string) (text string) {
	o, name := r.at(field)
	if r.err == nil && name != "" {
		text, r.err = o.Text(name)
	}
	return text
}

func (r *reader) required(field string) (text string) {
	o, name := r.at(field)
	if r.err == nil {
		text, r.err = o.RequiredText(name)
	}
	return text
}

func (r *reader) id(field string) (id string) {
	o, name := r.at(field)
	if r.err == nil && name != "" {
		id, r.err = o.ID(name)
	}
	return id
}

// folder reads a path, or the first of a list of paths. It must be absolute if present.
func (r *reader) folder(field string) string {
	o, name := r.at(field)
	path := ""
	if raw := o[name]; r.err == nil && len(raw) > 0 && raw[0] == '[' {
		var all []string
		if all, r.err = o.Texts(name); len(all) > 0 {
			path = all[0]
		}
	} else {
		path = r.text(field)
	}
	if r.err == nil && path != "" && !IsAbsolute(path) {
		r.err = umpire.Errorf("%s: want an absolute path, got %q", field, view.Clip(path, maxName))
	}
	return path
}

func (r *reader) raw(field string) json.RawMessage {
	o, name := r.at(field)
	return o[name]
}

// input reads the input of a call.
func (r *reader) input(field string, event HookEvent) (raw json.RawMessage, object strictjson.Object) {
	switch {
	case event.single != "":
		object = strictjson.Object{event.single: encode(r.required(event.single))}
		return encode(object), object
	case event.quoted:
		raw = json.RawMessage(r.required(field))
		if r.err != nil {
			return nil, nil
		}
		if object, r.err = strictjson.ReadObject(raw); r.err == nil {
			r.err = object.CheckSpelling()
		}
		return raw, object
	}
	return r.raw(field), r.child(field)
}

// encode returns v as JSON.
func encode(v any) json.RawMessage {
	line := strictjson.EncodeLine(v)
	return json.RawMessage(line[:len(line)-1])
}

// child reads a required object.
func (r *reader) child(field string) (child strictjson.Object) {
	o, name := r.at(field)
	if r.err != nil {
		return nil
	}
	if child, r.err = o.Child(name); r.err != nil {
		return nil
	}
	if child == nil {
		r.err = umpire.Errorf("%s: missing", field)
	} else if err := child.CheckSpelling(); err != nil {
		r.err = umpire.Errorf("%s: %w", field, err)
	}
	return child
}

// agent returns the caller's name: the host, or HOST/TYPE inside a sub-agent.
func (e *Event) agent() string {
	if e.AgentType == "" {
		return e.Host.Name
	}
	return e.Host.Name + "/" + e.AgentType
}

// derivedID is the prefix of ids for calls without one.
const derivedID = "digest-"

// digest returns a hash of the tool's name and its input, equal for equal calls in any order of
// keys. It ties a PermissionRequest, which has no id, to the PreToolUse of the same call. It does
// not stop an attacker from making two calls look alike: the gate compares them whole.
func (e *Event) digest() string {
	canonicalInput, err := strictjson.Canonical(e.Call.Input)
	if err != nil {
		canonicalInput = e.Call.Input
	}
	sum := fnv.New128a()
	for _, part := range [][]byte{[]byte(e.ToolName), {0}, canonicalInput} {
		_, _ = sum.Write(part) // never fails
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// permission returns the host's mode by Claude Code's names.
func (e *Event) permission() Permission { return e.Host.Mode(e.PermissionMode).Is }

// Mode returns the mode to decide the event in, given the configured one. A host's plan mode plans;
// its other modes are taken into account after the decision, see package host.
func (e *Event) Mode(configured umpire.Mode) umpire.Mode {
	switch p := e.permission(); {
	case p == Plan:
		return umpire.ModePlan
	case p == DontAsk && configured == umpire.ModeBypass:
		return umpire.ModeReject // bypass would leave nothing to deny
	}
	return configured
}

// unattended reports whether the user chose a mode that never asks; Ask must then become Deny.
func (e *Event) unattended() bool { return e.permission() == DontAsk }

// IsAbsolute reports whether p is absolute on Unix or on Windows.
func IsAbsolute(p string) bool {
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}
