package setup

import (
	"path/filepath"
	"runtime"
	"time"
)

// noticeTimeout bounds the events that decide nothing: a user should not have to wait for them.
const noticeTimeout = 10 * time.Second

// Claude is the settings file of Claude Code.
//
// Claude Code itself drops a file with a comment or a trailing comma (seen with 2.1.329), so its
// hooks would never start: show the findings of [AuditClaude] for the result of an install.
var Claude = Settings{
	Host:   "claude",
	Place:  placeOf("claude"),
	format: claudeHooks,
}

var claudeHooks = hookList{
	key: "hooks", grouped: true, matcher: "*",
	handler: func(h Hook, e event) handler {
		out := handler{Type: "command", Command: h.Command, Args: h.Args, Timeout: seconds(h.timeoutOf(e))}
		if e.decides {
			out.Status = h.Status
		}
		if e.decides && h.OnFailureBlock {
			out.OnFailure = "block"
		}
		return out
	},
}

// managedFolders are the folders of an administrator's settings.
var managedFolders = map[string]string{
	"darwin": "/Library/Application Support/ClaudeCode", "windows": `C:\Program Files\ClaudeCode`,
}

// ManagedFiles returns the administrator's settings files of Claude Code, whether they exist or not.
func ManagedFiles() []string {
	dir, ok := managedFolders[runtime.GOOS]
	if !ok {
		dir = "/etc/claude-code"
	}
	more, err := filepath.Glob(filepath.Join(dir, "managed-settings.d", "*.json"))
	if err != nil {
		more = nil
	}
	return append([]string{filepath.Join(dir, "managed-settings.json")}, more...)
}
