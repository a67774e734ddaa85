package check

import (
	"encoding/json"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/trial"
)

// JudgeUndo judges what an undo would change as a person's writes of the same files, whatever
// the mode. It refuses what a rule denies, and returns the guarded places, which a person has
// to confirm.
func JudgeUndo(a *app.App, k *trial.Kept) (guarded []string, err error) {
	c, err := newChecker(a, &checkFlags{cwd: k.Root, mode: umpire.ModeDefault.String()})
	if err != nil {
		return nil, err
	}
	defer c.closeGates()
	for i := range k.Changes {
		path := k.Changes[i].Path
		input, err := json.Marshal(map[string]string{"file_path": path})
		if err != nil {
			return nil, app.Failed(err)
		}
		d, err := c.decide(umpire.Call{Tool: "Write", Input: input, Dir: c.dir})
		if err != nil {
			return nil, err
		}
		if d.Verdict == umpire.Deny {
			return nil, app.Refused("umpire undo --only PATH",
				"nothing was taken back, since a rule denies writing %s", path)
		}
		if slices.ContainsFunc(d.Reasons, func(r umpire.Reason) bool { return r.Code == umpire.CodeControlFile }) {
			guarded = append(guarded, path)
		}
	}
	return guarded, nil
}

// RefuseGuarded is the error of an undo that would change a guarded place where nobody can
// confirm it.
func RefuseGuarded(hint, path string) error {
	return app.Refused(hint,
		"nothing was taken back: %s decides what runs here, so a person at a terminal confirms that", path)
}
