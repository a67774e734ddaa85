package host

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
	"github.com/umpirehq/umpire/internal/view"
)

// museMarker begins the line that stands for "ask the user". It is written
// here and never read: a tool's output could contain it just as well.
const museMarker = "__tool_permission__:"

// A MuseRequest is one request in the marker protocol.
type MuseRequest struct {
	// Call bears the tool's name as it was sent: the protocol uses umpire's names.
	Call umpire.Call
	// ToolCallID is the id as it was sent, "" when there was none.
	ToolCallID string
	// Grants are the tools that the user allowed once or for the session.
	Grants []umpire.Grant
	// AllowAll is the workspace's stored permission for every tool.
	AllowAll bool
	// Rules came with the request. They have no Source, so none of them may
	// allow: whoever decides honours their deny and ask only.
	Rules []umpire.Rule
}

// ReadMuse reads one request. Unknown fields are ignored; an error names the
// field that is missing, given twice or of the wrong type.
func ReadMuse(payload []byte) (MuseRequest, error) {
	r, err := readMuse(payload)
	if err != nil {
		return MuseRequest{Call: umpire.Call{Tool: r.Call.Tool}}, umpire.Errorf("read muse payload: %w", err)
	}
	return r, nil
}

func readMuse(payload []byte) (MuseRequest, error) {
	var r MuseRequest
	o, err := readPayload(payload)
	if err != nil {
		return r, err
	}
	if r.Call.Tool, err = o.RequiredText("toolName"); err != nil {
		return r, err
	}
	if r.ToolCallID, err = o.ID("toolCallId"); err != nil {
		return r, err
	}
	r.Call.ID, r.Call.Agent = umpire.CallID(r.ToolCallID), "muse"
	if err := r.readInput(o); err != nil {
		return r, err
	}
	options, err := o.Child("options")
	if err != nil {
		return r, err
	}
	if err := r.readOptions(options); err != nil {
		return r, umpire.Errorf("options.%w", err)
	}
	return r, nil
}

func (r *MuseRequest) readInput(o strictjson.Object) error {
	input, err := o.Child("input")
	if err != nil {
		return err
	}
	if input == nil {
		return umpire.Errorf("input: missing")
	}
	if err := input.CheckSpelling(); err != nil {
		return umpire.Errorf("input: %w", err)
	}
	r.Call.Input = o["input"]
	for _, name := range []string{"run_in_background", "background"} {
		on, err := input.Flag(name)
		if err != nil {
			return umpire.Errorf("input.%w", err)
		}
		r.Call.Background = r.Call.Background || on
	}
	return nil
}

func (r *MuseRequest) readOptions(o strictjson.Object) error {
	permissions, err := o.Child("toolPermissions")
	if err != nil {
		return err
	}
	if r.AllowAll, err = permissions.Flag("allowAll"); err != nil {
		return umpire.Errorf("toolPermissions.%w", err)
	}
	for _, list := range []struct {
		name  string
		scope umpire.Scope
	}{{"allowOnceTools", umpire.ScopeOnce}, {"sessionApprovedTools", umpire.ScopeSession}} {
		tools, err := o.Texts(list.name)
		if err != nil {
			return err
		}
		r.addGrants(list.scope, tools)
	}
	return r.readRules(o["permissionRules"])
}

// addGrants leaves out empty names: a grant names the tool that it covers.
func (r *MuseRequest) addGrants(scope umpire.Scope, tools []string) {
	for _, tool := range tools {
		if tool != "" {
			r.Grants = append(r.Grants, umpire.Grant{Scope: scope, Tool: tool})
		}
	}
}

// readRules refuses the whole request when one rule is broken, since that one
// may be the rule that denies.
func (r *MuseRequest) readRules(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &r.Rules); err != nil {
		return umpire.Errorf("permissionRules: %w", err)
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		if rule.Tool == "" {
			return umpire.Errorf("permissionRules[%d].tool: missing", i)
		}
		rule.ID = cmp.Or(rule.ID, umpire.RuleID(fmt.Sprintf("request-%d", i+1)))
		rule.Source = umpire.SourceUnknown
	}
	return nil
}

// museAsk has its keys in the order that readers of the protocol have seen.
type museAsk struct {
	Kind string `json:"kind"`
	Tool string `json:"toolName"`
	ID   string `json:"toolCallId,omitempty"`
}

// AnswerMuse writes d as the one line that the protocol wants: the marker for
// ask, an error for deny, an empty line for allow. A verdict out of range denies.
func AnswerMuse(r MuseRequest, d umpire.Decision) Output {
	switch d.Verdict {
	case umpire.Allow:
		return Output{Stdout: []byte("\n")}
	case umpire.Ask:
		ask := museAsk{Kind: "permission_request", Tool: r.Call.Tool, ID: r.ToolCallID}
		return Output{Stdout: append([]byte(museMarker), strictjson.EncodeLine(ask)...)}
	case umpire.Deny:
	}
	return Output{Stdout: []byte(museDenied(r.Call.Tool, cmp.Or(english(d.Reason), "Denied by umpire")) + "\n")}
}

// FailMuse is the answer when umpire could not decide: a denial, with the
// problem on stderr and exit 2. tool may be empty when it could not be read.
func FailMuse(tool string, problem error) Output {
	text := problemText(undecided, problem)
	return Output{
		Stdout: []byte(museDenied(cmp.Or(tool, "unknown"), text) + "\n"),
		Stderr: []byte(text + "\n"),
		Exit:   exitBlock,
	}
}

// museDenied is one line whatever the reason holds, so that no reason can
// smuggle in a marker.
func museDenied(tool, reason string) string {
	return fmt.Sprintf(`Error: Tool "%s" was denied. %s`, view.Brief(tool, maxName), view.Clip(view.Visible(reason), MaxReason))
}
