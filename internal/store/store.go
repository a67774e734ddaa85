// Package store keeps sessions, batches, calls, answers, grants and their events,
// in SQLite or PostgreSQL. It knows rows and constraints; what may happen when is
// decided above it, and refused here once more.
//
//	err := s.Update(ctx, func(tx *store.Tx) error { ... }) // one transaction
//	err := s.View(ctx, func(tx *store.Tx) error { ... })   // one snapshot
//
// When Update returns nil, the change is on disk. After an error it did not happen, but
// for [ErrUncertain]: then the connection was lost at the very end, and the caller reads
// the state again.
//
// A Store is safe for concurrent use; a Tx belongs to the function that got it.
package store

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
)

// ErrConflict is matched when a constraint or a compare-and-set refused a write.
var ErrConflict = errors.New("conflict")

// ErrUncertain is matched when it is not known whether the commit happened.
var ErrUncertain = errors.New("commit outcome not known")

// A Sealed text is one that may hold secrets: Shown has them masked and is what
// everybody reads; Exact is the encrypted original, nil when masking changed nothing.
type Sealed struct {
	Shown string
	Exact []byte

	// Packed is what Pack makes of a large input.
	Packed *packedInput
}

// A CallRow is a call with what no event bears.
type CallRow struct {
	Session  umpire.SessionID
	Batch    umpire.BatchID
	Ordinal  int // from 0
	ID       umpire.CallID
	Tool     string
	Input    Sealed // canonical JSON
	ArgsHash string
	Dir      string
	Agent    string
	Extra    json.RawMessage // an object, or nil
	Effect   umpire.Effect
	Turn     int64

	Background bool
}

// The states of an ask.
const (
	AskPending   = "pending"
	AskAnswered  = "answered"
	AskWithdrawn = "withdrawn" // nobody needs the answer any more
)

// An AskRow is one question.
type AskRow struct {
	Request     umpire.RequestID
	Session     umpire.SessionID
	Batch       umpire.BatchID
	Call        umpire.CallID
	Round       int
	ArgsHash    string
	ShownDigest string
	Shown       json.RawMessage // an umpire.Pending, with secrets masked
	State       string
	AskedAt     time.Time
	ExpiresAt   time.Time // zero: never
}

// An AnswerRow is one answer; there is one to a question, ever.
type AnswerRow struct {
	umpire.Standing
	ArgsHash       string // must be the ask's
	Channel        string
	PolicyRevision string
}

// A GrantRow is a remembered approval.
type GrantRow struct {
	ID      string
	Scope   umpire.Scope
	Project umpire.ProjectID
	GitDir  string
	Session umpire.SessionID // "" for grants that outlive sessions
	Call    umpire.CallID    // of a once grant
	Request umpire.RequestID // the answer it comes from
	Grant   umpire.Grant
	Created time.Time
	MaxUses int // 0 is no limit
	Uses    int
	Revoked time.Time // zero: in force
	By      string
}

// A GrantQuery finds grants in force: those of the session, and those of the
// project and git directory that belong to no session.
type GrantQuery struct {
	// Session finds the grants in force in a session: its own, those of its clone of the project, and global ones.
	Session umpire.SessionID
	// Call adds the once grants of one call.
	Call umpire.CallID
	Now  time.Time
	// Project finds every grant of a project instead, in force or not, for people to look at.
	Project umpire.ProjectID
}

// An ExecutionRow says that a call was started. Attempts after the first need a
// repeatable effect.
type ExecutionRow struct {
	Session umpire.SessionID
	Call    umpire.CallID
	Attempt int
	Effect  umpire.Effect
	Epoch   int64
	Runner  string
	Group   int
	Before  json.RawMessage // evidence of how things stood before
	At      time.Time
}

// A ResultRow is what the model is told about a call; the first one stands.
type ResultRow struct {
	Session umpire.SessionID
	Call    umpire.CallID
	Status  umpire.ResultStatus
	Code    umpire.ReasonCode
	Output  Sealed
	At      time.Time
}

// A ResumeRow is the one claim of a batch's results.
type ResumeRow struct {
	Session     umpire.SessionID
	Batch       umpire.BatchID
	Epoch       int64
	ClaimedAt   time.Time
	DeliveredAt time.Time // zero: not yet
}

// A MessageRow is one message of a conversation.
type MessageRow struct {
	N       int64
	Role    string
	Batch   umpire.BatchID
	Content Sealed
	At      time.Time
}

// A PromptRow is a message of the user that waits to be sent.
type PromptRow struct {
	N    int64
	Text Sealed
	At   time.Time
}

// A WorkspaceRow is what is remembered of one clone of one project.
type WorkspaceRow struct {
	Project  umpire.ProjectID
	GitDir   string // the root of a project without git
	AllowAll bool
	Mode     *umpire.Mode // the mode last switched to, nil when none
}

// A SessionQuery finds sessions, the latest activity first.
type SessionQuery struct {
	Project umpire.ProjectID // "" is every project
	// IdleBefore finds only sessions without activity since; zero is all.
	IdleBefore time.Time
	// Held finds only live sessions that a runner holds and umpire runs the calls of.
	Held bool
	// Runners finds only live sessions that one of them runs; none is all.
	Runners []string
	// Parent finds only those that this session started; "" is all.
	Parent umpire.SessionID
	// Root finds only the live root sessions of this project root that umpire runs the
	// calls of, Agent only those of one agent; "" is all.
	Root, Agent string
	Limit       int
	// After finds only the sessions after this one, which was active at AfterActiveAt.
	After         umpire.SessionID
	AfterActiveAt time.Time
}

// An AskQuery finds questions, the oldest first.
type AskQuery struct {
	Project umpire.ProjectID
	Session umpire.SessionID
	// ExpiredBy finds only pending questions whose time is over; zero is all.
	ExpiredBy time.Time
	// All adds those that are answered or withdrawn.
	All bool
	// After finds only the questions after this one, answered or not; none if it was deleted.
	After umpire.RequestID
	Limit int
}
