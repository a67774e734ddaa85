package host

import (
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/gitdir"
	"github.com/umpirehq/umpire/internal/relay"
	"github.com/umpirehq/umpire/place"
)

// checkHome says why umpire's folder may have come with the project that a question is
// about: then its rules are the project's own, and everything would be allowed that the
// project likes. An agent takes environment variables from a project's settings, so that
// a clone can name a folder of its own: in the project, in another worktree of the clone,
// in a repository around it, or through a link. A hook that was registered with --home
// does not come here.
func checkHome(getenv func(string) string, dir string, projects ...string) error {
	named := getenv(relay.HomeVariable)
	if named != "" && !filepath.IsAbs(named) {
		return umpire.Errorf("UMPIRE_HOME is %q: want an absolute path, since a project's settings could lead "+
			"another one into the project", named)
	}
	folder := relay.Home(getenv, dir)
	if folder == "" {
		return nil // it has no folder, so that nothing is believed
	}
	home, err := files.Canonical(folder)
	if err != nil {
		return umpire.Errorf("umpire's folder: %w", err)
	}
	if relay.IsUsual(getenv) {
		return nil
	}
	for _, project := range projects {
		if top := shares(project, home); top != "" {
			return umpire.Errorf("umpire's folder %q lies in the project %q, whose own files would decide; keep it "+
				"elsewhere, with UMPIRE_HOME", home, top)
		}
	}
	return nil
}

// shares returns the folder by which umpire's folder belongs to a project, "" when it
// does not: the clone's top, or a repository that holds both or is the same one.
func shares(project, home string) string {
	top := cloneOf(project)
	if top == "" {
		return "" // whoever finds the project says what is wrong with it
	}
	if files.Within(top, home) {
		return top
	}
	around := gitdir.FindWorktree(home)
	if around == "" {
		return ""
	}
	if files.Within(around, top) || commonDir(around) != "" && commonDir(around) == commonDir(top) {
		return around
	}
	return ""
}

// commonDir is the git directory that all worktrees of a clone share, "" when there is
// none.
func commonDir(top string) string {
	bounds, err := place.Open(top, place.Options{})
	if err != nil {
		return ""
	}
	return bounds.Repository.Common
}
