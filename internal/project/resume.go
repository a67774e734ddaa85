package project

import (
	"errors"
	"strconv"

	"github.com/umpirehq/umpire"
)

// Has reports whether a session belongs to the project: by the id pinned when it was opened, or by its root.
// The id of a folder may change, for example with a shallow fetch, a first commit or a new root commit.
func (p *Project) Has(s *umpire.Session) bool {
	return p.IsPinned(s) || s.Root == p.Root && s.Root != ""
}

// IsPinned reports whether a session has the project's id, or the one from before its first commit.
func (p *Project) IsPinned(s *umpire.Session) bool {
	return s.Project == p.ID || p.Former != "" && s.Project == p.Former
}

// CheckResume returns nil if a session may be continued from a project: it belongs to the
// project, or crossProject permits another project's session. crossed reports the latter,
// which is recorded.
func (p *Project) CheckResume(s *umpire.Session, crossProject bool) (crossed bool, err error) {
	if s.State == umpire.SessionOver {
		return false, umpire.Errorf("session %s has ended: %w", PrintableID(s.ID), umpire.ErrState)
	}
	if p.Has(s) || s.Project == "" {
		return false, nil
	}
	if crossProject {
		return true, nil
	}
	return false, p.crossing(s, errors.New("continue it there, or add --allow-cross-project-session"))
}

// CheckFork returns nil if a session may be forked from a project, which must be its own.
// Forks across projects are never permitted.
func (p *Project) CheckFork(s *umpire.Session) error {
	if p.Has(s) || s.Project == "" {
		return nil
	}
	return p.crossing(s,
		errors.New("a fork stays in its project, even with --allow-cross-project-session"))
}

// crossing returns an error with the session, both projects, and the next step.
func (p *Project) crossing(s *umpire.Session, next error) error {
	return umpire.Errorf("session %s belongs to project %s, and this is project %s: %w: %w",
		PrintableID(s.ID), s.Project.Short(), p.ID.Short(), next, umpire.ErrOtherProject)
}

// PrintableID returns an id for display. It quotes an id with characters other than
// letters, digits and plain marks, so it cannot be mistaken for another one.
func PrintableID(id umpire.SessionID) string {
	const maxShown = 100
	if len(id) > maxShown {
		id = id[:maxShown]
	}
	for _, r := range id {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' ||
			r == '.' || r == ':'
		if !plain {
			return strconv.QuoteToASCII(string(id))
		}
	}
	return string(id)
}
