package umpire

import "encoding/json"

// ExtraHeldBy is the field of [Call.Extra] in which a program that holds a call, but has no
// session with the gate, names its process: "host:pid:starttime". When that process ends, the
// gate withdraws the question.
const ExtraHeldBy = "held_by"

// ExtraShell is the field of [Call.Extra] with the name of the shell that will run the command line of a call.
// Without it, constructs that shells read differently are in doubt. Only the program that runs the line may set it.
const ExtraShell = "umpire_shell"

// ExtraDir is the field of [Pending.Extra] with the folder in which a call runs, if it is not its session's folder.
const ExtraDir = "cwd"

// ConnectTool connects a command in a sandbox to the host of a URL. Only rules for this tool allow it.
const ConnectTool = "Connect"

// Identifiers with different meanings have different types.
type (
	// A CallID names one call. It is unique within its session.
	CallID string
	// A SessionID names one conversation with one agent.
	SessionID string
	// A BatchID names all calls of one assistant message; it is that message's id.
	BatchID string
	// A ProjectID names a project: the root commit of a git repository, or the
	// SHA-256 of the canonical path of a plain folder, in hex.
	ProjectID string
	// A RuleID names a rule within its file.
	RuleID string
)

// shortLen is the length of a shortened project id: long enough to tell projects apart, short
// enough to read.
const shortLen = 12

// Short returns the first twelve characters of the id, for display.
func (id ProjectID) Short() string { return string(id[:min(len(id), shortLen)]) }

// A Call is one request by a model to run one tool. Tool is umpire's own name for it: adapters
// map the names of other agents.
type Call struct {
	ID    CallID          `json:"id,omitempty"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	// Dir is the absolute working directory that relative paths start from.
	Dir        string    `json:"cwd,omitempty"`
	Agent      string    `json:"agent,omitempty"`
	Session    SessionID `json:"session_id,omitempty"`
	Batch      BatchID   `json:"batch_id,omitempty"`
	Background bool      `json:"background,omitempty"`
	// Extra are further fields from the tool's own check, for the person who decides. Two
	// affect the decision: ExtraShell, and "annotations", whose warnings raise the risk of an
	// MCP server's tool.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}
