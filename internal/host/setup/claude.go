package setup

import (
	"path/filepath"
	"runtime"
	"time"
)

// noticeTimeout bounds the events that decide nothing: a user should not wait
// for them.
const noticeTimeout = 10 * time.Second

// Claude is the settings file of Claude Code.
//
// Claude Code itself drops a file that holds a comment or a trailing comma (seen with
// 2.1.329), so there the hooks would never start: show the findings of [AuditClaude] for the
// result of an install.
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

// managedFolders is where an administrator's settings stand.
var managedFolders = map[string]string{
	"darwin": "/Library/Application Support/ClaudeCode", "windows": `C:\Program Files\ClaudeCode`,
}

// ManagedFiles are the administrator's settings files of Claude Code, whether they exist or not.
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
