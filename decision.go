package umpire

import "encoding/json"

// A ReasonCode is the machine-readable reason for a verdict.
type ReasonCode string

// The reason codes.
const (
	CodeSafe              ReasonCode = "safe"
	CodeRule              ReasonCode = "rule"
	CodeOnce              ReasonCode = "once"
	CodeSession           ReasonCode = "session"
	CodeRemembered        ReasonCode = "remembered"
	CodeAllowAll          ReasonCode = "allow_all"
	CodeBypass            ReasonCode = "bypass"
	CodeMode              ReasonCode = "mode"
	CodeCritical          ReasonCode = "critical"
	CodeForbiddenPath     ReasonCode = "forbidden_path"
	CodeControlFile       ReasonCode = "control_file"
	CodeDotFolder         ReasonCode = "dot_folder"
	CodeExternalDirectory ReasonCode = "external_directory"
	CodeSuffix            ReasonCode = "suffix"
	CodeProfile           ReasonCode = "profile"
	CodePlan              ReasonCode = "plan"
	CodeUnparsed          ReasonCode = "unparsed"
	CodeBlocked           ReasonCode = "blocked"
	CodeNoSandbox         ReasonCode = "no_sandbox"
	CodeAutoDeny          ReasonCode = "auto_deny"
	CodeInvalid           ReasonCode = "invalid"
	CodeDenied            ReasonCode = "denied"    // by a person
	CodeCancelled         ReasonCode = "cancelled" // by a person stopping the turn
	CodeTimeout           ReasonCode = "timeout"   // no answer before the deadline
	CodeResolved          ReasonCode = "already_resolved"
	CodeProjectCode       ReasonCode = "project_code" // code from the project would run
	CodeWritten           ReasonCode = "code_written" // trusted code would run, but the agent changed its files
	CodeNetwork           ReasonCode = "network"
	CodeSecret            ReasonCode = "secret"
	CodeDegraded          ReasonCode = "degraded"     // deny or ask rules may be missing
	CodeChanged           ReasonCode = "changed"      // no longer matches the card
	CodeAutonomy          ReasonCode = "autonomy"     // a standing answer of the person
	CodeTrial             ReasonCode = "trial"        // something a trial did, or tried and was refused
	CodeLeftToHost        ReasonCode = "left_to_host" // umpire has no opinion, the host decides
)

// A Reason is one row of the order of decision that applied to one access. Its Text is a
// [Phrase], like the Reason of a Decision: compare it with [Phrase.Is], or show it
// with [Phrase.In]. [Phrase.String] is for logs and always in English.
type Reason struct {
	Row     int        `json:"row"`
	Verdict Verdict    `json:"verdict"`
	Text    Phrase     `json:"text"`
	Code    ReasonCode `json:"code"`
	Rule    *RuleRef   `json:"rule"`
	Grant   string     `json:"grant_id,omitempty"` // of the approval that applied
	// Access is the index of the access concerned, or -1 for the whole call.
	Access int `json:"access"`
}

// Obligations are the restrictions that must apply while an allowed call runs. With full access
// there is no sandbox to enforce them.
type Obligations struct {
	Sandbox SandboxMode `json:"sandbox"`
	Network bool        `json:"network"`
}

// A Suggestion is a rule that would settle the same question next time. If a call needs several
// rules, those of one Width settle it together.
type Suggestion struct {
	Action Verdict `json:"action"`
	Tool   string  `json:"tool"`
	Match  Match   `json:"match,omitzero"`
	Cap
	Width Width `json:"width"`
	Scope Scope `json:"scope"`
}

// Rule returns the suggested rule.
func (s Suggestion) Rule() Rule {
	return Rule{Action: s.Action, Tool: s.Tool, Match: s.Match, Cap: s.Cap}
}

// A Decision is the verdict on one call with its explanation. The zero value denies. Only
// policy.Decide makes decisions.
type Decision struct {
	Verdict Verdict
	Risk    Risk
	// Consequence is the worst consequence of the accesses.
	Consequence Consequence
	Reason      Phrase
	ReasonCode  ReasonCode
	Type        PermissionType
	// Warning asks for a highlighted prompt because the call is known to be dangerous.
	Warning bool
	// Rule is the rule that settled the verdict, or nil.
	Rule *RuleRef
	// Reasons are all rows that applied, in the order of accesses and rows. The first row of an
	// access decided it.
	Reasons     []Reason
	Accesses    []Access
	Obligations Obligations
	Suggestions []Suggestion
	// Trial is the trial available for a call that asks; it is NoTrial for any other verdict.
	Trial TrialOffer
	// RaiseTo is the next level of autonomy if the call, which asks, would run there, or be tried first if
	// RaiseTries is set; else "".
	RaiseTo    string
	RaiseTries bool
	// OutsideTask is the ID of a task in force that the call, which asks, is outside of; else "".
	OutsideTask string
}

// shown is the JSON form of a Decision.
type shown struct {
	Verdict     Verdict        `json:"verdict"`
	Risk        Risk           `json:"risk"`
	Class       Class          `json:"class"`
	Reason      Phrase         `json:"reason"`
	ReasonCode  ReasonCode     `json:"reason_code"`
	Type        PermissionType `json:"permission_type"`
	Warning     bool           `json:"warning,omitempty"`
	Rule        *RuleRef       `json:"rule,omitempty"`
	Reasons     []Reason       `json:"reasons"`
	Accesses    []Access       `json:"accesses"`
	Consequence Consequence    `json:"consequence"`
	Obligations Obligations    `json:"obligations"`
	Suggestions []Suggestion   `json:"suggestions"`
	Trial       TrialOffer     `json:"trial,omitempty"`
	RaiseTo     string         `json:"raise_to,omitempty"`
	RaiseTries  bool           `json:"raise_tries,omitempty"`
	OutsideTask string         `json:"outside_task,omitempty"`
}

// MarshalJSON writes the decision as `umpire check --json` shows it.
func (d Decision) MarshalJSON() ([]byte, error) {
	return json.Marshal(shown{
		d.Verdict, d.Risk, d.Risk.Class(), d.Reason, d.ReasonCode, d.Type, d.Warning, d.Rule,
		orEmpty(d.Reasons), orEmpty(d.Accesses), d.Consequence, d.Obligations, orEmpty(d.Suggestions),
		d.Trial, d.RaiseTo, d.RaiseTries, d.OutsideTask,
	})
}

// UnmarshalJSON reads the output of MarshalJSON, except the class, which follows from the risk.
// Empty lists become nil. After an error the decision is its zero value, which denies.
func (d *Decision) UnmarshalJSON(data []byte) error {
	*d = Decision{}
	var s shown
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*d = Decision{
		Verdict: s.Verdict, Risk: s.Risk, Consequence: s.Consequence, Reason: s.Reason, ReasonCode: s.ReasonCode,
		Type: s.Type, Warning: s.Warning,
		Rule: s.Rule, Reasons: orNil(s.Reasons), Accesses: orNil(s.Accesses), Obligations: s.Obligations,
		Suggestions: orNil(s.Suggestions), Trial: s.Trial, RaiseTo: s.RaiseTo, RaiseTries: s.RaiseTries,
		OutsideTask: s.OutsideTask,
	}
	return nil
}

// orEmpty returns an empty slice for nil, which JSON would otherwise write as null.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// orNil returns nil for an empty slice.
func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}
