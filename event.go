package umpire

import (
	"encoding/json"
	"time"
)

// An EventKind names what happened. Readers pass over kinds that they do not
// know: further ones may come.
type EventKind string

// The kinds of events.
const (
	EventPermissionAsked          EventKind = "PermissionAsked"
	EventPermissionApproved       EventKind = "PermissionApproved"
	EventPermissionRejected       EventKind = "PermissionRejected"
	EventPermissionBypassedByRule EventKind = "PermissionBypassedByRule"

	EventSessionOpened     EventKind = "SessionOpened"
	EventSessionResumed    EventKind = "SessionResumed"
	EventSessionEnded      EventKind = "SessionEnded"
	EventModeChanged       EventKind = "ModeChanged"
	EventBatchSubmitted    EventKind = "BatchSubmitted"
	EventBatchResumed      EventKind = "BatchResumed"
	EventBatchCancelled    EventKind = "BatchCancelled"
	EventBatchFinished     EventKind = "BatchFinished"
	EventBatchDelivered    EventKind = "BatchDelivered"
	EventCallStarted       EventKind = "CallStarted"
	EventCallFinished      EventKind = "CallFinished"
	EventCallIndeterminate EventKind = "CallIndeterminate"
	EventCallRanUnasked    EventKind = "CallRanUnasked" // its host ran it and did not ask
	EventCallRanRefused    EventKind = "CallRanRefused" // its host ran it although it was not allowed
	EventTrialWanted       EventKind = "TrialWanted"
	EventTrialStarted      EventKind = "TrialStarted"
	EventTrialRan          EventKind = "TrialRan"
	EventEffectsKept       EventKind = "EffectsKept"
	EventEffectsDiscarded  EventKind = "EffectsDiscarded"
	EventEffectsConflicted EventKind = "EffectsConflicted"
	EventUndone            EventKind = "Undone"
	EventPromptQueued      EventKind = "PromptQueued"
	EventModelRequested    EventKind = "ModelRequested"
	EventModelReplied      EventKind = "ModelReplied"
	EventGrantCreated      EventKind = "GrantCreated"
	EventGrantRevoked      EventKind = "GrantRevoked"
	EventRulesChanged      EventKind = "RulesChanged"
	EventRulesDegraded     EventKind = "RulesDegraded"
	EventHookRan           EventKind = "HookRan"
	EventPruned            EventKind = "EventsPruned" // a whole session was removed with its events
	EventNotice            EventKind = "Notice"
)

// A PermissionState is where a session stands with its permissions, as a status
// line shows it.
type PermissionState string

// The permission states.
const (
	StateIdle    PermissionState = "idle"
	StateWaiting PermissionState = "waiting"
	StateAllowed PermissionState = "allowed"
	StateDenied  PermissionState = "denied"
)

// A Blocked says why a call does not run: a word for machines, a text for people
// in which secrets are masked.
type Blocked struct {
	Code   ReasonCode `json:"code"`
	Detail Phrase     `json:"detail,omitempty"`
}

// An Actor is who did something, as far as it is known. The zero value is nobody known.
type Actor struct {
	// Name is a person's login name on the gate's machine, or the address of another one.
	Name   string `json:"name,omitempty"`
	Client string `json:"client,omitempty"` // what the program calls itself: cli, tui
	UID    *int   `json:"uid,omitempty"`
	PID    *int   `json:"pid,omitempty"`
}

// An Event is a fact in the past tense on the timeline. It is appended once and
// never changed. Every surface shows these fields under these names; what does
// not apply is left out.
type Event struct {
	// Seq grows with every event of the store, whatever its session; it has gaps.
	// Watching resumes from it.
	Seq     int64           `json:"seq"`
	At      time.Time       `json:"at"`
	Kind    EventKind       `json:"kind"`
	Project ProjectID       `json:"project_id,omitempty"`
	Session SessionID       `json:"session_id,omitempty"`
	Batch   BatchID         `json:"batch_id,omitempty"`
	Call    CallID          `json:"call_id,omitempty"`
	Request RequestID       `json:"request_id,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	State   PermissionState `json:"permission_state,omitempty"`
	Type    PermissionType  `json:"permission_type,omitempty"`
	// Risk is low, medium, high or critical; safe is reported as low.
	Risk     string          `json:"risk_level,omitempty"`
	Blocked  *Blocked        `json:"blocked_reason,omitempty"`
	Verdict  *Verdict        `json:"verdict,omitempty"`
	Reason   Phrase          `json:"reason,omitempty"`
	Code     ReasonCode      `json:"reason_code,omitempty"`
	Rule     RuleID          `json:"rule_id,omitempty"`
	Scope    *Scope          `json:"scope,omitempty"`
	Actor    string          `json:"actor,omitempty"`
	Accesses []Access        `json:"accesses,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"` // a JSON object; its keys depend on Kind
	// PrevHash and Hash chain the events of one session, and those of none.
	PrevHash string `json:"prev_hash,omitempty"`
	Hash     string `json:"hash,omitempty"`
}

// A Filter says which events to read. The zero value is all of them, from the
// first.
type Filter struct {
	Project ProjectID `json:"project_id,omitempty"`
	Session SessionID `json:"session_id,omitempty"`
	// After finds events with a greater Seq.
	After int64 `json:"after,omitempty"`
	// Limit is the number of events at most, from the first; 0 is as many as there are.
	Limit int `json:"limit,omitempty"`
	// Last is the number of events at most, up to the last; 0 is as many as there are. It is not for Watch, and
	// not with Limit.
	Last int `json:"last,omitempty"`
	// Before finds events with a smaller Seq, beside Last; 0 is all.
	Before int64 `json:"before,omitempty"`
}

// LastSeq returns the sequence number of the last of some events, 0 when there are none.
func LastSeq(events []Event) int64 {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}
