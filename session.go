package umpire

import (
	"encoding/json"
	"time"
)

// A SessionState is the activity of a session.
type SessionState string

// The session states.
const (
	SessionIdle       SessionState = "idle"
	SessionGenerating SessionState = "generating"
	SessionWaiting    SessionState = "waiting_permission"
	SessionOver       SessionState = "ended"
)

// A Session is one conversation with one agent. It belongs to one project, whose identity is
// pinned when the session is opened.
type Session struct {
	ID         SessionID `json:"session_id"`
	Project    ProjectID `json:"project_id"`
	Root       string    `json:"project_root"`
	Dir        string    `json:"working_dir"`
	Worktree   string    `json:"worktree,omitempty"`
	GitDir     string    `json:"git_dir,omitempty"` // distinguishes two clones of one repository
	IsRoot     bool      `json:"is_root_session"`
	Parent     SessionID `json:"parent,omitempty"`
	ForkedFrom SessionID `json:"forked_from,omitempty"`
	Agent      string    `json:"agent,omitempty"`
	Profile    string    `json:"profile,omitempty"`
	Mode       Mode      `json:"mode"`
	// AllowBypass says that the session may enter bypass mode.
	AllowBypass bool         `json:"allow_bypass,omitempty"`
	Headless    bool         `json:"headless,omitempty"`
	External    bool         `json:"external,omitempty"` // the agent runs its calls itself
	AddDirs     []string     `json:"add_dirs,omitempty"`
	State       SessionState `json:"state"`
	// Permission is the state for a status line; Pending is the number of waiting questions.
	Permission PermissionState `json:"permission_state"`
	Pending    int             `json:"pending"`
	Blocked    *Blocked        `json:"blocked_reason,omitempty"`
	// Epoch grows whenever a runner takes the session; the gate fences off older runners.
	Epoch      int64     `json:"epoch"`
	Runner     string    `json:"runner,omitempty"`
	LeaseUntil time.Time `json:"lease_until,omitzero"`
	// Runners are further processes that run the session. They are not sent to clients: the gate guards them.
	Runners []string `json:"-"`
	// Turn counts the messages of the user.
	Turn int64 `json:"turn"`
	// Denials count refusals in auto mode: in a row, and in total.
	DenialsInRow int       `json:"denials_in_row,omitempty"`
	Denials      int       `json:"denials,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
	ActiveAt     time.Time `json:"active_at"`
	EndedAt      time.Time `json:"ended_at,omitzero"`
}

// AllRunners returns all processes that run the session.
func (s *Session) AllRunners() []string {
	all := append([]string{s.Runner}, s.Runners...)
	if s.Runner == "" {
		all = all[1:]
	}
	return all
}

// An Opening requests a new session. Dir determines the project.
type Opening struct {
	ID       SessionID `json:"session_id,omitempty"` // "" generates one
	Dir      string    `json:"working_dir"`
	Agent    string    `json:"agent,omitempty"`
	Profile  string    `json:"profile,omitempty"`
	Parent   SessionID `json:"parent,omitempty"` // a sub-agent's session names its parent
	Mode     *Mode     `json:"mode,omitempty"`   // nil means the configured one
	AddDirs  []string  `json:"add_dirs,omitempty"`
	Headless bool      `json:"headless,omitempty"`
	// AllowBypass permits the bypass mode in this session.
	AllowBypass bool   `json:"allow_bypass,omitempty"`
	Runner      string `json:"runner,omitempty"`
	// External says that the agent runs its calls itself, and that Open should return an
	// existing session: a host's hook does not know whether it is the first.
	External bool `json:"external,omitempty"`
	// Limited says that the request comes from an agent, which gets only its project and the
	// configured mode. It is not sent: the server sets it.
	Limited bool `json:"-"`
	// AllowedTools are allow rules in short form that apply only in this session.
	AllowedTools []string `json:"allowed_tools,omitempty"`
}

// A Resumption requests to continue a session.
type Resumption struct {
	// ID is the session to continue; "" selects the one that a [LatestQuery] with this Dir and Agent finds.
	ID    SessionID `json:"session_id,omitempty"`
	Dir   string    `json:"working_dir"`
	Agent string    `json:"agent,omitempty"`
	// AllowCrossProject permits continuing a session of another project, which is recorded.
	AllowCrossProject bool   `json:"allow_cross_project,omitempty"`
	Runner            string `json:"runner,omitempty"`
	Mode              *Mode  `json:"mode,omitempty"`
	AllowBypass       bool   `json:"allow_bypass,omitempty"`
	Headless          bool   `json:"headless,omitempty"`
	// Limited is the same as in [Opening].
	Limited bool `json:"-"`
}

// A Message is one entry of a session's conversation, in the agent's own form. Results of calls
// are not messages: they belong to their batch.
type Message struct {
	N       int64           `json:"n"` // from 1, without gaps
	Role    string          `json:"role"`
	Batch   BatchID         `json:"batch_id,omitempty"`
	Content json.RawMessage `json:"content"`
	At      time.Time       `json:"at"`
}

// A SessionQuery finds sessions, the latest activity first. The zero value finds
// all of them.
type SessionQuery struct {
	Project ProjectID `json:"project_id,omitempty"`
	// Runners finds only live sessions that one of these processes runs. It is for the gate's
	// own process, and is not sent to another.
	Runners []string `json:"-"`
	Limit   int      `json:"limit,omitempty"`
	// After finds only the sessions after this one, which was active at AfterActiveAt when it
	// was listed.
	After         SessionID `json:"after,omitempty"`
	AfterActiveAt time.Time `json:"after_active_at,omitzero"`
}

// A LatestQuery finds the session to continue if the caller names none: the latest live root
// session of the worktree that contains Dir. It never finds a session of an agent that runs its
// calls itself.
type LatestQuery struct {
	Dir   string `json:"working_dir"`
	Agent string `json:"agent,omitempty"` // "" means any agent
}

// A ConversationQuery requests the messages of a session: the last ones up to the limit, or all
// of them without a limit.
type ConversationQuery struct {
	Session SessionID `json:"session_id"`
	Limit   int       `json:"limit,omitempty"`
}

// A ModeChange switches a session's mode, or its workspace's allowAll, or both; or it leaves
// plan mode.
type ModeChange struct {
	Session  SessionID `json:"session_id"`
	Mode     *Mode     `json:"mode,omitempty"`
	AllowAll *bool     `json:"allow_all,omitempty"`
	// LeavePlan returns to the mode before plan mode, and permits changing the planned files
	// without further questions if they are still unchanged. It cannot be combined.
	LeavePlan bool `json:"leave_plan,omitempty"`
	// By is the person who changes the mode; the gate's edge fills it in.
	By Actor `json:"-"`
}

// A Conversation is the content of the next request to a model: the messages in order, and for
// each message with calls their results.
type Conversation struct {
	Session  Session          `json:"session"`
	Messages []Message        `json:"messages"`
	Batches  map[BatchID]Done `json:"batches,omitempty"`
}

// A Done lists the results of a batch, in the order of its calls.
type Done struct {
	Results []Result `json:"results"`
	// Cancelled says that a person stopped the turn there.
	Cancelled bool `json:"cancelled,omitempty"`
}

// A Reply is a model's message that calls no tool. A message with calls is a Submission.
type Reply struct {
	Session SessionID       `json:"session_id"`
	Message json.RawMessage `json:"message"`
	Epoch   int64           `json:"epoch,omitempty"`
}

// A Prompt is a message of the user. While calls wait it is queued.
type Prompt struct {
	Session SessionID `json:"session_id"`
	Text    string    `json:"text"`
	Epoch   int64     `json:"epoch,omitempty"` // 0 comes from a client that does not run the session
}

// A Prompted says whether a prompt was queued.
type Prompted struct {
	Queued  bool  `json:"queued"`
	Waiting int   `json:"waiting,omitempty"` // questions to answer first
	Turn    int64 `json:"turn,omitempty"`
}
