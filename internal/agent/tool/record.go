package tool

import (
	"context"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/hold/sandbox"
	"github.com/umpirehq/umpire/internal/hold/trial"
	"github.com/umpirehq/umpire/internal/judge"
)

// recordCall remembers the files that a call is about to change, before it does.
func (s *Set) recordCall(ctx context.Context, u *use) (*trial.Recording, error) {
	if s.options.State == "" {
		return nil, nil
	}
	if u.call.Tool != "Bash" { // a command has its own folder for temporary files
		ledger := sandbox.NewScratchLedger(s.options.State, time.Now)
		_ = ledger.Claim(u.call.Session, judge.WrittenOutside(&u.decision)) // without a claim the next write asks
	}
	spec := trial.RecordSpec{
		State: s.options.State, Vault: s.options.Vault, Roots: append([]string{s.options.Root}, s.options.AddDirs...),
		Call: u.call.ID, Session: u.call.Session, Command: u.call.Tool,
	}
	if u.call.Tool == "Bash" {
		spec.Paths, spec.InPlace = judge.EditedFiles(&u.decision, spec.Roots), true
		spec.Command, _ = commandOf(u.in) // the tool reads it too, and reports the error
	} else {
		u.planChanges(&s.options, &spec)
	}
	if len(spec.Paths) == 0 {
		return nil, nil
	}
	r, err := trial.Record(ctx, spec)
	if errors.Is(err, trial.ErrUnavailable) {
		return nil, nil
	}
	return r, err
}

// planChanges lists the files in the input of a tool that changes files.
func (u *use) planChanges(o *Options, spec *trial.RecordSpec) {
	c, changes := changers[u.call.Tool]
	if !changes {
		return
	}
	all, err := c.read(u.in)
	if err != nil {
		return // see above
	}
	for i := range all {
		path, err := o.decided(u, all[i].path, umpire.KindWrite)
		if err != nil {
			continue // the call does not write there
		}
		spec.Paths = append(spec.Paths, path)
		spec.Command += " " + all[i].path
	}
}
