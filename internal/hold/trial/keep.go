package trial

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// A KeepSpec describes a keep and where to record it.
type KeepSpec struct {
	// State is umpire's own folder. It receives the journal and the old files, which an
	// undo needs.
	State string
	// Shown are the effects that a person or a decision has approved.
	Shown *Effects
	// Command is the command to record. Call, Session and Trial identify the tried call,
	// if any.
	Command string
	Call    umpire.CallID
	Session umpire.SessionID
	Trial   umpire.TrialID
	// Report schedules a report to a gate that does not know of the keep yet: see [Unreported].
	Report bool
	// Vault seals the old content of paths that hold secrets. If nil, no path counts as secret.
	Vault Vault
	// Limits are the limits of undo. If Bytes is 0, space is unlimited.
	Limits UndoLimits
	// Reviewed means that a person has seen the effects and keeps them although they are stale, or undo has no room.
	Reviewed bool
}

// A Kept is a keep or an undo that can be undone.
type Kept struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Root    string    `json:"root"` // the project, or the outermost changed folder
	Command string    `json:"command,omitempty"`
	// Call and Session identify the call that wrote, if any, and Trial its trial.
	Call    umpire.CallID    `json:"call,omitempty"`
	Session umpire.SessionID `json:"session,omitempty"`
	Trial   umpire.TrialID   `json:"trial,omitempty"`
	// Undoes is the record that this one undid, and Undone the record that undid this one.
	Undoes string `json:"undoes,omitempty"`
	Undone string `json:"undone,omitempty"`
	// Changes are the changed paths, in order.
	Changes []Effect `json:"changes"`
	// Left are folders that an undo did not delete because another program has put something into them.
	Left []string `json:"left,omitempty"`
	// Lost are the changed paths that cannot be undone or, for an undo, those that it could not undo.
	Lost []Loss `json:"lost,omitempty"`
}

// A Loss is a path that a call changed and that cannot be undone.
type Loss struct {
	Path   string           `json:"path"`
	Reason relay.LossReason `json:"reason"`
}

// ErrLost means that none of the requested changes can be undone.
var ErrLost = errors.New("it cannot be undone")

// Touches reports whether anything changed at or below some absolute paths.
func (k *Kept) Touches(paths []string) bool {
	return slices.ContainsFunc(k.Changes, func(e Effect) bool {
		return files.WithinAny(paths, e.Path)
	})
}

// ErrLayerChanged means that a layer differs from the effects that were shown.
var ErrLayerChanged = errors.New("the trial's changes differ from those that were shown")

// ErrNotWhole means that the effects do not cover everything the command did.
var ErrNotWhole = errors.New("the trial could not do everything that a run would have done")

// A ConflictError lists paths that somebody else has changed. Nothing of the requested
// change was applied.
type ConflictError struct {
	Paths []string
}

func (c *ConflictError) Error() string { return c.formatted().Error() }

// Phrase returns the message as data.
func (c *ConflictError) Phrase() umpire.Phrase { return umpire.PhraseOf(c.formatted()) }

func (c *ConflictError) formatted() error {
	return umpire.Errorf("somebody else has changed %s", listPaths(c.Paths))
}

// An ObstacleError is a change that cannot be made. Nothing of the requested change was applied.
type ObstacleError struct {
	Path string
	Err  error
}

func (o *ObstacleError) Error() string { return o.formatted().Error() }

// Phrase returns the message as data.
func (o *ObstacleError) Phrase() umpire.Phrase { return umpire.PhraseOf(o.formatted()) }

func (o *ObstacleError) formatted() error {
	return umpire.Errorf("%s cannot be changed: %w", o.Path, o.Err)
}

// Unwrap returns the reason why the change cannot be made.
func (o *ObstacleError) Unwrap() error { return o.Err }

// Reasons why a change cannot be made.
var (
	errImmutable  = errors.New("it is immutable (chattr -i changes that)")
	errAppendOnly = errors.New("it is append-only (chattr -a changes that)")
	errReadOnly   = errors.New("its file system is read-only")
	errForbidden  = errors.New("you may not write in its folder")
	errSpecial    = errors.New("it is a socket, a pipe or a device")
	errSetID      = errors.New("it would run with the rights of its owner")
	errSpace      = errors.New("there is not enough space")
)

// maxListed limits how many paths an error names.
const maxListed = 10

func listPaths(paths []string) string {
	more := len(paths) - maxListed
	if more <= 0 {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:maxListed], ", "), more)
}
