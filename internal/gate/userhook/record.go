package userhook

import (
	"cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/rulefile"
)

// maxRecorded bounds a hook's own words on the timeline, in bytes.
const maxRecorded = 2000

// A Record is the data of the event HookRan.
type Record struct {
	Hook      string             `json:"hook_id"`
	Event     rulefile.HookEvent `json:"event"`
	Outcome   Outcome            `json:"outcome"`
	OnFailure string             `json:"on_failure,omitempty"` // if the hook failed
	Exit      int                `json:"exit"`
	Took      int64              `json:"ms"`
	File      string             `json:"file,omitempty"`
	Line      int                `json:"line,omitempty"`
}

// Recorded returns the event for a run about a call, and its data.
func (r *Ran) Recorded(b umpire.BatchID, call *umpire.Call) (umpire.Event, Record) {
	data := Record{
		Hook: r.Hook.ID, Event: r.Hook.Event, Outcome: r.Outcome, Exit: r.Exit, Took: r.Took.Milliseconds(),
		File: r.Hook.File, Line: r.Hook.Line,
	}
	if r.Outcome == Failed {
		data.OnFailure = "block"
		if r.Hook.Skip {
			data.OnFailure = "skip"
		}
	}
	reason := cmp.Or(r.Reason, umpire.Say("Hook %q has no objection", r.Hook.ID))
	if text := reason.String(); len(text) > maxRecorded {
		reason = umpire.Verbatim(files.ClipTo(text, maxRecorded, ""))
	}
	return umpire.Event{
		Kind: umpire.EventHookRan, Batch: b, Call: call.ID, Tool: call.Tool, Agent: call.Agent, Reason: reason,
	}, data
}
