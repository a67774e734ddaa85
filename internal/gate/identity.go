package gate

import (
	"context"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/project"
	"github.com/umpirehq/umpire/internal/store"
)

// identifyEvery is the shortest interval between two lookups of a project's id.
const identifyEvery = time.Second

// findID returns the current id of the project, at most ago old. The project's own ID stays as the gate first found it.
func (p *Project) findID(now time.Time, ago time.Duration) umpire.ProjectID {
	p.identity.Lock()
	defer p.identity.Unlock()
	if now.Sub(p.idChecked).Abs() < ago {
		return p.idNow
	}
	p.idChecked, p.idNow = now, p.ID
	if found, err := project.Open(p.Root, project.Options{Home: p.Home, Cache: p.config.cacheDir()}); err == nil {
		p.idNow = found.ID
	}
	return p.idNow
}

// noteIdentity records on a session's timeline that the id of its project differs from the pinned
// one, once for each id.
func (ss *sessions) noteIdentity(
	ctx context.Context, s *umpire.Session, p *Project, ago time.Duration,
) (err error) {
	now := p.findID(ss.now(), ago)
	key := string(s.ID) + " " + string(now)
	if s.Project == "" || s.Project == now || !p.Has(s) {
		return nil
	}
	if _, known := ss.noted.LoadOrStore(key, true); known {
		return nil
	}
	defer func() {
		if err != nil {
			ss.noted.Delete(key)
		}
	}()
	told, err := readIn(ctx, ss.view, func(tx *store.Tx) (page, error) {
		return readEvents(tx, umpire.Filter{Session: s.ID})
	})
	if err != nil {
		return err
	}
	text := umpire.Say("This project is known as %s by now; the session stays with %s.", now.Short(), s.Project.Short())
	noted := func(e umpire.Event) bool { return e.Kind == umpire.EventNotice && e.Reason == text }
	if slices.ContainsFunc(told.events, noted) {
		return nil
	}
	return ss.step(ctx, s.ID, 0, func(t *transaction) error {
		t.quiet = true
		t.addNotice(text)
		return nil
	})
}
