package host

import (
	"path/filepath"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/files/gitdir"
	"github.com/umpirehq/umpire/internal/host/relay"
	"github.com/umpirehq/umpire/place"
)

// checkHome returns an error if umpire's folder may have come with the project that a question is
// about: its rules would then be the project's own and could allow anything. An agent takes
// environment variables from a project's settings, which lets a clone name a folder it controls: in
// the project, in another worktree of the clone, in a repository around it, or through a link. A
// hook registered with --home is not checked here.
func checkHome(getenv func(string) string, dir string, projects ...string) error {
	named := getenv(relay.HomeVariable)
	if named != "" && !filepath.IsAbs(named) {
		return umpire.Errorf("UMPIRE_HOME is %q: want an absolute path, because a relative one could lead into the "+
			"project", named)
	}
	folder := relay.Home(getenv, dir)
	if folder == "" {
		return nil // without a folder there is nothing to trust
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
			return umpire.Errorf("umpire's folder %q lies in the project %q, so the project could change it: move "+
				"it elsewhere with UMPIRE_HOME", home, top)
		}
	}
	return nil
}

// shares returns the folder that makes umpire's folder part of a project: the clone's top, or a
// repository that holds both or is the same one. It returns "" if they are separate.
func shares(project, home string) string {
	top := cloneOf(project)
	if top == "" {
		return "" // the project lookup reports the error
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

// commonDir returns the git directory that all worktrees of a clone share, or "".
func commonDir(top string) string {
	bounds, err := place.Open(top, place.Options{})
	if err != nil {
		return ""
	}
	return bounds.Repository.Common
}
