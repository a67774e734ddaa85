package umpire

import (
	"time"
)

// A Scope is the reach of an approval. The zero value is the narrowest.
type Scope uint8

// The scopes, narrowest first.
const (
	ScopeOnce    Scope = iota // this one call
	ScopeSession              // this session
	ScopeProject              // every session of this project
	ScopeGlobal               // every project of this user
)

var scopeNames = [...]string{ScopeOnce: "once", ScopeSession: "session", ScopeProject: "project", ScopeGlobal: "global"}

// String returns the scope's name; a value out of range is "once".
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return scopeNames[ScopeOnce]
}

// MarshalText writes the scope's name.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a scope's name and refuses any other word.
func (s *Scope) UnmarshalText(text []byte) error {
	for i, name := range scopeNames {
		if string(text) == name {
			*s = Scope(i)
			return nil
		}
	}
	return Errorf("scope %q: want once, session, project or global", text)
}

// A Grant is a remembered approval. It covers a whole tool, the exact command or path that was
// approved, or its match and cap, never more. The zero value covers nothing.
type Grant struct {
	ID    string // "" if its uses are not counted
	Scope Scope
	// Remembered marks an answer that auto mode repeats.
	Remembered bool
	// Standing marks a rule that the session was opened with. It allows the same calls as an
	// allow rule, and ask rules keep asking.
	Standing bool
	// Network marks an answer about the network alone, which allows no call by itself. With a
	// host in Match, it opens that host if autonomy asks once about each listed host.
	Network bool
	// Shown is the digest of the call as shown, for a Network answer about one command. The
	// next trial of a call with the same Exact form and digest may connect to Reach.
	Shown string
	Reach []string
	// Task is the id of the task that a person approved with this grant, or "". A call runs by the grants
	// of one task at most, and they never answer an ask rule or a question about a guarded place.
	Task string
	Tool string
	// Exact is the canonical form of the approved call; empty covers every use of Tool. If a
	// pattern was approved, Match replaces it.
	Exact     string
	Match     Match
	Cap                 // goes with Match
	ExpiresAt time.Time // the zero time never expires
}

// A GrantStatus is a grant in force, as shown to people.
type GrantStatus struct {
	ID      string    `json:"grant_id"`
	Kind    GrantKind `json:"kind"`
	Session SessionID `json:"session_id,omitempty"`
	Call    CallID    `json:"call_id,omitempty"`
	Request RequestID `json:"request_id,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	// Exact is the single call that it covers, with secrets masked. Without it Match says what
	// is covered, and without either the grant covers the whole tool.
	Exact string `json:"exact,omitempty"`
	Match Match  `json:"match,omitzero"`
	Cap
	// Task is the id of the task that it belongs to, or "". TaskText is that task's text, in the grant of kind task.
	Task      string    `json:"task_id,omitempty"`
	TaskText  string    `json:"task_text,omitempty"`
	Source    string    `json:"source,omitempty"` // the person or rule that gave it
	CreatedAt time.Time `json:"created_at,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Uses      int       `json:"uses"`               // if they are counted
	MaxUses   int       `json:"max_uses,omitempty"` // 0 means no limit
}

// A GrantKind is a kind of grant.
type GrantKind string

// The kinds of grants. Grants of one scope have its name.
const (
	GrantOnce       GrantKind = "once"
	GrantSession    GrantKind = "session"
	GrantProject    GrantKind = "project"
	GrantGlobal     GrantKind = "global"
	GrantRemembered GrantKind = "remembered" // auto mode repeats the answer
	GrantAllowAll   GrantKind = "allow_all"  // everything that no rule forbids, in this workspace
	GrantNetwork    GrantKind = "network"    // the network alone: see [Grant]
	GrantTask       GrantKind = "task"       // the text of a task; each of its lines is another grant
	GrantCode       GrantKind = "code"       // the code of this clone runs unasked
)

// A Revocation ends one or all grants of the project of a folder.
type Revocation struct {
	Dir string `json:"working_dir"`
	ID  string `json:"grant_id,omitempty"`
	All bool   `json:"all,omitempty"`
	// By is the person who revokes; the gate's edge fills it in.
	By Actor `json:"-"`
}

// A TaskApproval lets a session make the calls of a task without further questions. Package task of the gate
// describes the text.
type TaskApproval struct {
	Session SessionID `json:"session_id"`
	Text    string    `json:"text"`
	// Digest is the SHA-256, in hex, of the text in the form that was shown to the person.
	Digest string `json:"digest"`
	// By is the person who approves; the gate's edge fills it in.
	By Actor `json:"-"`
}

// A SecretLease says that a person leased a secret to commands, which use it without seeing it, or ended the lease. It
// never has the secret.
type SecretLease struct {
	Dir     string   `json:"working_dir"`
	Name    string   `json:"name"` // of the variable
	Host    string   `json:"host"`
	Methods []string `json:"methods"`
	Paths   []string `json:"paths"`
	// Session limits the grant to one session; "" means every session of the project.
	Session   SessionID `json:"session_id,omitempty"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Revoked   bool      `json:"revoked,omitempty"`
	// By is the person; the gate's edge fills it in.
	By Actor `json:"-"`
}

// SecretUses are the uses of leased secrets by a command whose effects the timeline does not have otherwise.
type SecretUses struct {
	Dir     string    `json:"working_dir"`
	Session SessionID `json:"session_id,omitempty"` // "" outside of sessions
	Batch   BatchID   `json:"batch_id,omitempty"`
	Call    CallID    `json:"call_id,omitempty"`
	Command string    `json:"command"`
	// Reached are the destinations that got secrets. Refused are uses that no lease permits, as NAME@host:port.
	Reached []TrialReach `json:"reached,omitempty"`
	Refused []string     `json:"refused,omitempty"`
	// By is the person or agent that ran the command; the gate's edge fills it in.
	By Actor `json:"-"`
}

// AllowAllID is the id of a workspace's allowAll among its grants.
const AllowAllID = "allow-all"

// CodeID is the id of the trust in a clone's code among the grants.
const CodeID = "code"

// A Width says how much an approval beyond once covers. The zero value is the default of the
// scope.
type Width string

// The widths, narrowest first.
const (
	WidthDefault    Width = ""
	WidthExact      Width = "exact"      // exactly the call as shown
	WidthSubcommand Width = "subcommand" // the same subcommand with options and targets of no higher consequence
	WidthFolder     Width = "folder"     // everything of the same kind below the folder
	WidthParent     Width = "parent"     // everything of the same kind below the folder that holds the workspace
	WidthTool       Width = "tool"       // every use of the tool
)

// UnmarshalText reads a width and refuses any other word.
func (w *Width) UnmarshalText(text []byte) error {
	switch word := Width(text); word {
	case WidthDefault, WidthExact, WidthSubcommand, WidthFolder, WidthParent, WidthTool:
		*w = word
		return nil
	}
	return Errorf("width %q: want exact, subcommand, folder, parent or tool", text)
}
