package trial

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/umpirehq/umpire"
)

// A Keeper keeps and discards trials of calls whose layers are in one state folder. It is
// safe for concurrent use.
type Keeper struct {
	State string
	Vault Vault
	// Limits are the limits of undo. If Bytes is 0, space is unlimited.
	Limits UndoLimits

	seen sync.Map // ids of waiting trials, by file name
}

// errLayerGone means that a trial can no longer be kept.
var errLayerGone = errors.New("the trial's changes are gone")

// find returns a waiting trial, or nil.
func (k *Keeper) find(id umpire.TrialID) (*Held, error) {
	all, err := HeldTrials(k.State)
	for i := range all {
		if all[i].Trial == id {
			return &all[i], err
		}
	}
	return nil, err
}

// Waiting lists the waiting trials of calls.
func (k *Keeper) Waiting() ([]umpire.TrialID, error) {
	names, err := heldNames(k.State)
	var all []umpire.TrialID
	for _, name := range names {
		id, known := k.seen.Load(name)
		if !known {
			h, err := readHeld(heldFile(k.State, name))
			if err != nil {
				continue // it was released meanwhile, or another reader reports it
			}
			id = h.Trial
			k.seen.Store(name, id)
		}
		if trial, _ := id.(umpire.TrialID); trial != "" {
			all = append(all, trial)
		}
	}
	return all, err
}

// Keep applies the layer with a digest completely or not at all. It returns the outcome, with an
// error if the layer was not kept. A trial that was kept before a crash counts as kept.
func (k *Keeper) Keep(ctx context.Context, id umpire.TrialID, digest string) (umpire.TrialSettlement, error) {
	settled := umpire.TrialSettlement{Trial: id, State: umpire.TrialDiscarded, Digest: digest}
	if err := Recover(ctx, k.State, k.Vault); err != nil {
		return settled, err
	}
	held, err := k.find(id)
	switch {
	case err != nil:
		return settled, err
	case held == nil:
		return k.findKept(settled)
	case held.Effects.Digest != digest:
		return settled, ErrLayerChanged
	}
	_, err = held.Keep(ctx, KeepSpec{State: k.State, Vault: k.Vault, Limits: k.Limits})
	if conflict, is := errors.AsType[*ConflictError](err); is {
		settled.State, settled.Paths = umpire.TrialConflict, conflict.Paths
	} else if errors.Is(err, ErrWouldForget) {
		settled.State = umpire.TrialConflict // a person may still keep it
	}
	if err == nil {
		settled.State = umpire.TrialKept
	}
	return settled, err
}

// findKept looks for the trial among the records of keeps.
func (k *Keeper) findKept(settled umpire.TrialSettlement) (umpire.TrialSettlement, error) {
	records, err := Records(k.State)
	if err != nil {
		return settled, err
	}
	for i := range records {
		if records[i].Trial == settled.Trial {
			settled.State = umpire.TrialKept
			return settled, nil
		}
	}
	return settled, errLayerGone
}

// Discard removes the layer of a trial, if it exists.
func (k *Keeper) Discard(id umpire.TrialID) error {
	held, err := k.find(id)
	if held == nil {
		return err
	}
	return held.Discard(k.State)
}

// ResultOf returns the result of a call that was tried and then started for its layer:
// the output of the trial, or the reason why it was not kept.
func ResultOf(tried *umpire.Trial, settled *umpire.TrialSettlement, why error) umpire.Result {
	r := umpire.Result{Status: umpire.ResultOK, Output: tried.Output}
	if tried.Exit != 0 {
		r.Status = umpire.ResultError
		r.Output = fmt.Sprintf("exit code %d\n%s", tried.Exit, r.Output)
	}
	if settled.State != umpire.TrialKept {
		settled.Reason = why.Error()
		r.Status, r.Code = umpire.ResultError, umpire.CodeChanged
		r.Output = fmt.Sprintf("[Not Kept] The command ran where nothing of it is real, and what it did "+
			"could not be kept: %v. Nothing was changed.", why)
	}
	return r
}
