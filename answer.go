package umpire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// A RequestID names one question put to a person: one call in one round. A call
// that is asked about again has another one.
type RequestID string

// A Choice is what a person answers. The zero value is none and answers nothing.
type Choice string

// The choices.
const (
	Approve Choice = "approve"
	Refuse  Choice = "deny"
	Cancel  Choice = "cancel" // refuse, and stop the turn
	// Try answers nothing yet: it has the call tried as its card offers, and what that did stands on
	// the next card.
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

// An Answer is a person's word on one pending call. It is bound to the question
// and to the arguments that were shown; the first answer to a question wins.
type Answer struct {
	Request RequestID `json:"request_id"`
	// ArgsHash is the pending call's args_hash: the answer is about those
	// arguments and no others.
	ArgsHash string `json:"args_hash"`
	// ShownDigest is the pending call's shown_digest: the answer is about what that
	// card showed. Without it an answer is refused.
	ShownDigest string `json:"shown_digest,omitempty"`
	// Version is the pending call's version; 0 is whichever the request has.
	Version int    `json:"version,omitempty"`
	Choice  Choice `json:"answer"`
	Scope   Scope  `json:"scope"`
	Reason  string `json:"reason,omitempty"`
	// Rule is the short form of the rule that an approval for longer than once
	// stands for; "" takes the narrowest one that covers the call.
	Rule string `json:"rule,omitempty"`
	// Width says how much an approval for longer than once covers, where no Rule
	// says it; "" is the default of the scope.
	Width Width `json:"width,omitempty"`
	// ExpiresAt ends a grant or a rule; the zero time never does.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Actor says who answered and Channel by which way; the gate's edge fills
	// them in, not the client.
	Actor   string `json:"-"`
	Channel string `json:"-"`
	By      Actor  `json:"-"`
}

// A Standing is the answer that a question has, once it has one.
type Standing struct {
	Request RequestID  `json:"request_id"`
	Choice  Choice     `json:"answer"`
	Scope   Scope      `json:"scope"`
	Reason  Phrase     `json:"reason,omitempty"`
	Code    ReasonCode `json:"reason_code,omitempty"` // denied, cancelled, timeout, auto_deny
	Actor   string     `json:"actor,omitempty"`
	At      time.Time  `json:"at"`
}

// A CommandInfo tells a person about a command.
type CommandInfo struct {
	Command     string `json:"command"`
	Risk        string `json:"risk_level"`
	Suggestion  string `json:"suggestion,omitempty"`
	BaseCommand string `json:"base_command,omitempty"`
}

// A Pending is one question that waits for a person, with everything they need
// to answer it.
type Pending struct {
	Request  RequestID `json:"request_id"`
	Version  int       `json:"version"`
	Call     CallID    `json:"call_id"`
	ArgsHash string    `json:"args_hash"`
	// ShownDigest binds an answer to what the card shows.
	ShownDigest string    `json:"shown_digest,omitempty"`
	Batch       BatchID   `json:"batch_id"`
	Position    int       `json:"position"` // from 1
	Total       int       `json:"total_in_batch"`
	Session     SessionID `json:"session_id"`
	Project     ProjectID `json:"project_id"`
	Agent       string    `json:"agent,omitempty"`
	Tool        string    `json:"tool"`
	// Input is what the call was given, with secrets masked.
	Input json.RawMessage `json:"input"`
	// InputSize is the size of an input of which Input has only parts, else 0. Gate.Batch returns it whole.
	InputSize        int            `json:"input_size,omitempty"`
	Accesses         []Access       `json:"accesses"`
	Paths            []string       `json:"paths,omitempty"`
	CommandInfo      *CommandInfo   `json:"command_info,omitempty"`
	CommandSignature string         `json:"command_signature,omitempty"`
	Type             PermissionType `json:"permission_type"`
	// Access is read, write, all or command.
	Access string `json:"access"`
	Risk   string `json:"risk_level"`
	// Consequence says what cannot be taken back once the call has run.
	Consequence Consequence  `json:"consequence"`
	Reason      Phrase       `json:"reason"`
	Code        ReasonCode   `json:"reason_code,omitempty"`
	Warning     bool         `json:"warning,omitempty"`
	Suggestions []Suggestion `json:"suggestions"`
	// Rules are, in short form, what an approval for the project or for good would
	// write; none means that no rule can stand for it.
	Rules []string `json:"rules,omitempty"`
	// Planned is, of a call that leaves plan mode, what was planned: approving it lets
	// these files be changed without a further question.
	Planned   []Planned `json:"planned,omitempty"`
	AskedAt   time.Time `json:"asked_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// CodeFiles are the files whose code the call runs, as they were when it was asked
	// about; an approval is for these contents.
	CodeFiles []CodeFile `json:"code_files,omitempty"`
	// NoSandbox says why a command would run without a sandbox; "" when it would not,
	// or when the agent runs its calls its own way.
	NoSandbox Phrase `json:"no_sandbox,omitempty"`
	// TrialOffer says what a trial could do for the call: nothing for one that is not the next
	// of its batch.
	TrialOffer TrialOffer `json:"trial_offer,omitempty"`
	// Trial is what a trial of the call did. Where its effects wait, approving keeps exactly
	// these; where they were discarded, approving runs the call.
	Trial *Trial `json:"trial,omitempty"`
	// AllowAll says that the workspace allows what no rule and no guard asks about.
	AllowAll bool `json:"allow_all,omitempty"`
	// Indeterminate says that the call was started and nobody knows whether it
	// ran: the question is not whether it may run but what became of it.
	// Approving says that it was done, denying that it was not.
	Indeterminate bool `json:"indeterminate,omitempty"`
	// Coverage says what each lasting answer would have settled of the last calls of the project that asked;
	// nothing where the query did not want it.
	Coverage []Coverage `json:"coverage,omitempty"`
	// Extra are the further fields that the tool's own check gave. In JSON they
	// stand beside the others. One that is named as a field of the gate's is left out
	// there, whatever its case, also where the gate leaves its own out.
	Extra map[string]json.RawMessage `json:"-"`
}

// A Coverage says what an approval of a scope and a width would have settled of the calls of the project that
// people were asked about in the last 30 days, a hundred calls at most.
type Coverage struct {
	Scope Scope `json:"scope"`
	Width Width `json:"width,omitempty"`
	Calls int   `json:"calls"` // that it would have allowed
	Of    int   `json:"of"`    // the calls that were looked at and still ask
	// Worst is what it would have allowed with the worst consequence, and of these the highest risk; nil
	// where it would have allowed nothing.
	Worst *Access `json:"worst,omitempty"`
}

// A CodeFile is a file that a call names and whose code would run.
type CodeFile struct {
	Path string `json:"path"`
	// Digest is the SHA-256 of the whole file in hex. It begins with "unread" when the
	// file could not be read, or is too large to be.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	// Text is the beginning of the file with secrets masked; Cut says that there is
	// more.
	Text string `json:"text,omitempty"`
	Cut  bool   `json:"cut,omitempty"`
}

// A Planned is a call that plan mode did not let run.
type Planned struct {
	Call     CallID   `json:"call_id"`
	Tool     string   `json:"tool"`
	Accesses []Access `json:"accesses,omitempty"`
	// Files are those that it would change: their SHA-256 in hex as it was then, or
	// "absent". One that is not here could not be looked at.
	Files map[string]string `json:"files,omitempty"`
}

// A PendingQuery finds pending calls, the oldest first. The zero value finds all.
type PendingQuery struct {
	Project ProjectID `json:"project_id,omitempty"`
	Session SessionID `json:"session_id,omitempty"`
	// After finds only the questions after this one, which may have been answered since. If it was
	// deleted with its session, the error matches ErrNotFound.
	After RequestID `json:"after,omitempty"`
	Limit int       `json:"limit,omitempty"`
	// Coverage names the one question that is listed, with its Coverage. That takes a while to work out:
	// ask for it where a person looks at the card.
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

// UnmarshalJSON reads the fixed fields, and keeps the others as Extra.
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

// pendingNames are the JSON names that Extra cannot take.
var pendingNames = []string{
	"request_id", "version", "call_id", "args_hash", "batch_id", "position", "total_in_batch", "session_id",
	"project_id", "input_size",
	"agent", "tool", "input", "accesses", "paths", "command_info", "command_signature", "permission_type", "access",
	"risk_level", "consequence", "reason", "reason_code", "warning", "suggestions", "rules", "planned", "asked_at",
	"expires_at",
	"no_sandbox", "code_files", "indeterminate", "allow_all", "shown_digest", "trial_offer", "trial",
	"coverage",
}

// isPendingName compares names as decoders of JSON do that are lenient, Go's among them:
// without case.
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
