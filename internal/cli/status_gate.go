package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/console/notice"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A permissionStatus is the status line of a project: the state of its sessions'
// permissions. Type, risk and reason belong to the question that has waited longest, or
// else to the last decision.
type permissionStatus struct {
	State    umpire.PermissionState `json:"permission_state"`
	Type     umpire.PermissionType  `json:"permission_type,omitempty"`
	Risk     string                 `json:"risk_level,omitempty"`
	Blocked  *umpire.Blocked        `json:"blocked_reason,omitempty"`
	Pending  int                    `json:"pending"`
	Sessions sessionsStatus         `json:"sessions"`
}

// A sessionsStatus counts the sessions of the project.
type sessionsStatus struct {
	Open  int `json:"open"`
	Total int `json:"total"`
	// Latest is the session that was active last.
	Latest umpire.SessionID `json:"latest,omitempty"`
	// Mode is the mode of the latest session.
	Mode *umpire.Mode `json:"mode,omitempty"`
}

// A gateStatus is the state of the gate. If no gate runs, each command opens one over
// the same store.
type gateStatus struct {
	Running   bool   `json:"running"`
	Address   string `json:"address"`
	InProcess bool   `json:"in_process"`
	Problem   string `json:"problem,omitempty"`
}

// A storeStatus describes the store of sessions and the timeline.
type storeStatus struct {
	Kind   string `json:"kind"` // sqlite or postgres
	Path   string `json:"path,omitempty"`
	Exists bool   `json:"exists"`
}

// readGateStatus reads the state of the gate and its data on the project. It never creates
// a store, and it reports an unreachable gate.
func readGateStatus(ctx context.Context, a *app.App, s *status, c *config.Config) error {
	where, err := a.ReadListenAddress(c.Listen)
	if err != nil {
		return err
	}
	stored, err := a.ReadStoreAddress(c.Store)
	if err != nil {
		return err
	}
	s.Gate.Address = where.String()
	if format, size := where.LongNote(); format != "" {
		s.Notes = append(s.Notes, fmt.Sprintf(a.Text.Of(format), size))
	}
	s.Store = storeStatus{Kind: stored.Kind, Exists: stored.Exists()}
	if stored.Kind == app.StoreSQLite {
		s.Store.Path = stored.Name
	}
	if s.Retention, err = app.ReadRetention(ctx, a.Now(), c, stored); err != nil {
		s.Notes = append(s.Notes, err.Error())
	}
	running, err := a.DialExpectedGate(ctx, c, app.PersonCredential, "")
	if err != nil {
		s.Gate.Problem = err.Error()
		return nil
	}
	s.Gate.Running, s.Gate.InProcess = running != nil, running == nil
	var gate umpire.Gate
	done := func() {}
	switch {
	case running != nil:
		gate, done = running, app.GateCloser(running)
		sends := app.NoticeConfig(a, c)
		if report, err := notice.ReadReport(sends.Report); err == nil && sends.On() && len(report.Targets) > 0 {
			s.Notices = &report
		}
	case stored.Exists():
		if gate, done, err = a.OpenOwnGate(ctx, c, ""); err != nil {
			s.Gate.Problem = err.Error()
		}
	}
	if gate == nil {
		return nil
	}
	defer done()
	if err := s.readPermissions(ctx, a, gate); err != nil {
		s.Gate.Problem = app.GateError(err).Error()
	}
	return nil
}

// readPermissions reads the permission status of the project.
func (s *status) readPermissions(ctx context.Context, a *app.App, gate umpire.Gate) error {
	here, err := app.ViewProject(ctx, a, gate, app.PersonCredential, false)
	if err != nil {
		return err
	}
	sessions, err := here.Sessions(ctx, 0)
	if err != nil {
		return err
	}
	s.noteOtherIDs(a.Text, sessions)
	s.Sessions.Total = len(sessions)
	for i := range sessions {
		if sessions[i].State != umpire.SessionOver {
			s.Sessions.Open++
		}
	}
	if len(sessions) > 0 {
		s.Sessions.Latest, s.Sessions.Mode = sessions[0].ID, &sessions[0].Mode
		s.State, s.Blocked = sessions[0].Permission, sessions[0].Blocked
	}
	grants, err := gate.Grants().List(ctx, s.WorkingDir)
	if err != nil {
		return err
	}
	s.Grants = len(grants)
	s.AllowAll = slices.ContainsFunc(grants, func(g umpire.GrantStatus) bool { return g.Kind == umpire.GrantAllowAll })
	waiting, err := here.Pending(ctx, 0)
	if err != nil {
		return err
	}
	s.Pending = len(waiting)
	if len(waiting) == 0 {
		return s.readLastDecision(ctx, here)
	}
	p := &waiting[0]
	s.State, s.Type, s.Risk = umpire.StateWaiting, p.Type, p.Risk
	s.Blocked = &umpire.Blocked{Code: p.Code, Detail: p.Reason}
	return nil
}

// noteOtherIDs lists the other ids of the project's open sessions.
func (s *status) noteOtherIDs(text *catalogue.Language, sessions []umpire.Session) {
	var others []string
	for i := range sessions {
		id := sessions[i].Project
		if sessions[i].State != umpire.SessionOver && id != s.ProjectID && !slices.Contains(others, id.Short()) {
			others = append(others, id.Short())
		}
	}
	if len(others) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf(
			text.Of("open sessions keep the project id that they were opened with: %s"), strings.Join(others, ", ")))
	}
}

// lastWindow is how many events back the last decision is looked for.
const lastWindow = 500

// readLastDecision reads the last decision.
func (s *status) readLastDecision(ctx context.Context, here *app.ProjectView) error {
	events, err := here.Events(ctx, umpire.Filter{Last: lastWindow})
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(events) {
		if e.Type != "" {
			s.Type, s.Risk = e.Type, e.Risk
			return nil
		}
	}
	return nil
}

// formatPermission is the status line in words.
func formatPermission(lang *catalogue.Language, s *status) string {
	text := lang.Word("state", string(s.State))
	if s.Pending > 0 {
		text += ", " + lang.Count(s.Pending, "%d waits", "%d wait")
	}
	if s.Type != "" {
		text += fmt.Sprintf(" (%s, %s)", lang.Word("type", string(s.Type)), lang.Word("of risk", s.Risk))
	}
	if s.Blocked != nil && s.State != umpire.StateAllowed && s.State != umpire.StateIdle {
		text += ": " + cmp.Or(lang.Reason(s.Blocked.Detail), string(s.Blocked.Code))
	}
	return text
}

func formatGate(text *catalogue.Language, s *status) string {
	switch {
	case s.Gate.Problem != "":
		return s.Gate.Address + ": " + s.Gate.Problem
	case s.Gate.Running:
		return fmt.Sprintf(text.Of("running on %s"), s.Gate.Address)
	}
	return fmt.Sprintf(text.Of("none on %s; each command opens the store itself"), s.Gate.Address)
}

func formatStore(lang *catalogue.Language, s *status) string {
	text := s.Store.Kind
	if s.Store.Path != "" {
		text += " " + s.Store.Path
	}
	if !s.Store.Exists {
		text += " (" + lang.Of("nothing is stored yet") + ")"
	}
	return text
}

// formatRetention says how long sessions are kept, and when the last one was removed.
func formatRetention(lang *catalogue.Language, now time.Time, r *app.RetentionStatus) string {
	text := r.Age
	if text == app.NoRetention {
		text = lang.Of("sessions are kept for ever")
	}
	if r.LastPruned != nil {
		text += fmt.Sprintf(lang.Of("; the last session was removed %s ago"), view.Age(now.Sub(*r.LastPruned)))
	}
	return text
}

func formatSessions(lang *catalogue.Language, s *sessionsStatus) string {
	text := fmt.Sprintf(lang.Of("%d open, %d in all"), s.Open, s.Total)
	if s.Mode != nil {
		text += fmt.Sprintf(lang.Of("; the latest is in mode %s"), *s.Mode)
	}
	return text
}
