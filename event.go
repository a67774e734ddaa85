package umpire

import (
	"encoding/json"
	"time"
)

// An EventKind names the kind of an event. Readers must skip unknown kinds, because more may be
// added.
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
	EventCallRanUnasked    EventKind = "CallRanUnasked" // its host ran it without asking
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
	EventTaskApproved      EventKind = "TaskApproved"
	EventSecretLeased      EventKind = "SecretLeased"
	EventSecretRevoked     EventKind = "SecretRevoked"
	EventSecretUsed        EventKind = "SecretUsed" // outside of trials that are on the timeline
	EventRulesChanged      EventKind = "RulesChanged"
	EventRulesDegraded     EventKind = "RulesDegraded"
	EventHookRan           EventKind = "HookRan"
	EventPruned            EventKind = "EventsPruned" // a whole session was removed with its events
	EventNotice            EventKind = "Notice"
)

// A PermissionState summarizes the permissions of a session, as a status line shows it.
type PermissionState string

// The permission states.
const (
	StateIdle    PermissionState = "idle"
	StateWaiting PermissionState = "waiting"
	StateAllowed PermissionState = "allowed"
	StateDenied  PermissionState = "denied"
)

// A Blocked explains why a call does not run, as a code for machines and a text for people with
// secrets masked.
type Blocked struct {
	Code   ReasonCode `json:"code"`
	Detail Phrase     `json:"detail,omitempty"`
}

// An Actor identifies the person or program responsible for something. The zero value is unknown.
type Actor struct {
	// Name is a person's login name on the gate's machine, or the address of another machine.
	Name   string `json:"name,omitempty"`
	Client string `json:"client,omitempty"` // the program's name for itself: cli, tui
	UID    *int   `json:"uid,omitempty"`
	PID    *int   `json:"pid,omitempty"`
}

// An Event is a fact in the past tense on the timeline. It is appended once and never changed.
// Every interface shows these fields under these names and leaves out the ones that do not
// apply.
type Event struct {
	// Seq grows with every event of the store, across all sessions; it has gaps. Watching
	// resumes from it.
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
	// PrevHash and Hash chain the events of one session, or the events outside any session.
	PrevHash string `json:"prev_hash,omitempty"`
	Hash     string `json:"hash,omitempty"`
}

// A Filter selects the events to read. The zero value selects all of them, from the first.
type Filter struct {
	Project ProjectID `json:"project_id,omitempty"`
	Session SessionID `json:"session_id,omitempty"`
	// After selects events with a greater Seq.
	After int64 `json:"after,omitempty"`
	// Limit is the maximum number of events, counted from the first; 0 means no limit.
	Limit int `json:"limit,omitempty"`
	// Last is the maximum number of events, counted back from the last; 0 means no limit. It
	// cannot be used with Watch or with Limit.
	Last int `json:"last,omitempty"`
	// Before selects events with a smaller Seq and goes with Last; 0 selects all.
	Before int64 `json:"before,omitempty"`
}

// LastSeq returns the sequence number of the last event, or 0 if there are no events.
func LastSeq(events []Event) int64 {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}
