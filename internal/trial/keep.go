package trial

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/relay"
)

// A KeepSpec says what is kept, and where it is remembered.
type KeepSpec struct {
	// State is umpire's own folder, in which the journal and the files as they were are
	// kept, so that it can be undone.
	State string
	// Shown are the effects that a person, or a decision, has agreed to.
	Shown *Effects
	// Command is what is remembered of it, and Call, Session and Trial name the call that was
	// tried, if it was one.
	Command string
	Call    umpire.CallID
	Session umpire.SessionID
	Trial   umpire.TrialID
	// Report has it told to a gate afterwards, which does not know of it: see [Unreported].
	Report bool
	// Vault seals what stood at paths that hold secrets; nil takes no path for one.
	Vault Vault
	// Limits are those of undo; without Bytes there always is room.
	Limits UndoLimits
	// Reviewed says that a person has seen the effects and keeps them although they are stale, or undo has no room.
	Reviewed bool
}

// A Kept is something that was kept, or undone, and can be taken back.
type Kept struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Root    string    `json:"root"` // the project, or the outermost folder of those that changed
	Command string    `json:"command,omitempty"`
	// Call and Session name the call that wrote, if it was one, and Trial the trial of it.
	Call    umpire.CallID    `json:"call,omitempty"`
	Session umpire.SessionID `json:"session,omitempty"`
	Trial   umpire.TrialID   `json:"trial,omitempty"`
	// Undoes is the record that this one took back, and Undone the one that took it back.
	Undoes string `json:"undoes,omitempty"`
	Undone string `json:"undone,omitempty"`
	// Changes are the paths that it changed, in order.
	Changes []Effect `json:"changes"`
	// Left are folders that an undo did not delete, since somebody has put something there.
	Left []string `json:"left,omitempty"`
	// Lost are those of the paths that cannot be taken back, or, of an undo, that it could not.
	Lost []Loss `json:"lost,omitempty"`
}

// A Loss is a path that a call changed and that cannot be taken back.
type Loss struct {
	Path   string           `json:"path"`
	Reason relay.LossReason `json:"reason"`
}

// ErrLost says that nothing can be taken back of what was asked for.
var ErrLost = errors.New("it cannot be taken back")

// Touches reports whether anything changed at or below some paths, which are absolute.
func (k *Kept) Touches(paths []string) bool {
	return slices.ContainsFunc(k.Changes, func(e Effect) bool {
		return files.WithinAny(paths, e.Path)
	})
}

// ErrLayerChanged says that a layer no longer is what was shown.
var ErrLayerChanged = errors.New("the layer has changed since it was shown")

// ErrNotWhole says that effects are not all that the command did.
var ErrNotWhole = errors.New("the trial could not do all that a run would have done")

// A ConflictError names paths that somebody else has changed. Nothing of what was asked for has
// been done.
type ConflictError struct {
	Paths []string
}

func (c *ConflictError) Error() string { return c.formatted().Error() }

// Phrase returns what it says as data.
func (c *ConflictError) Phrase() umpire.Phrase { return umpire.PhraseOf(c.formatted()) }

func (c *ConflictError) formatted() error {
	return umpire.Errorf("somebody else has changed %s", listPaths(c.Paths))
}

// An ObstacleError is a change that cannot be made. Nothing of what was asked for has been done.
type ObstacleError struct {
	Path string
	Err  error
}

func (o *ObstacleError) Error() string { return o.formatted().Error() }

// Phrase returns what it says as data.
func (o *ObstacleError) Phrase() umpire.Phrase { return umpire.PhraseOf(o.formatted()) }

func (o *ObstacleError) formatted() error {
	return umpire.Errorf("%s cannot be changed: %w", o.Path, o.Err)
}

// Unwrap returns what stands against it.
func (o *ObstacleError) Unwrap() error { return o.Err }

// Reasons why a change cannot be made.
var (
	errImmutable  = errors.New("it is immutable (chattr -i lifts that)")
	errAppendOnly = errors.New("it may only be appended to (chattr -a lifts that)")
	errReadOnly   = errors.New("its file system is read-only")
	errForbidden  = errors.New("you may not write in its folder")
	errSpecial    = errors.New("it is a socket, a pipe or a device")
	errSetID      = errors.New("it would run with the rights of its owner")
	errSpace      = errors.New("there is not enough space")
)

// maxListed is how many paths an error names.
const maxListed = 10

func listPaths(paths []string) string {
	more := len(paths) - maxListed
	if more <= 0 {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:maxListed], ", "), more)
}
