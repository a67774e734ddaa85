package host

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gitdir"
	"github.com/umpirehq/umpire/place"
)

// brought says why umpire's folder may have come with the project that a question is
// about: then its rules are the project's own, and everything would be allowed that the
// project likes. An agent takes environment variables from a project's settings, so that
// a clone can name a folder of its own.
func brought(getenv func(string) string, dir, project string) error {
	named := getenv("UMPIRE_HOME")
	if named != "" && !filepath.IsAbs(named) {
		return fmt.Errorf("UMPIRE_HOME is %q: want an absolute path, since a project's settings could lead another one into the project", named)
	}
	place := Home(getenv, dir)
	if place == "" {
		return nil // it has no folder, so that nothing is believed
	}
	home, err := ground.Canonical(place)
	if err != nil {
		return fmt.Errorf("umpire's folder: %w", err)
	}
	top := ground.GitTop(project)
	if top == "" {
		if top, err = ground.Canonical(project); err != nil {
			return nil //nolint:nilerr // whoever finds the project says what is wrong with it
		}
	}
	if !ground.Within(top, home) || named == "" && ownHome(UserHome(getenv)) {
		return nil
	}
	return fmt.Errorf("umpire's folder %q lies in the project %q, whose own files would decide; keep it elsewhere, with UMPIRE_HOME", home, top)
}

// ownHome reports whether a folder is the home of this process's user. Where the system
// does not know it, the environment is believed.
func ownHome(home string) bool {
	known, err := user.LookupId(strconv.Itoa(os.Getuid()))
	return err != nil || known.HomeDir == "" || filepath.Clean(known.HomeDir) == filepath.Clean(home)
}
