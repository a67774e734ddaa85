package relay

import "time"

// A Caller describes the host to the hook's process that it starts. Package host has the rest.
type Caller struct {
	// Name is the word in umpire hook NAME and umpire setup NAME.
	Name string
	// Project is the environment variable with the folder that the host was started in, or "".
	Project string
	// DefaultTimeout is the host's time limit for a hook that was registered without one.
	DefaultTimeout time.Duration
}

// The hosts whose questions are relayed to a running gate.
var (
	Claude      = Caller{"claude", "CLAUDE_PROJECT_DIR", 600 * time.Second}
	Codex       = Caller{"codex", "", 600 * time.Second}
	Gemini      = Caller{"gemini", "GEMINI_PROJECT_DIR", 60 * time.Second}
	Qwen        = Caller{"qwen", "QWEN_PROJECT_DIR", 60 * time.Second}
	Copilot     = Caller{"copilot", "COPILOT_PROJECT_DIR", 30 * time.Second}
	VSCode      = Caller{"vscode", "", 30 * time.Second}
	OpenCode    = Caller{"opencode", "", 600 * time.Second}
	Cursor      = Caller{"cursor", "", 60 * time.Second}
	Crush       = Caller{"crush", "CRUSH_PROJECT_DIR", 30 * time.Second}
	Cline       = Caller{"cline", "", 120 * time.Second}
	Kiro        = Caller{"kiro", "", 30 * time.Second}
	Amp         = Caller{"amp", "", 600 * time.Second}
	Droid       = Caller{"droid", "FACTORY_PROJECT_DIR", 60 * time.Second}
	Windsurf    = Caller{"windsurf", "", 60 * time.Second}
	Kimi        = Caller{"kimi", "", 30 * time.Second}
	Antigravity = Caller{"antigravity", "", 60 * time.Second}
	Grok        = Caller{"grok", "", 60 * time.Second}
)

var callers = [...]*Caller{
	&Claude, &Codex, &Gemini, &Qwen, &Copilot, &VSCode, &OpenCode, &Cursor, &Crush,
	&Cline, &Kiro, &Amp, &Droid, &Windsurf, &Kimi, &Antigravity, &Grok,
}

// FindCaller returns the caller with a name, or nil.
func FindCaller(name string) *Caller {
	for _, c := range callers {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// NewQuestion makes a question of a payload, the options, the working directory and the environment
// of the hook. The caller fills in Runner, Nonce and Deadline.
func (c *Caller) NewQuestion(payload []byte, o Options, dir string, getenv func(string) string) *Question {
	q := &Question{
		Agent: c.Name, Payload: payload, Dir: dir, HostDir: o.HostDir, Shell: getenv("SHELL"),
		Headless: getenv("UMPIRE_HEADLESS") == "1", Attended: isAttended(getenv),
	}
	if c.Project != "" {
		q.Project = getenv(c.Project)
	}
	return q
}

// isAttended reports whether Claude Code has its own terminal. It says so since 2.1.3xx, and names
// the program that it is part of: editors and programs show no dialog that a hook could rely on.
func isAttended(getenv func(string) string) bool {
	entry := getenv("CLAUDE_CODE_ENTRYPOINT")
	return getenv("CLAUDE_CODE_SESSION_ATTENDED") != "0" && (entry == "" || entry == "cli")
}
