package umpire

import (
	"context"
	"errors"
	"iter"
)

// A Gate is the one way through: calls go in, decisions come out, and what
// happened can be watched. A gate is safe for concurrent use. An error never
// stands beside a permission.
type Gate interface {
	// Check decides a call and stores nothing. The call's session, if there is
	// one, gives the mode and the grants.
	Check(ctx context.Context, call Call) (Decision, error)
	// Submit decides and stores all calls of one message. When one asks, all wait.
	Submit(ctx context.Context, s Submission) (Batch, error)
	// Resolve takes a person's answer. The error of a late one is a *ResolvedError.
	Resolve(ctx context.Context, a Answer) (Batch, error)
	// Finish stores the result of a call that was started.
	Finish(ctx context.Context, r Result) (Batch, error)
	// Watch yields events, first those that are stored and then new ones as they
	// commit, until ctx ends or an error is yielded. It skips none.
	Watch(ctx context.Context, f Filter) iter.Seq2[Event, error]
}

// Errors that callers tell apart. Edges map them to their codes.
var (
	// ErrNotFound: there is no such session, batch, call or question.
	ErrNotFound = errors.New("not found")
	// ErrInvalid: what was asked for is malformed; the error names the field.
	ErrInvalid = errors.New("invalid")
	// ErrResolved: the question has its answer. See [ResolvedError].
	ErrResolved = errors.New("already resolved")
	// ErrState: the state of things stands against it.
	ErrState = errors.New("refused by state")
	// ErrNeedsPerson: an agent asked for what only a person may give.
	ErrNeedsPerson = errors.New("needs a person")
	// ErrChanged: an answer is about another card than the one that waits.
	ErrChanged = errors.New("changed: not what was shown")
	// ErrFenced: another runner has taken the session.
	ErrFenced = errors.New("fenced: another runner has taken this session")
	// ErrOtherProject: the session belongs to another project.
	ErrOtherProject = errors.New("belongs to another project")
	// ErrLimit: a limit is reached.
	ErrLimit = errors.New("limit reached")
	// ErrNotRecorded: the store could not keep it, so it did not happen.
	ErrNotRecorded = errors.New("not recorded")
)

// A ResolvedError says that an answer came late, and which one stands. It
// matches [ErrResolved].
type ResolvedError struct{ Standing Standing }

// Error says which answer stands.
func (r *ResolvedError) Error() string {
	return "already resolved: " + string(r.Standing.Choice)
}

// Is matches ErrResolved.
func (r *ResolvedError) Is(target error) bool { return target == ErrResolved }
