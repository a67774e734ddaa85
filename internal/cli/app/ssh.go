package app

import (
	"path/filepath"

	"github.com/umpirehq/umpire/internal/hold/egress"
)

// SSHOf returns how the person signs in at servers: the agent of the environment, and the usual known_hosts files.
func SSHOf(a *App) egress.SSH {
	own := filepath.Join(a.UserHome(), ".ssh")
	return egress.SSH{Agent: a.Getenv("SSH_AUTH_SOCK"), KnownHosts: []string{
		filepath.Join(own, "known_hosts"), filepath.Join(own, "known_hosts2"),
		"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2",
	}}
}
