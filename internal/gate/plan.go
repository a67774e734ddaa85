package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// In plan mode only reads run, and what else the agent wants is planned. It leaves plan
// mode by a call, which a person is asked about and shown the plan with. Approving it
// brings back the mode before, and lets the planned files be changed without a further
// question: those that were shown, and that are still what they were when the change
// was planned. The others ask like any.

// exitPlanTool is the tool by which an agent leaves plan mode.
const exitPlanTool = "ExitPlanMode"

// exitPlanRule asks about leaving plan mode, in sessions whose mode is the gate's to
// switch. An agent that runs its calls itself has a plan mode and a question of its own,
// and a sub-agent is in the mode of its parent.
var exitPlanRule = umpire.Rule{
	ID: "exit-plan", Action: umpire.Ask, Tool: exitPlanTool, Source: umpire.SourceSession,
	Description: "Leaves plan mode: the planned files may be changed from then on",
}

// tightenFor are the rules that hold for one call beside those of the files.
func (sc *scene) tightenFor(call *umpire.Call) []umpire.Rule {
	rule := exitPlanRule
	switch {
	case call.Tool != exitPlanTool || sc.session.Mode != umpire.ModePlan || sc.session.External:
		return sc.tighten
	case sc.session.Parent != "":
		rule.Action, rule.Description = umpire.Deny, "A sub-agent stays in plan mode with its parent: tell that agent what you plan"
	}
	return append(slices.Clip(sc.tighten), rule)
}

func leavesPlan(s *umpire.Session, tool string) bool {
	return tool == exitPlanTool && s.Mode == umpire.ModePlan && !s.External && s.Parent == ""
}

// planOf reads the plan of a session.
func (g *Gate) planOf(ctx context.Context, id umpire.SessionID) (p SessionPlan, err error) {
	err = g.peek(ctx, func(tx *store.Tx) error {
		events, err := tx.Events(umpire.Filter{Session: id})
		p = ReadSessionPlan(events)
		return err
	})
	return p, err
}

// findPlanned gives the calls of a submission that leave plan mode the plan: what was
// planned before, and by the same message.
func (g *Gate) findPlanned(ctx context.Context, sc *scene, calls []*judged) error {
	for _, j := range calls {
		if !leavesPlan(&sc.session, j.call.Tool) || j.state() != umpire.CallAsked {
			continue
		}
		p, err := g.planOf(ctx, sc.session.ID)
		if err != nil {
			return err
		}
		j.planned = p.Calls
		for _, other := range calls {
			if other.decision.ReasonCode == umpire.CodePlan {
				j.planned = append(j.planned, umpire.Planned{
					Call: other.call.ID, Tool: other.call.Tool, Accesses: g.shownAccesses(other), Files: filesOf(other.before),
				})
			}
		}
	}
	return nil
}

func filesOf(snapshot json.RawMessage) map[string]string {
	files := map[string]string{}
	if len(snapshot) == 0 || json.Unmarshal(snapshot, &files) != nil {
		return nil
	}
	return files
}

// A departure is what follows from leaving plan mode.
type departure struct {
	to      umpire.Mode
	grants  []store.GrantRow
	granted []string // files that may be changed without a further question
	changed []string // planned files that are not what they were: these ask
	broad   []string // allow rules that auto mode takes the say from
}

// depart works out what leaving plan mode means for what was planned, as far as the
// person saw it.
func (g *Gate) depart(ctx context.Context, sc *scene, seen []umpire.Planned) (*departure, error) {
	if sc.session.Mode != umpire.ModePlan {
		return nil, fmt.Errorf("session %q is in mode %s, not plan: %w", sc.session.ID, sc.session.Mode, umpire.ErrState)
	}
	p, err := g.projectOf(sc.session.Root, sc.session.AddDirs)
	if err != nil {
		return nil, err
	}
	d := &departure{broad: g.stripped(&sc.session)}
	if d.to, err = g.modeAfterPlan(ctx, sc, p); err != nil {
		return nil, err
	}
	for i := range seen {
		if !slices.Contains(fileTools, seen[i].Tool) {
			continue
		}
		call, err := g.storedCall(ctx, sc.session.ID, seen[i].Call)
		if err != nil {
			return nil, err
		}
		g.permit(d, sc, p, call, seen[i].Files)
	}
	return d, nil
}

// modeAfterPlan is the mode before plan mode, or the usual one where the session began
// in it. Bypass comes back only where the session was opened for it.
func (g *Gate) modeAfterPlan(ctx context.Context, sc *scene, p *Project) (umpire.Mode, error) {
	plan, err := g.planOf(ctx, sc.session.ID)
	if err != nil {
		return umpire.ModeDefault, err
	}
	to, err := g.usualMode(ctx, p)
	if err != nil {
		return umpire.ModeDefault, err
	}
	if plan.Before != nil {
		to = *plan.Before
	}
	if to == umpire.ModePlan || to == umpire.ModeBypass && !sc.session.AllowBypass {
		to = umpire.ModeDefault
	}
	return to, nil
}

// storedCall returns a call of a session with its very input.
func (g *Gate) storedCall(ctx context.Context, id umpire.SessionID, call umpire.CallID) (umpire.Call, error) {
	var row store.CallRow
	err := g.peek(ctx, func(tx *store.Tx) (err error) {
		row, err = tx.CallRow(id, call)
		return err
	})
	if err != nil {
		return umpire.Call{}, fmt.Errorf("planned call %q: %w", call, err)
	}
	return g.exactCall(&row)
}

// permit lets the files of a planned call be changed that are still what they were. A
// file outside the project, and one that a rule speaks about, asks as it always does.
func (g *Gate) permit(d *departure, sc *scene, p *Project, call umpire.Call, was map[string]string) {
	decision := g.Decide(Request{
		Call: call, Project: sc.session.Root, AddDirs: sc.session.AddDirs, Mode: umpire.ModeDefault, Profile: sc.profile,
	})
	for i := range decision.Accesses {
		a := &decision.Accesses[i]
		if a.Kind != umpire.KindWrite || a.Place != umpire.PlaceInside || a.Glob || a.Tree || a.Doubt != "" || a.Resolved == "" {
			continue
		}
		before, known := was[a.Resolved]
		switch {
		case slices.Contains(d.granted, a.Resolved), slices.Contains(d.changed, a.Resolved):
		case !known || fingerprint(a.Resolved) != before:
			d.changed = append(d.changed, a.Resolved)
		default:
			d.granted = append(d.granted, a.Resolved)
			d.grants = append(d.grants, store.GrantRow{
				ID: newGrantID(), Scope: umpire.ScopeSession, Project: sc.session.Project, GitDir: cloneOf(&sc.session),
				Session: sc.session.ID, Created: g.now(),
				Grant: umpire.Grant{Scope: umpire.ScopeSession, Tool: call.Tool, Match: umpire.Match{PathGlob: policy.PathPattern(a, p.Root)}},
			})
		}
	}
}

// leavePlan stores that plan mode is over. The mode that the workspace was switched to
// stays what it is: nobody chose one.
func (t *step) leavePlan(d *departure, e umpire.Event) error {
	if t.session.Mode != umpire.ModePlan {
		return fmt.Errorf("session %q is in mode %s by now: %w", t.session.ID, t.session.Mode, umpire.ErrState)
	}
	for i := range d.grants {
		row := d.grants[i]
		row.Request, row.By = e.Request, e.Actor
		if err := t.tx.InsertGrant(row); err != nil {
			return err
		}
	}
	t.session.Mode, t.session.Denials, t.session.DenialsInRow = d.to, 0, 0
	told := map[string]any{"from": umpire.ModePlan, "mode": d.to, "granted": d.granted, "changed": d.changed}
	tellStripped(told, umpire.ModePlan, d.to, d.broad)
	e.Kind = umpire.EventModeChanged
	return t.append(e, told)
}
