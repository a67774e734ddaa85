package host

import "path/filepath"

// The names below umpire's own folder by which a gate is found.
const (
	stateFolder = "state"
	socketName  = "umpire.sock"
	tokenName   = "agent.token"
)

// UserHome is the person's home directory as the environment has it, "" when it is
// not known.
func UserHome(getenv func(string) string) string {
	if home := getenv("HOME"); home != "" {
		return home
	}
	return getenv("USERPROFILE")
}

// Home is umpire's own folder, "" when there is none. A relative one starts from
// dir.
func Home(getenv func(string) string, dir string) string {
	if home := getenv(homeVariable); home != "" {
		if !filepath.IsAbs(home) {
			return filepath.Join(dir, home)
		}
		return filepath.Clean(home)
	}
	if home := UserHome(getenv); home != "" {
		return filepath.Join(home, ".umpire")
	}
	return ""
}

// Socket is where a gate listens when nothing else is configured.
func Socket(home string) string { return filepath.Join(home, stateFolder, socketName) }

// TokenFile holds the credential that agents show the gate.
func TokenFile(home string) string { return filepath.Join(home, stateFolder, tokenName) }
