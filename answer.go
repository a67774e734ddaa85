package umpire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// A RequestID names one question to a person: one call in one round. Asking about the same call
// again uses a new id.
type RequestID string

// A Choice is a person's answer. The zero value is invalid.
type Choice string

// The choices.
const (
	Approve Choice = "approve"
	Refuse  Choice = "deny"
	Cancel  Choice = "cancel" // refuse, and stop the turn
	// Try is not a final answer: it starts the trial that the card offers. The next card shows
	// its effects.
	Try Choice = "try"
)

// UnmarshalText reads a choice and refuses any other word.
func (c *Choice) UnmarshalText(text []byte) error {
	switch word := Choice(text); word {
	case Approve, Refuse, Cancel, Try:
		*c = word
		return nil
	}
	return Errorf("answer %q: want approve, deny, cancel or try", text)
}

// An Answer is a person's answer about one pending call. It is bound to the question and to the
// arguments that were shown. The first answer to a question wins.
type Answer struct {
	Request RequestID `json:"request_id"`
	// ArgsHash is the pending call's args_hash: the answer applies only to those arguments.
	ArgsHash string `json:"args_hash"`
	// ShownDigest is the pending call's shown_digest: the answer applies only to the content of
	// that card. Without it the gate refuses an answer.
	ShownDigest string `json:"shown_digest,omitempty"`
	// Version is the pending call's version; 0 accepts any version.
	Version int    `json:"version,omitempty"`
	Choice  Choice `json:"answer"`
	Scope   Scope  `json:"scope"`
	Reason  string `json:"reason,omitempty"`
	// Rule is the short form of the rule to create for an approval beyond once; "" selects the
	// narrowest rule that covers the call.
	Rule string `json:"rule,omitempty"`
	// Width says how much an approval beyond once covers if Rule is empty. "" is the default of
	// the scope.
	Width Width `json:"width,omitempty"`
	// ExpiresAt is when a grant or a rule ends; the zero time means never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Actor is the person who answered and Channel the interface they used. The gate's edge
	// fills them in, not the client.
	Actor   string `json:"-"`
	Channel string `json:"-"`
	By      Actor  `json:"-"`
}

// A Standing is the final answer to a question.
type Standing struct {
	Request RequestID  `json:"request_id"`
	Choice  Choice     `json:"answer"`
	Scope   Scope      `json:"scope"`
	Reason  Phrase     `json:"reason,omitempty"`
	Code    ReasonCode `json:"reason_code,omitempty"` // denied, cancelled, timeout, auto_deny
	Actor   string     `json:"actor,omitempty"`
	At      time.Time  `json:"at"`
}

// A CommandInfo describes a command to a person.
type CommandInfo struct {
	Command     string `json:"command"`
	Risk        string `json:"risk_level"`
	Suggestion  string `json:"suggestion,omitempty"`
	BaseCommand string `json:"base_command,omitempty"`
}

// A Pending is one question that waits for a person, with everything needed to answer it.
type Pending struct {
	Request  RequestID `json:"request_id"`
	Version  int       `json:"version"`
	Call     CallID    `json:"call_id"`
	ArgsHash string    `json:"args_hash"`
	// ShownDigest binds an answer to the content of the card.
	ShownDigest string    `json:"shown_digest,omitempty"`
	Batch       BatchID   `json:"batch_id"`
	Position    int       `json:"position"` // from 1
	Total       int       `json:"total_in_batch"`
	Session     SessionID `json:"session_id"`
	Project     ProjectID `json:"project_id"`
	Agent       string    `json:"agent,omitempty"`
	Tool        string    `json:"tool"`
	// Input is the call's input, with secrets masked.
	Input json.RawMessage `json:"input"`
	// InputSize is the size of the whole input if Input has only parts of it, else 0. Gate.Batch returns it whole.
	InputSize        int            `json:"input_size,omitempty"`
	Accesses         []Access       `json:"accesses"`
	Paths            []string       `json:"paths,omitempty"`
	CommandInfo      *CommandInfo   `json:"command_info,omitempty"`
	CommandSignature string         `json:"command_signature,omitempty"`
	Type             PermissionType `json:"permission_type"`
	// Access is read, write, all or command.
	Access string `json:"access"`
	Risk   string `json:"risk_level"`
	// Consequence says what cannot be undone once the call has run.
	Consequence Consequence  `json:"consequence"`
	Reason      Phrase       `json:"reason"`
	Code        ReasonCode   `json:"reason_code,omitempty"`
	Warning     bool         `json:"warning,omitempty"`
	Suggestions []Suggestion `json:"suggestions"`
	// Rules are the rules that an approval for the project or for all projects would write, in
	// short form. Empty means that no rule can cover the call.
	Rules []string `json:"rules,omitempty"`
	// Planned lists the planned calls if this call leaves plan mode. Approving it lets the
	// agent change these files without further questions.
	Planned   []Planned `json:"planned,omitempty"`
	AskedAt   time.Time `json:"asked_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// CodeFiles are the files whose code the call runs, as they were when the gate asked. An
	// approval applies to these contents.
	CodeFiles []CodeFile `json:"code_files,omitempty"`
	// NoSandbox explains why a command would run without a sandbox. It is "" if it would not,
	// or if the agent runs its calls itself.
	NoSandbox Phrase `json:"no_sandbox,omitempty"`
	// TrialOffer is the trial available for the call. It is empty unless the call is the next
	// one of its batch.
	TrialOffer TrialOffer `json:"trial_offer,omitempty"`
	// RaiseTo is the next level of autonomy if such calls would run there, or be tried first if RaiseTries is
	// set; else "".
	RaiseTo    string `json:"raise_to,omitempty"`
	RaiseTries bool   `json:"raise_tries,omitempty"`
	// OutsideTask is the ID of a task in force that the call is outside of, if a wider one could cover it; else "".
	OutsideTask string `json:"outside_task,omitempty"`
	// Trial is the finished trial of the call. If its effects are waiting, approving keeps
	// exactly these. If they were discarded, approving runs the call.
	Trial *Trial `json:"trial,omitempty"`
	// AllowAll says that the workspace allows everything that no rule or guard asks about.
	AllowAll bool `json:"allow_all,omitempty"`
	// Indeterminate says that the call was started but may not have run. The question is then
	// whether it ran: approving means that it did, denying that it did not.
	Indeterminate bool `json:"indeterminate,omitempty"`
	// Coverage says how many of the project's recent questions each lasting answer would have
	// settled. It is empty unless the query asks for it.
	Coverage []Coverage `json:"coverage,omitempty"`
	// Extra are further fields from the tool's own check. JSON shows them next to the others,
	// but omits any that has the name of one of the gate's fields, ignoring case, even if the
	// gate omits its own.
	Extra map[string]json.RawMessage `json:"-"`
}

// A Coverage says how many of the project's questions an approval with a scope and a width
// would have settled. It covers the last 30 days and at most a hundred calls.
type Coverage struct {
	Scope Scope `json:"scope"`
	Width Width `json:"width,omitempty"`
	Calls int   `json:"calls"` // calls that it would have allowed
	Of    int   `json:"of"`    // calls examined that still ask
	// Worst is the access with the worst consequence, and then the highest risk, that it would
	// have allowed, or nil if it would have allowed nothing.
	Worst *Access `json:"worst,omitempty"`
}

// A CodeFile is a file that a call names and whose code would run.
type CodeFile struct {
	Path string `json:"path"`
	// Digest is the SHA-256 of the whole file in hex. It begins with "unread" if the file could
	// not be read or is too large.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	// Text is the beginning of the file with secrets masked; Cut says that it is incomplete.
	Text string `json:"text,omitempty"`
	Cut  bool   `json:"cut,omitempty"`
}

// A Planned is a call that plan mode did not run.
type Planned struct {
	Call     CallID   `json:"call_id"`
	Tool     string   `json:"tool"`
	Accesses []Access `json:"accesses,omitempty"`
	// Command is the whole command line, if it runs once without a question after the plan is approved.
	Command string `json:"command,omitempty"`
	// Files maps the files that it would change to their SHA-256 in hex at that time, or
	// "absent". Files that could not be read are missing from the map.
	Files map[string]string `json:"files,omitempty"`
}

// A PendingQuery finds pending calls, the oldest first. The zero value finds all.
type PendingQuery struct {
	Project ProjectID `json:"project_id,omitempty"`
	Session SessionID `json:"session_id,omitempty"`
	// After finds only the questions after this one, which may have been answered since. If it
	// was deleted with its session, the error matches ErrNotFound.
	After RequestID `json:"after,omitempty"`
	Limit int       `json:"limit,omitempty"`
	// Coverage selects one question to list, together with its Coverage. Computing that takes a
	// while, so ask for it only when a person looks at the card.
	Coverage RequestID `json:"coverage,omitempty"`
}

// pendingFields is Pending without its methods.
type pendingFields Pending

// MarshalJSON writes the extra fields beside the fixed ones.
func (p Pending) MarshalJSON() ([]byte, error) {
	if len(p.Extra) == 0 {
		return json.Marshal(pendingFields(p))
	}
	fixed, err := fieldsOf(pendingFields(p))
	if err != nil {
		return nil, err
	}
	for name, value := range p.Extra {
		if !isPendingName(name) {
			fixed[name] = value
		}
	}
	return json.Marshal(fixed)
}

// UnmarshalJSON reads the fixed fields and keeps the others as Extra.
func (p *Pending) UnmarshalJSON(data []byte) error {
	var fixed pendingFields
	if err := json.Unmarshal(data, &fixed); err != nil {
		return err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return isPendingName(name) })
	*p = Pending(fixed)
	if len(all) > 0 {
		p.Extra = all
	}
	return nil
}

// pendingNames are the JSON names that Extra cannot use.
var pendingNames = []string{
	"request_id", "version", "call_id", "args_hash", "batch_id", "position", "total_in_batch", "session_id",
	"project_id", "input_size",
	"agent", "tool", "input", "accesses", "paths", "command_info", "command_signature", "permission_type", "access",
	"risk_level", "consequence", "reason", "reason_code", "warning", "suggestions", "rules", "planned", "asked_at",
	"expires_at",
	"no_sandbox", "code_files", "indeterminate", "allow_all", "shown_digest", "trial_offer", "trial",
	"raise_to", "raise_tries", "coverage", "outside_task",
}

// isPendingName compares names without case, like lenient JSON decoders including Go's.
func isPendingName(name string) bool {
	return slices.ContainsFunc(pendingNames, func(known string) bool { return strings.EqualFold(known, name) })
}

func fieldsOf(v any) (map[string]json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	return fields, json.Unmarshal(data, &fields)
}
