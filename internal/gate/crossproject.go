// Package session says which session may be continued, resumed or forked from
// where. It looks at nothing but its arguments.
package session

import (
	"fmt"
	"strconv"

	"github.com/umpirehq/umpire"
)

// A Place is where a person stands who asks for a session.
type ProjectIdentity struct {
	Project umpire.ProjectID
	// Former is the id that the same project had before it had commits, "" for
	// none.
	Former umpire.ProjectID
}

// has reports whether a session belongs to the place's project.
func (p ProjectIdentity) has(s *umpire.Session) bool {
	return s.Project == p.Project || p.Former != "" && s.Project == p.Former
}

// A Leave says what a person may do beyond the rule.
type Leave struct {
	// CrossProject permits going on with a session of another project.
	CrossProject bool
}

// Resume says whether a session may be gone on with from a place. Crossed says
// that it belongs to another project, which goes on record.
func Resume(p Place, s *umpire.Session, l Leave) (crossed bool, err error) {
	if s.State == umpire.SessionOver {
		return false, fmt.Errorf("session %s has ended: %w", PrintableID(s.ID), umpire.ErrState)
	}
	if p.has(s) || s.Project == "" {
		return false, nil
	}
	if l.CrossProject {
		return true, nil
	}
	return false, crossing(p, s, "continue it there, or add --allow-cross-project-session")
}

// Fork says whether a session may be forked from a place. No leave lets a fork
// cross projects.
func CheckFork(p ProjectIdentity, s *umpire.Session) error {
	if p.has(s) || s.Project == "" {
		return nil
	}
	return crossing(p, s, "a fork stays in its project, --allow-cross-project-session does not change that")
}

// crossing names the session, both projects, and what to do.
func crossing(p ProjectIdentity, s *umpire.Session, next string) error {
	return fmt.Errorf("session %s belongs to project %s, and this is project %s: %s: %w",
		PrintableID(s.ID), s.Project.Short(), p.Project.Short(), next, umpire.ErrOtherProject)
}

// Printable is an id as it can be shown: one that holds more than letters, digits
// and plain marks is quoted, so that nobody is shown something else than there is.
func PrintableID(id umpire.SessionID) string {
	const maxShown = 100
	if len(id) > maxShown {
		id = id[:maxShown]
	}
	for _, r := range id {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' || r == ':'
		if !plain {
			return strconv.QuoteToASCII(string(id))
		}
	}
	return string(id)
}
