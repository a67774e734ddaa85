package gate

import (
	"errors"
	"strconv"

	"github.com/umpirehq/umpire"
)

// A ProjectIdentity is a project by its id.
type ProjectIdentity struct {
	Project umpire.ProjectID
	// Former is the id that the project had before its first commit; "" for none.
	Former umpire.ProjectID
}

// has reports whether a session belongs to the project.
func (p ProjectIdentity) has(s *umpire.Session) bool {
	return s.Project == p.Project || p.Former != "" && s.Project == p.Former
}

// CheckResume returns nil when a session may be continued from a project: it is one of the
// project's, or crossProject permits another one's. Crossed reports the latter, which is
// recorded.
func CheckResume(p ProjectIdentity, s *umpire.Session, crossProject bool) (crossed bool, err error) {
	if s.State == umpire.SessionOver {
		return false, umpire.Errorf("session %s has ended: %w", PrintableID(s.ID), umpire.ErrState)
	}
	if p.has(s) || s.Project == "" {
		return false, nil
	}
	if crossProject {
		return true, nil
	}
	return false, crossing(p, s, errors.New("continue it there, or add --allow-cross-project-session"))
}

// CheckFork returns nil when a session may be forked from a project: it is one of the
// project's. Nothing permits a fork across projects.
func CheckFork(p ProjectIdentity, s *umpire.Session) error {
	if p.has(s) || s.Project == "" {
		return nil
	}
	return crossing(p, s,
		errors.New("a fork stays in its project, --allow-cross-project-session does not change that"))
}

// crossing names the session, both projects, and what to do.
func crossing(p ProjectIdentity, s *umpire.Session, next error) error {
	return umpire.Errorf("session %s belongs to project %s, and this is project %s: %w: %w",
		PrintableID(s.ID), s.Project.Short(), p.Project.Short(), next, umpire.ErrOtherProject)
}

// PrintableID returns an id as it can be shown: one that holds more than letters, digits
// and plain marks is quoted, so that it cannot pass for another one.
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
