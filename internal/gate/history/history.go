// Package history reads the timeline as calls: what a person was asked about each, how they answered, and how
// it ended. It only folds events, so a process can do so beside a gate without slowing it.
package history

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// A Name identifies a call: agents restart their numbering in each session.
type Name struct {
	Session umpire.SessionID
	Call    umpire.CallID
}

// A Question is one time that a call waited for a person.
type Question struct {
	Request umpire.RequestID `json:"request_id"`
	Asked   time.Time        `json:"asked_at"`
	// Answered is zero while the call waits.
	Answered time.Time `json:"answered_at,omitzero"`
	// By is the name of the person who answered, and Client the program they used. Both are empty if no person did.
	By     string `json:"by,omitempty"`
	Client string `json:"client,omitempty"`
	// Approved is the answer. Scope tells how far an approval reaches.
	Approved bool              `json:"approved"`
	Scope    *umpire.Scope     `json:"scope,omitempty"`
	Code     umpire.ReasonCode `json:"reason_code,omitempty"` // of an answer without a person: timeout, cancelled
	Reason   umpire.Phrase     `json:"reason,omitempty"`      // the words of the person who denied
}

// Wait returns the time that passed before a person answered. ok is false if none did.
func (q *Question) Wait() (wait time.Duration, ok bool) {
	return max(0, q.Answered.Sub(q.Asked)), q.By != ""
}

// A Call is one call as its events tell it. Its zero value has no events yet.
type Call struct {
	Name      Name                      `json:"-"`
	Project   umpire.ProjectID          `json:"project_id"`
	Batch     umpire.BatchID            `json:"batch_id"`
	Agent     string                    `json:"agent"`
	Tool      string                    `json:"tool"`
	Input     json.RawMessage           `json:"input,omitempty"` // only of calls that were asked about
	First     time.Time                 `json:"at"`
	Questions []Question                `json:"questions,omitempty"` // that no trial answered
	Decided   *umpire.Event             `json:"decided,omitempty"`   // the last event with the decision
	Started   time.Time                 `json:"started_at,omitzero"`
	Ended     time.Time                 `json:"ended_at,omitzero"`
	Status    umpire.ResultStatus       `json:"status,omitempty"`
	Tried     bool                      `json:"tried,omitempty"`
	Kept      bool                      `json:"kept,omitempty"` // what its trial changed
	Discarded bool                      `json:"discarded,omitempty"`
	Effects   map[umpire.EffectKind]int `json:"effects,omitempty"` // of its trial
}

// GateActor is the actor of answers that no person gave.
const GateActor = "gate"

// Add adds the next event about the call.
func (c *Call) Add(e *umpire.Event) {
	if c.First.IsZero() {
		c.Name, c.First = Name{e.Session, e.Call}, e.At
		c.Project, c.Batch, c.Agent, c.Tool = e.Project, e.Batch, e.Agent, e.Tool
	}
	if len(e.Accesses) > 0 && (c.Decided == nil || e.Kind == umpire.EventPermissionAsked) {
		c.Decided = e
	}
	switch e.Kind {
	case umpire.EventPermissionAsked:
		c.addQuestion(e)
	case umpire.EventPermissionApproved, umpire.EventPermissionRejected:
		c.addAnswer(e)
	case umpire.EventTrialRan:
		c.addTrial(e)
	case umpire.EventEffectsKept:
		c.Kept = true
	case umpire.EventEffectsDiscarded:
		c.Discarded = true
	case umpire.EventCallStarted:
		c.Started = e.At
	case umpire.EventCallFinished:
		var result umpire.Result
		_ = json.Unmarshal(e.Data, &result) // an unreadable one leaves the status out
		c.Ended, c.Status = e.At, result.Status
	}
}

// addQuestion adds a question in place of an open one: after a trial the call asks again, about the effects.
func (c *Call) addQuestion(e *umpire.Event) {
	if e.Code == umpire.CodeAutoDeny {
		return // there was no person to ask
	}
	var asked struct {
		Input json.RawMessage `json:"input"`
	}
	if json.Unmarshal(e.Data, &asked) == nil && len(asked.Input) > 0 {
		c.Input = asked.Input
	}
	c.Questions = slices.DeleteFunc(c.Questions, func(q Question) bool { return q.Answered.IsZero() })
	c.Questions = append(c.Questions, Question{Request: e.Request, Asked: e.At})
}

func (c *Call) addAnswer(e *umpire.Event) {
	at := slices.IndexFunc(c.Questions, func(q Question) bool { return q.Request == e.Request })
	if at < 0 {
		return
	}
	approved, person := e.Kind == umpire.EventPermissionApproved, e.Actor != GateActor && e.Actor != ""
	if approved && !person { // a trial answered it
		c.Questions = slices.Delete(c.Questions, at, at+1)
		return
	}
	q := &c.Questions[at]
	q.Answered, q.Code, q.Approved = e.At, e.Code, approved
	if !person {
		return
	}
	var answered struct {
		By umpire.Actor `json:"by"`
	}
	_ = json.Unmarshal(e.Data, &answered) // older events do not name the program
	q.By, q.Client, q.Scope, q.Reason = e.Actor, answered.By.Client, e.Scope, e.Reason
}

func (c *Call) addTrial(e *umpire.Event) {
	var ran struct {
		Counts map[umpire.EffectKind]int `json:"counts"`
	}
	_ = json.Unmarshal(e.Data, &ran) // an unreadable one has no effects
	c.Tried, c.Effects = true, ran.Counts
}
