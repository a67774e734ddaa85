package setup

import (
	"path/filepath"
	"runtime"
	"time"
)

// noticeTimeout bounds the events that decide nothing: a user should not have to wait for them.
const noticeTimeout = 10 * time.Second

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
