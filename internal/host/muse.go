package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/policy"
)

// muse asks in the marker protocol: one request, one line.
var muse = Host{
	Caller: &relay.Caller{Name: "muse", DefaultTimeout: 600 * time.Second}, Title: "muse",
	Marks: [][]string{{"toolName", "toolCallId"}},
	own:   &ownProtocol{(*Responder).muse, failMuse, aboutMuse, museSilence},
}

// museMarker begins the line that means "ask the user". It is written here and never read: a tool's
// output could contain it just as well.
const museMarker = "__tool_permission__:"

// ReadMuse reads one request in the marker protocol: the call, by umpire's own name of the tool,
// the user's allowances for once or for the session, the workspace's stored permission for every
// tool, and rules. The rules have no Source, which keeps them from allowing. Unknown fields are
// ignored; an error names the field that is missing, given twice or of the wrong type. With an
// error, the tool is set as far as it could be read.
func ReadMuse(payload []byte) (policy.Query, error) {
	q, err := readMuse(payload)
	if err != nil {
		return policy.Query{Call: umpire.Call{Tool: q.Call.Tool}}, umpire.Errorf("read muse payload: %w", err)
	}
	return q, nil
}

func readMuse(payload []byte) (policy.Query, error) {
	var q policy.Query
	o, err := readPayload(payload)
	if err != nil {
		return q, err
	}
	if q.Call.Tool, err = o.RequiredText("toolName"); err != nil {
		return q, err
	}
	id, err := o.ID("toolCallId")
	if err != nil {
		return q, err
	}
	q.Call.ID, q.Call.Agent = umpire.CallID(id), "muse"
	if err := readMuseInput(&q.Call, o); err != nil {
		return q, err
	}
	options, err := o.Child("options")
	if err != nil {
		return q, err
	}
	if err := readMuseOptions(&q, options); err != nil {
		return q, umpire.Errorf("options.%w", err)
	}
	return q, nil
}

func readMuseInput(call *umpire.Call, o strictjson.Object) error {
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
	call.Input = o["input"]
	for _, name := range []string{"run_in_background", "background"} {
		on, err := input.Flag(name)
		if err != nil {
			return umpire.Errorf("input.%w", err)
		}
		call.Background = call.Background || on
	}
	return nil
}

func readMuseOptions(q *policy.Query, o strictjson.Object) error {
	permissions, err := o.Child("toolPermissions")
	if err != nil {
		return err
	}
	if q.AllowAll, err = permissions.Flag("allowAll"); err != nil {
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
		q.Grants = appendGrants(q.Grants, list.scope, tools)
	}
	q.Tighten, err = readMuseRules(o["permissionRules"])
	return err
}

// appendGrants skips empty names: a grant names the tool that it covers.
func appendGrants(grants []umpire.Grant, scope umpire.Scope, tools []string) []umpire.Grant {
	for _, tool := range tools {
		if tool != "" {
			grants = append(grants, umpire.Grant{Scope: scope, Tool: tool})
		}
	}
	return grants
}

// readMuseRules rejects the whole request if one rule is broken, because that rule may be the one
// that denies.
func readMuseRules(raw json.RawMessage) ([]umpire.Rule, error) {
	if raw == nil {
		return nil, nil
	}
	var rules []umpire.Rule
	if err := json.Unmarshal(raw, &rules); err != nil {
		return nil, umpire.Errorf("permissionRules: %w", err)
	}
	for i := range rules {
		rule := &rules[i]
		if rule.Tool == "" {
			return nil, umpire.Errorf("permissionRules[%d].tool: missing", i)
		}
		rule.ID = cmp.Or(rule.ID, umpire.RuleID(fmt.Sprintf("request-%d", i+1)))
		rule.Source = umpire.SourceUnknown
	}
	return rules, nil
}

// museAsk has its keys in the order that readers of the protocol have seen.
type museAsk struct {
	Kind string `json:"kind"`
	Tool string `json:"toolName"`
	ID   string `json:"toolCallId,omitempty"`
}

// AnswerMuse writes the decision about a call as one line of the protocol: the marker for ask, an
// error for deny, an empty line for allow. A verdict out of range denies.
func AnswerMuse(call umpire.Call, d umpire.Decision) Output {
	switch d.Verdict {
	case umpire.Allow:
		return Output{Stdout: []byte("\n")}
	case umpire.Ask:
		ask := museAsk{Kind: "permission_request", Tool: call.Tool, ID: string(call.ID)}
		return Output{Stdout: append([]byte(museMarker), strictjson.EncodeLine(ask)...)}
	case umpire.Deny:
	}
	return Output{Stdout: []byte(museDenied(call.Tool, cmp.Or(english(d.Reason), "Denied by umpire")) + "\n")}
}

// museSilence is an answer without an opinion.
const museSilence = "\n"

// failMuse returns the answer when umpire could not decide: a denial, with the problem on stderr
// and exit 2. tool may be empty if it could not be read.
func failMuse(tool string, problem error) Output {
	text := problemText(undecided, problem)
	return Output{
		Stdout: []byte(museDenied(cmp.Or(tool, "unknown"), text) + "\n"),
		Stderr: []byte(text + "\n"),
		Exit:   exitBlock,
	}
}

// museDenied always returns one line, or a reason could smuggle in a marker.
func museDenied(tool, reason string) string {
	return fmt.Sprintf(`Error: Tool "%s" was denied. %s`, view.Brief(tool, maxName),
		view.Clip(view.Visible(reason), maxReason))
}
