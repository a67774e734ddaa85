package run

import (
	"encoding/json"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/hold/trial"
)

// judgeUndo judges an undo like a person's writes with the same effects, independent of the mode.
// It refuses writes that a rule denies, and returns the guarded places, which a person has to
// confirm.
func judgeUndo(a *app.App, k *trial.Kept) (guarded []string, err error) {
	c, err := app.NewChecker(a, &app.Checking{Dir: k.Root, Mode: umpire.ModeDefault.String()})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for i := range k.Changes {
		change := &k.Changes[i]
		input, err := json.Marshal(map[string]string{"file_path": change.Path})
		if err != nil {
			return nil, app.Failed(err)
		}
		call := umpire.Call{Tool: "Write", Input: input, Dir: c.Dir}
		d, err := c.DecideEffects(call, &umpire.TrialEffects{Whole: true, List: []umpire.TrialEffect{{
			Kind: change.Kind, Path: change.Path, From: change.From, Mode: change.After.Type, Link: change.After.Link,
		}}})
		if err != nil {
			return nil, err
		}
		if d.Verdict == umpire.Deny {
			return nil, app.Refused("umpire undo --only PATH",
				"nothing was undone, because a rule denies writing %s", change.Path)
		}
		if decidesWhatRuns(&d) {
			guarded = append(guarded, change.Path)
		}
	}
	return guarded, nil
}

// decidesWhatRuns reports whether a change is of a guarded place, or makes one in a way that cannot be judged, such
// as a link where an editor looks for its tasks.
func decidesWhatRuns(d *umpire.Decision) bool {
	return slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool { return r.Code == umpire.CodeControlFile }) ||
		slices.ContainsFunc(d.Accesses, func(a umpire.Access) bool { return a.Doubt != "" })
}

// refuseGuarded returns the error of an undo that would change a guarded place without a
// person to confirm it.
func refuseGuarded(hint, path string) error {
	return app.Refused(hint,
		"nothing was undone: %s decides what runs here, so a person at a terminal must confirm it", path)
}
