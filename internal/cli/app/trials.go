package app

import (
	"io/fs"
	"strings"
)

// namespaceSettings are the settings of Linux that keep an ordinary user from making the namespaces that trials
// need, with the value that does and the command that changes it.
var namespaceSettings = []struct{ file, refuses, command string }{
	{
		"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
		"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
	},
	{"proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"},
	{"proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=28633"},
}

// AllowTrials returns the command that lets this machine try commands first, or "" if no such command is known.
// Root is the root of its files.
func AllowTrials(root fs.FS) string {
	for _, s := range namespaceSettings {
		if text, err := fs.ReadFile(root, s.file); err == nil && strings.TrimSpace(string(text)) == s.refuses {
			return s.command
		}
	}
	for _, mark := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := fs.Stat(root, mark); err == nil {
			return "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined " +
				"--security-opt systempaths=unconfined ..."
		}
	}
	return ""
}
