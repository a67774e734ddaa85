package relay

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// HomeVariable names umpire's own folder.
const HomeVariable = "UMPIRE_HOME"

// The names below umpire's own folder for finding a gate.
const (
	stateFolder = "state"
	socketName  = "umpire.sock"
	tokenName   = "agent.token"
)

// UserHome returns the user's home directory from the environment, or "" if unknown.
func UserHome(getenv func(string) string) string {
	if home := getenv("HOME"); home != "" {
		return home
	}
	return getenv("USERPROFILE")
}

// Home returns umpire's own folder, or "" if it cannot be determined. A relative path starts from
// dir.
func Home(getenv func(string) string, dir string) string {
	if home := getenv(HomeVariable); home != "" {
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

// Socket returns the default socket of a gate.
func Socket(home string) string { return filepath.Join(home, stateFolder, socketName) }

// TokenFile returns the file with the credential that agents present to the gate.
func TokenFile(home string) string { return filepath.Join(home, stateFolder, tokenName) }

// IsUsual reports whether umpire's folder is the one in the home of this process's user,
// which may be a repository with the person's own settings.
func IsUsual(getenv func(string) string) bool {
	home, named := UserHome(getenv), getenv(HomeVariable)
	return ownHome(home) && (named == "" || filepath.Clean(named) == filepath.Join(home, ".umpire"))
}

// ownHome reports whether a folder is the home of this process's user. If the system does not know
// it, the environment is believed.
func ownHome(home string) bool {
	known, err := user.LookupId(strconv.Itoa(os.Getuid()))
	return err != nil || known.HomeDir == "" || filepath.Clean(known.HomeDir) == filepath.Clean(home)
}
