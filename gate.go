package umpire

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"
)

// A Gate is the one way through: calls go in, decisions come out, and what
// happened can be watched. A gate is safe for concurrent use. An error never
// stands beside a permission.
//
// It consists of small parts, so that a function can ask for what it needs. The
// gate itself and the client of one that runs elsewhere are both a Gate.
type Gate interface {
	Decider
	Submitter
	Runner
	Trier
	Answerer
	SessionOpener
	SessionReader
	SessionChanger
	RuleKeeper
	GrantKeeper
	Ticketer
	Watcher
}

// A Decider decides calls.
type Decider interface {
	// Check decides a call and stores nothing. The call's session, if there is
	// one, gives the mode and the grants.
	Check(ctx context.Context, call Call) (Decision, error)
}

// A Submitter takes the calls of a message and tells how they stand.
type Submitter interface {
	// Submit decides and stores all calls of one message. When one asks, all wait.
	// Submitting the same batch again returns it as it stands.
	Submit(ctx context.Context, s Submission) (Batch, error)
	// Batch returns a batch as it stands, with secrets masked.
	Batch(ctx context.Context, session SessionID, batch BatchID) (Batch, error)
	// Await returns a batch once it no longer waits for a person, or as it stands
	// when the time is over or the gate goes away: look at its State. A gate may
	// return earlier than asked.
	Await(ctx context.Context, session SessionID, batch BatchID, wait time.Duration) (Batch, error)
}

// A Runner is the gate as the process that runs a session sees it. A runner with
// an old epoch gets ErrFenced.
type Runner interface {
	// Compose begins the next request to the model and returns what it is built
	// from. This is the one reading of a session in which secrets are not masked.
	Compose(ctx context.Context, session SessionID, epoch int64) (Conversation, error)
	// Reply stores a model's message that calls no tool.
	Reply(ctx context.Context, r Reply) (Session, error)
	// Start claims the next call of a batch for running. The call runs only if Go
	// is set in the answer.
	Start(ctx context.Context, s Start) (Started, error)
	// Finish stores the result of a call that was started.
	Finish(ctx context.Context, r Result) (Batch, error)
	// Renew extends the runner's lease and returns when it ends.
	Renew(ctx context.Context, session SessionID, epoch int64) (time.Time, error)
}

// A Trier lets a runner try a call before a person is asked about it, or when they ask for
// it. A runner with an old epoch gets ErrFenced.
type Trier interface {
	// BeginTrial begins a trial of the next call of a batch. One runs in a project at a
	// time: another one is ErrLimit.
	BeginTrial(ctx context.Context, r TrialRequest) (BegunTrial, error)
	// ReportTrial decides on what a trial did. The batch says what comes next: the call is
	// approved and its start keeps the effects, it was denied, or a person is asked with the
	// effects on the card. A trial that the call does not show any more is discarded.
	ReportTrial(ctx context.Context, r TrialReport) (Batch, error)
	// SettleTrial says what became of a trial's effects. They are kept only after the call
	// was started. A settlement with a Record belongs to no batch: it only goes on
	// the timeline.
	SettleTrial(ctx context.Context, s TrialSettlement) (Batch, error)
}

// An Answerer puts questions to a person and takes the answers.
type Answerer interface {
	// Pending lists the questions that wait for a person, the oldest first.
	Pending(ctx context.Context, q PendingQuery) ([]Pending, error)
	// Resolve takes a person's answer. The error of a late one is a *ResolvedError.
	Resolve(ctx context.Context, a Answer) (Batch, error)
}

// A SessionOpener gives a runner its session.
type SessionOpener interface {
	// Open begins a session.
	Open(ctx context.Context, o Opening) (Session, error)
	// Continue takes a session for a runner and fences off the one before.
	Continue(ctx context.Context, r Resumption) (Session, error)
	// Fork begins a session with the conversation of another one of the same
	// project, without its grants.
	Fork(ctx context.Context, session SessionID, r Resumption) (Session, error)
}

// A SessionReader finds sessions.
type SessionReader interface {
	// Session returns a session as it stands.
	Session(ctx context.Context, session SessionID) (Session, error)
	// Latest returns the session that Continue takes when none is named.
	Latest(ctx context.Context, q LatestQuery) (Session, error)
	// Sessions lists sessions, the latest activity first.
	Sessions(ctx context.Context, q SessionQuery) ([]Session, error)
	// Conversation returns what was said in a session, with secrets masked.
	Conversation(ctx context.Context, q ConversationQuery) (Conversation, error)
}

// A SessionChanger does what a person does in a session beside answering.
type SessionChanger interface {
	// Prompt adds a message of the user. It is queued while calls wait.
	Prompt(ctx context.Context, p Prompt) (Prompted, error)
	// SetMode switches a session's mode, or its workspace's allowAll.
	SetMode(ctx context.Context, m ModeChange) (Session, error)
	// End ends a session and denies what is pending in it.
	End(ctx context.Context, session SessionID, reason string) error
	// Delete removes a session. Its events stay.
	Delete(ctx context.Context, session SessionID) error
}

// A RuleKeeper keeps the rules that hold in the project of a folder.
type RuleKeeper interface {
	// Rules lists the rules, with the files and lines where they stand.
	Rules(ctx context.Context, dir string) ([]Rule, error)
	// AddRule writes a rule into the file of a scope and returns its id.
	AddRule(ctx context.Context, dir string, scope Scope, r Rule, by Actor) (RuleID, error)
	// RemoveRule takes a rule out of the file of a scope.
	RemoveRule(ctx context.Context, dir string, scope Scope, rule RuleID, by Actor) error
	// RuleStatus says which rule files hold, and what is wrong with them.
	RuleStatus(ctx context.Context, dir string) (RuleStatus, error)
	// Trust trusts the rule files or the code of a project, or ends that trust. It
	// returns the files concerned.
	Trust(ctx context.Context, t TrustChange) ([]string, error)
}

// A GrantKeeper keeps what is approved beside the rules.
type GrantKeeper interface {
	// Grants lists what is granted in the project of a folder, the oldest first.
	Grants(ctx context.Context, dir string) ([]GrantStatus, error)
	// Revoke ends grants, and returns them.
	Revoke(ctx context.Context, r Revocation) ([]GrantStatus, error)
}

// A Ticketer lets command lines run that a hook has put a ticket before.
type Ticketer interface {
	// UseTicket takes a ticket, once: from then on its line may have run. With the same step its
	// call starts, or a trial of it begins. The error of one that is not valid says why, and
	// matches ErrState; that of a trial that has to wait for another one is ErrLimit.
	UseTicket(ctx context.Context, u TicketUse) (Ticket, error)
	// EndTicket settles what becomes of the effects of a ticket that was used: the first to end
	// it decides. A report is decided on as by ReportTrial, and a person is asked where the
	// ticket was ended before; what is allowed is kept by a gate that has the layer.
	EndTicket(ctx context.Context, e TicketEnd) (TicketEnded, error)
}

// A Watcher reads the timeline. Both methods return an event only once none with a
// smaller Seq can still appear.
type Watcher interface {
	// Events returns stored events, the oldest first.
	Events(ctx context.Context, f Filter) ([]Event, error)
	// Watch yields events, first those that are stored and then new ones as they
	// commit, until ctx ends, an error is yielded or f.Limit of them have been. It
	// skips none.
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
func (r *ResolvedError) Error() string { return r.formatted().Error() }

// Phrase says the same as data.
func (r *ResolvedError) Phrase() Phrase { return PhraseOf(r.formatted()) }

func (r *ResolvedError) formatted() error { return Errorf("%w: %s", ErrResolved, r.Standing.Choice) }

// Is matches ErrResolved.
func (r *ResolvedError) Is(target error) bool { return target == ErrResolved }

// WholeInput returns the input of the call that a question is about, of which the card of a large one has only parts.
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
