package batch

import (
	"encoding/json"

	"github.com/umpirehq/umpire"
)

// An Event is a timeline event with its data as a typed value. The fold reads only
// Detail; Data is the same as JSON, for storage and the API.
type Event struct {
	umpire.Event

	Detail Detail // nil for kinds without details
}

// A Detail is the data specific to an event's kind: [Submitted], [Asked], [Answered],
// [Resumed], [Started], [Finished] or [Tried].
type Detail interface{ isDetail() }

// Submitted is the detail of a BatchSubmitted event.
type Submitted struct {
	Lane  string `json:"lane,omitempty"`
	Turn  int64  `json:"turn,omitempty"`
	Calls []Call `json:"calls"`
}

// A Call is a call in a BatchSubmitted event. State is asked, approved or denied.
type Call struct {
	ID         umpire.CallID     `json:"call_id"`
	Tool       string            `json:"tool"`
	ArgsHash   string            `json:"args_hash"`
	Background bool              `json:"background,omitempty"`
	Effect     umpire.Effect     `json:"effect,omitempty"`
	State      umpire.CallState  `json:"state"`
	Verdict    umpire.Verdict    `json:"verdict"`
	Reason     umpire.Phrase     `json:"reason,omitempty"`
	Code       umpire.ReasonCode `json:"reason_code,omitempty"`
	// Took is the time the decision took, in microseconds.
	Took int64 `json:"took_us,omitempty"`
}

// Asked is the detail of a PermissionAsked or CallIndeterminate event: the displayed
// question, with secrets masked.
type Asked struct {
	Version          int             `json:"version"`
	Input            json.RawMessage `json:"input"`
	Paths            []string        `json:"paths"`
	CommandSignature string          `json:"command_signature"`
	Position         int             `json:"position"`
	Total            int             `json:"total_in_batch"`
	Warning          bool            `json:"warning"`
}

// Answered is the detail of a PermissionApproved or PermissionRejected event: the person
// who answered, or for a call that was only planned, the files it would change, as a JSON
// object from path to digest.
type Answered struct {
	By    umpire.Actor    `json:"by,omitzero"`
	Files json.RawMessage `json:"files,omitempty"`
}

// Resumed is the detail of a BatchResumed event. Epoch counts the batch's resumes from 1,
// so two events with the same number cannot both be appended.
type Resumed struct {
	Epoch int `json:"epoch"`
}

// Started is the detail of a CallStarted event.
type Started struct {
	Attempt int    `json:"attempt"`
	Runner  string `json:"runner,omitempty"`
	Epoch   int64  `json:"epoch,omitempty"`
}

// Finished is the detail of a CallFinished event.
type Finished struct {
	Status umpire.ResultStatus `json:"status"`
	Output string              `json:"output,omitempty"` // its beginning, for display
	Size   int                 `json:"size,omitempty"`   // of the whole output, in bytes
	// Reached and Refused are the destinations of a command whose connections were led out.
	Reached []umpire.TrialReach `json:"reached,omitempty"`
	Refused []string            `json:"refused,omitempty"`
}

// Tried is the detail of the events about a trial: TrialStarted, TrialRan, EffectsKept,
// EffectsDiscarded and EffectsConflicted.
type Tried struct {
	Trial   umpire.TrialID `json:"trial_id"`
	Network bool           `json:"network,omitempty"` // a person approved destinations for it
	Reach   []string       `json:"reach,omitempty"`   // these
	Digest  string         `json:"digest,omitempty"`  // of its layer
	Exit    *int           `json:"exit,omitempty"`
	// Counts are the numbers of created, changed, deleted and moved paths and of
	// attribute changes; Paths has the first of them. For a conflict, Paths are those
	// that another program has changed.
	Counts map[string]int `json:"counts,omitempty"`
	Paths  []string       `json:"paths,omitempty"`
	// Refused has the first refused attempts elsewhere: addresses and paths.
	Refused []string `json:"refused,omitempty"`
	// Reached has the destinations that the command reached.
	Reached []umpire.TrialReach `json:"reached,omitempty"`
}

func (Submitted) isDetail() {}
func (Asked) isDetail()     {}
func (Answered) isDetail()  {}
func (Resumed) isDetail()   {}
func (Started) isDetail()   {}
func (Finished) isDetail()  {}
func (Tried) isDetail()     {}

// Decode decodes a timeline event. The error for invalid data matches [ErrIllegal].
func Decode(e umpire.Event) (Event, error) {
	decoded := Event{Event: e}
	var err error
	switch e.Kind {
	case umpire.EventBatchSubmitted:
		decoded.Detail, err = decode[Submitted](e.Data)
	case umpire.EventPermissionAsked:
		decoded.Detail, err = decode[Asked](e.Data)
	case umpire.EventCallIndeterminate:
		if e.Request != "" {
			decoded.Detail, err = decode[Asked](e.Data)
		}
	case umpire.EventPermissionApproved, umpire.EventPermissionRejected:
		decoded.Detail, err = decode[Answered](e.Data)
	case umpire.EventBatchResumed:
		decoded.Detail, err = decode[Resumed](e.Data)
	case umpire.EventCallStarted:
		decoded.Detail, err = decode[Started](e.Data)
	case umpire.EventCallFinished:
		decoded.Detail, err = decode[Finished](e.Data)
	case umpire.EventTrialStarted, umpire.EventTrialRan, umpire.EventEffectsKept, umpire.EventEffectsDiscarded,
		umpire.EventEffectsConflicted:
		decoded.Detail, err = decode[Tried](e.Data)
	}
	if err != nil {
		return decoded, umpire.Errorf("%s: its data cannot be read: %w: %w", e.Kind, err, ErrIllegal)
	}
	return decoded, nil
}

// decode decodes a detail; without data it returns the zero value.
func decode[T Detail](data json.RawMessage) (d T, err error) {
	if len(data) > 0 {
		err = json.Unmarshal(data, &d)
	}
	return d, err
}
