package gate

import (
	"context"
	"errors"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// SetMode switches a session's mode or its workspace's allowAll, or leaves plan mode.
func (ss *sessions) SetMode(ctx context.Context, m umpire.ModeChange) (s umpire.Session, err error) {
	switch {
	case m.LeavePlan && (m.Mode != nil || m.AllowAll != nil):
		return s, invalid("leave_plan", "cannot be combined: it returns to the previous mode")
	case m.Mode == nil && m.AllowAll == nil && !m.LeavePlan:
		return s, invalid("mode", "is missing, and allow_all too")
	}
	change, err := ss.planChange(ctx, &m)
	if err != nil {
		return s, err
	}
	err = ss.step(ctx, m.Session, 0, func(t *transaction) error {
		if err := change(t); err != nil {
			return err
		}
		s = t.session
		return nil
	})
	return s, err
}

// planChange prepares a change of mode.
func (ps *Projects) planChange(ctx context.Context, m *umpire.ModeChange) (func(*transaction) error, error) {
	cond, err := readIn(ctx, ps.viewForChange, func(tx *store.Tx) (*conditions, error) {
		return ps.readConditions(tx, ps.conditionsAhead(tx, m.Session, ""))
	})
	if err != nil {
		return nil, err
	}
	if (m.Mode != nil || m.LeavePlan) && cond.session.Parent != "" {
		return nil, errOwnMode
	}
	if err := ps.completeConditions(cond); err != nil {
		return nil, err
	}
	if err := checkMode(&cond.settings.Most, m.Mode); err != nil {
		return nil, err
	}
	if !m.LeavePlan {
		broad := ps.stripped(&cond.session)
		return func(t *transaction) error { return t.switchMode(m, broad) }, nil
	}
	p, err := ps.planOf(ctx, m.Session)
	if err != nil {
		return nil, err
	}
	d, err := ps.prepareExit(ctx, cond, p.Calls)
	if err != nil {
		return nil, err
	}
	return func(t *transaction) error { return t.leavePlan(d, umpire.Event{Actor: m.By.Name}) }, nil
}

func (t *transaction) switchMode(m *umpire.ModeChange, broad []string) error {
	w, err := t.tx.Workspaces.Get(t.session.Project, cloneOf(&t.session))
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return err
	}
	w.Project, w.GitDir = t.session.Project, cloneOf(&t.session)
	detail := map[string]any{"from": t.session.Mode}
	if m.Mode != nil {
		if *m.Mode == umpire.ModeBypass && !t.session.AllowBypass {
			return invalid("mode", "bypass needs a session that was opened for it")
		}
		noteStripped(detail, t.session.Mode, *m.Mode, broad)
		t.session.Mode, detail["mode"] = *m.Mode, *m.Mode
		t.session.Denials, t.session.DenialsInRow = 0, 0
		if switchable(*m.Mode) {
			w.Mode = m.Mode
		}
	}
	if m.AllowAll != nil {
		t.addAllowAllEvent(w.AllowAll, *m.AllowAll)
		w.AllowAll, detail["allow_all"] = *m.AllowAll, *m.AllowAll
	}
	if err := t.tx.Workspaces.Save(w); err != nil {
		return err
	}
	t.append(umpire.Event{Kind: umpire.EventModeChanged, Actor: m.By.Name}, signed(detail, m.By))
	return nil
}

// addAllowAllEvent records a change of the workspace's allowAll as a grant event.
func (o *outcome) addAllowAllEvent(was, is bool) {
	if was == is {
		return
	}
	e := umpire.Event{Kind: umpire.EventGrantRevoked}
	if is {
		e.Kind = umpire.EventGrantCreated
	}
	o.append(e, grantDetail(&umpire.GrantStatus{ID: umpire.AllowAllID, Kind: umpire.GrantAllowAll}))
}
