// Package store keeps sessions, batches, calls, answers, grants and their events, in
// SQLite or PostgreSQL. It enforces constraints on rows; higher layers decide what may
// happen, and the store refuses illegal changes again.
//
//	err := s.Update(ctx, func(tx *store.Tx) error { ... }) // one transaction
//	err := s.View(ctx, func(tx *store.Tx) error { ... })   // one snapshot
//
// When Update returns nil, the change is on disk. After an error it did not happen,
// except for [ErrUncertain]: then the connection was lost at the very end, and the caller
// must read the state again.
//
// A Store is safe for concurrent use; a Tx belongs to the function that received it.
//
// # Checkpoints
//
// A checkpoint is a signed summary of the timeline, with which later tampering or loss can be
// detected.
//
//	c, _, err := store.TakeCheckpoint(tx, now)    // summarize the timeline
//	line, err := key.Sign(&c)                     // one line of text, to store elsewhere
//	signed, err := store.ParseCheckpoint(line)    // later: decode and verify
//	breaks, err := signed.Compare(tx)             // how the timeline has diverged
//
// The hashes in a store only prove that it is consistent: an attacker with write access
// can recompute all of them. A checkpoint that was copied to a place without such access
// shows that earlier events were changed. It does not cover events written later, or
// events that were never written.
//
// The signature identifies the installation that made a checkpoint. The key is stored
// with the user's other files: a program that runs as the user can read it and sign
// anything.
//
// # Pruning
//
// A [Pruner] removes whole sessions. It signs the removed events, in a timeline event
// with the header umpire-pruned-1, and [AcceptedPrunings] accepts only these when the store is
// verified. The store keeps the end of each stream, and the seq and hash of each removed
// event, so a checkpoint compares as if nothing had been removed. The signature only
// proves that the installation's key was used: a program that can read the key can remove
// a session this way, but cannot hide the removal.
//
// # Format of a checkpoint
//
// A signed checkpoint has four parts joined by dots, the last three in unpadded URL-safe
// base64:
//
//	umpire-timeline-1.CHECKPOINT.PUBLIC-KEY.SIGNATURE
//
// CHECKPOINT is the JSON of a [Checkpoint]. SIGNATURE is Ed25519 over the first two
// parts with the dot between them.
package store

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/umpirehq/umpire"
)

// ErrConflict is matched if a constraint or a compare-and-set refused a write.
var ErrConflict = errors.New("conflict")

// ErrUncertain is matched if the outcome of the commit is unknown.
var ErrUncertain = errors.New("commit outcome unknown")

// A Sealed text may hold secrets. Shown has them masked and is used everywhere; Exact is
// the encrypted original, or nil if masking changed nothing.
type Sealed struct {
	Shown string
	Exact []byte

	// Packed is a large input after Pack.
	Packed *packedInput
}

// A CallRow is a call with the fields that are not in events.
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
	AskWithdrawn = "withdrawn" // the answer is no longer needed
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

// An AnswerRow is the only answer to a question.
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
	Call    umpire.CallID    // if it is a once grant
	Request umpire.RequestID // the answer that created it
	Grant   umpire.Grant
	Created time.Time
	MaxUses int // 0 means no limit
	Uses    int
	Revoked time.Time // zero: in force
	By      string
	// TaskText is the text of the task that the grant belongs to. One grant of each task has it.
	TaskText string
}

// A GrantQuery selects grants in force: those of the session, and those of the project
// and git directory that belong to no session.
type GrantQuery struct {
	// Session selects the grants in force in a session: its own, those of its clone of the project, and global ones.
	Session umpire.SessionID
	// Call adds the once grants of one call.
	Call umpire.CallID
	Now  time.Time
	// Project selects all grants of a project instead, in force or not, for display.
	Project umpire.ProjectID
}

// An ExecutionRow records the start of a call. Attempts after the first need a repeatable
// effect.
type ExecutionRow struct {
	Session umpire.SessionID
	Call    umpire.CallID
	Attempt int
	Effect  umpire.Effect
	Epoch   int64
	Runner  string
	Group   int
	Before  json.RawMessage // evidence of the state before
	At      time.Time
}

// A ResultRow is the result of a call that the model sees; the first one wins.
type ResultRow struct {
	Session umpire.SessionID
	Call    umpire.CallID
	Status  umpire.ResultStatus
	Code    umpire.ReasonCode
	Output  Sealed
	At      time.Time
}

// A ResumeRow is the only claim on a batch's results.
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

// A PromptRow is a user's message that waits to be sent.
type PromptRow struct {
	N    int64
	Text Sealed
	At   time.Time
}

// A WorkspaceRow has the settings of one clone of one project.
type WorkspaceRow struct {
	Project  umpire.ProjectID
	GitDir   string // the root of a project without git
	AllowAll bool
	Mode     *umpire.Mode // the last selected mode, or nil
}

// A SessionQuery selects sessions, latest activity first.
type SessionQuery struct {
	Project umpire.ProjectID // "" means every project
	// Held selects only live sessions held by a runner whose calls umpire runs.
	Held bool
	// Runners selects only live sessions of these runners; empty means all.
	Runners []string
	// Parent selects only the sessions that this one started; "" means all.
	Parent umpire.SessionID
	// Root selects only the live root sessions of this project root whose calls umpire
	// runs, Agent only those of one agent; "" means all.
	Root, Agent string
	Limit       int
	// After selects only the sessions after this one, which was active at AfterActiveAt.
	After         umpire.SessionID
	AfterActiveAt time.Time
}

// An AskQuery selects questions, oldest first.
type AskQuery struct {
	Project umpire.ProjectID
	Session umpire.SessionID
	// ExpiredBy selects only pending questions that have expired; zero means all.
	ExpiredBy time.Time
	// All adds answered and withdrawn questions.
	All bool
	// After selects only the questions after this one, even if it is answered. If it was deleted, nothing matches.
	After umpire.RequestID
	Limit int
}
