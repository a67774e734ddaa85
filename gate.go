package umpire

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"
)

// A Gate is the single entry point: calls go in, decisions come out, and events can be watched.
// A gate is safe for concurrent use. An error never accompanies a permission.
//
// Its small parts let a function ask for only those it needs. The local gate and the client of a
// remote one both implement Gate.
type Gate interface {
	// Check decides a call and stores nothing. The call's session, if there is one, provides
	// the mode and the grants.
	Check(ctx context.Context, call Call) (Decision, error)
	Submitter
	Runner
	Answerer
	Watcher

	// Sessions returns the keeper of the sessions.
	Sessions() SessionKeeper
	// Conversations returns the keeper of the sessions' messages.
	Conversations() ConversationKeeper
	// Trials returns the part that tries calls before they run.
	Trials() Trier
	// Tickets returns the part that runs command lines by tickets.
	Tickets() Ticketer
	// Rules returns the keeper of the rule files.
	Rules() RuleKeeper
	// Grants returns the keeper of the approvals that are not rules.
	Grants() GrantKeeper
}

// A Submitter takes the calls of a message and returns their state.
type Submitter interface {
	// Submit decides and stores all calls of one message. If one asks, all wait. Submitting the
	// same batch again returns its current state.
	Submit(ctx context.Context, s Submission) (Batch, error)
	// Batch returns the current state of a batch, with secrets masked.
	Batch(ctx context.Context, session SessionID, batch BatchID) (Batch, error)
	// Await returns a batch once it no longer waits for a person, or its current state when the
	// time is over or the gate shuts down: check its State. A gate may return earlier than
	// asked.
	Await(ctx context.Context, session SessionID, batch BatchID, wait time.Duration) (Batch, error)
}

// A Runner is the gate's interface for the process that runs a session. A runner with an old
// epoch gets ErrFenced.
type Runner interface {
	// Start claims the next call of a batch for running. The call runs only if Go is set in the
	// answer.
	Start(ctx context.Context, s Start) (Started, error)
	// Finish stores the result of a started call.
	Finish(ctx context.Context, r Result) (Batch, error)
}

// A Trier lets a runner try a call before the gate asks a person about it, or when a person
// requests a trial. A runner with an old epoch gets ErrFenced.
type Trier interface {
	// Begin begins a trial of the next call of a batch. A session that runs too many trials gets
	// ErrLimit; trials of other sessions don't count.
	Begin(ctx context.Context, r TrialRequest) (BegunTrial, error)
	// Report decides on the effects of a trial. The batch shows the next step: the call is
	// approved and starting it keeps the effects, or it is denied, or the gate asks a person with
	// the effects on the card. The gate discards a trial that is no longer the call's current one.
	Report(ctx context.Context, r TrialReport) (Batch, error)
	// Settle records the fate of a trial's effects. They are kept only after the call was
	// started. A settlement with a Record belongs to no batch and is only an event on the
	// timeline.
	Settle(ctx context.Context, s TrialSettlement) (Batch, error)
}

// An Answerer lists questions for a person and takes the answers.
type Answerer interface {
	// Pending lists the questions that wait for a person, the oldest first.
	Pending(ctx context.Context, q PendingQuery) ([]Pending, error)
	// Resolve takes a person's answer. For a late answer the error is a *ResolvedError.
	Resolve(ctx context.Context, a Answer) (Batch, error)
}

// A SessionKeeper opens, finds and changes sessions.
type SessionKeeper interface {
	SessionOpener
	SessionReader
	// SetMode switches a session's mode, or its workspace's allowAll.
	SetMode(ctx context.Context, m ModeChange) (Session, error)
	// End ends a session and denies its pending questions.
	End(ctx context.Context, session SessionID, reason string) error
	// Delete removes a session. Its events stay.
	Delete(ctx context.Context, session SessionID) error
}

// A SessionOpener gives a runner its session.
type SessionOpener interface {
	// Open begins a session.
	Open(ctx context.Context, o Opening) (Session, error)
	// Continue takes over a session for a runner and fences off the previous runner.
	Continue(ctx context.Context, r Resumption) (Session, error)
	// Fork begins a session with the conversation of another one of the same project, without
	// its grants.
	Fork(ctx context.Context, session SessionID, r Resumption) (Session, error)
	// Renew extends the runner's lease and returns its new end. A runner with an old epoch gets
	// ErrFenced.
	Renew(ctx context.Context, session SessionID, epoch int64) (time.Time, error)
}

// A SessionReader finds sessions.
type SessionReader interface {
	// Get returns the current state of a session.
	Get(ctx context.Context, session SessionID) (Session, error)
	// Latest returns the session that Continue takes if the caller names none.
	Latest(ctx context.Context, q LatestQuery) (Session, error)
	// List lists sessions, the latest activity first.
	List(ctx context.Context, q SessionQuery) ([]Session, error)
}

// A ConversationKeeper keeps the messages of sessions. A runner with an old epoch gets ErrFenced.
type ConversationKeeper interface {
	// Prompt adds a message of the user. It is queued while calls wait.
	Prompt(ctx context.Context, p Prompt) (Prompted, error)
	// Compose begins the next request to the model and returns the conversation to build it
	// from. It is the only read of a session in which secrets are not masked.
	Compose(ctx context.Context, session SessionID, epoch int64) (Conversation, error)
	// Reply stores a model's message that calls no tool.
	Reply(ctx context.Context, r Reply) (Session, error)
	// Read returns the messages of a session, with secrets masked.
	Read(ctx context.Context, q ConversationQuery) (Conversation, error)
}

// A RuleKeeper keeps the rules that apply in the project of a folder.
type RuleKeeper interface {
	// List lists the rules with their files and lines.
	List(ctx context.Context, dir string) ([]Rule, error)
	// Add writes a rule into the file of a scope and returns its id.
	Add(ctx context.Context, dir string, scope Scope, r Rule, by Actor) (RuleID, error)
	// Remove removes a rule from the file of a scope.
	Remove(ctx context.Context, dir string, scope Scope, rule RuleID, by Actor) error
	// Status returns the rule files in force, with their problems.
	Status(ctx context.Context, dir string) (RuleStatus, error)
	// Trust trusts the rule files or the code of a project, or ends that trust. It
	// returns the files concerned.
	Trust(ctx context.Context, t TrustChange) ([]string, error)
}

// A GrantKeeper keeps the approvals that are not rules.
type GrantKeeper interface {
	// List lists the grants in the project of a folder, the oldest first.
	List(ctx context.Context, dir string) ([]GrantStatus, error)
	// ApproveTask lets a session make the calls of a task, and returns the task's grants. The grant of kind task
	// has the text, and its id ends all of them.
	ApproveTask(ctx context.Context, a TaskApproval) ([]GrantStatus, error)
	// Revoke ends grants and returns them.
	Revoke(ctx context.Context, r Revocation) ([]GrantStatus, error)
	// RecordLease records that a person leased a secret, or ended the lease.
	RecordLease(ctx context.Context, l SecretLease) error
	// RecordUse records uses of leased secrets.
	RecordUse(ctx context.Context, u SecretUses) error
}

// A Ticketer runs command lines that a hook has issued a ticket for.
type Ticketer interface {
	// Use redeems a ticket, once: from then on its line may have run. The same step
	// starts its call or begins a trial of it. The error for an invalid ticket says why and
	// matches ErrState; if the trial has to wait for another one, it is ErrLimit.
	Use(ctx context.Context, u TicketUse) (Ticket, error)
	// End settles the effects of a used ticket; the first call wins. It decides a report
	// like a Trier's Report, and asks a person if the ticket was ended before. The gate that has the
	// layer keeps the allowed effects.
	End(ctx context.Context, e TicketEnd) (TicketEnded, error)
}

// A Watcher reads the timeline. Both methods return an event only once no event with a smaller
// Seq can still appear.
type Watcher interface {
	// Events returns stored events, the oldest first.
	Events(ctx context.Context, f Filter) ([]Event, error)
	// Watch yields events, first the stored ones and then new ones as they commit, until ctx
	// ends, it yields an error or it has yielded f.Limit events. It skips none.
	Watch(ctx context.Context, f Filter) iter.Seq2[Event, error]
}

// Errors that callers can distinguish. Edges map them to their codes.
var (
	// ErrNotFound: there is no such session, batch, call or question.
	ErrNotFound = errors.New("not found")
	// ErrInvalid: the request is malformed; the error names the field.
	ErrInvalid = errors.New("invalid")
	// ErrResolved: the question already has an answer. See [ResolvedError].
	ErrResolved = errors.New("already resolved")
	// ErrState: the current state does not permit the operation.
	ErrState = errors.New("refused by state")
	// ErrNeedsPerson: an agent asked for something that only a person may do.
	ErrNeedsPerson = errors.New("needs a person")
	// ErrChanged: an answer is about a card other than the waiting one.
	ErrChanged = errors.New("changed since it was shown")
	// ErrFenced: another runner has taken the session.
	ErrFenced = errors.New("another runner has taken over this session")
	// ErrOtherProject: the session belongs to another project.
	ErrOtherProject = errors.New("belongs to another project")
	// ErrLimit: a limit is reached.
	ErrLimit = errors.New("limit reached")
	// ErrNotRecorded: the store could not save it, so it did not happen.
	ErrNotRecorded = errors.New("not recorded")
)

// A ResolvedError says that an answer came late, and which answer won. It matches
// [ErrResolved].
type ResolvedError struct{ Standing Standing }

// Error names the answer that won.
func (r *ResolvedError) Error() string { return r.formatted().Error() }

// Phrase returns the same message as data.
func (r *ResolvedError) Phrase() Phrase { return PhraseOf(r.formatted()) }

func (r *ResolvedError) formatted() error { return Errorf("%w: %s", ErrResolved, r.Standing.Choice) }

// Is reports whether target is ErrResolved.
func (r *ResolvedError) Is(target error) bool { return target == ErrResolved }

// WholeInput returns the complete input of the call that a question is about; the card of a large one has only parts.
func WholeInput(ctx context.Context, g Gate, p *Pending) (json.RawMessage, error) {
	if p.InputSize == 0 {
		return p.Input, nil
	}
	b, err := g.Batch(ctx, p.Session, p.Batch)
	if err != nil {
		return nil, err
	}
	if c := b.Call(p.Call); c != nil {
		return c.Input, nil
	}
	return nil, Errorf("call %q: %w", p.Call, ErrNotFound)
}
