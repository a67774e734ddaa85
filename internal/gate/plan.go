package gate

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/policy"
)

// In plan mode only reads run, and the agent's other calls are planned. The agent leaves plan mode
// by a call that shows the plan to a person. Approving it restores the previous mode, and lets the
// planned files be changed without another question, provided that they were shown and have not
// changed since the change was planned. A planned command that was shown whole runs once. The others
// ask as usual.

// planOf reads the plan of a session.
func (ps *Projects) planOf(ctx context.Context, id umpire.SessionID) (p history.SessionPlan, err error) {
	err = ps.viewForChange(ctx, func(tx *store.Tx) error {
		events, err := tx.Events.List(umpire.Filter{Session: id})
		p = history.ReadSessionPlan(events)
		return err
	})
	return p, err
}

// findPlanned attaches the plan to the calls of a submission that leave plan mode: the calls
// planned before, and those planned by the same message.
func (ps *Projects) findPlanned(ctx context.Context, cond *conditions, calls []*judged) error {
	for _, j := range calls {
		if !leavesPlan(&cond.session, j.call.Tool) || j.state != umpire.CallAsked {
			continue
		}
		p, err := ps.planOf(ctx, cond.session.ID)
		if err != nil {
			return err
		}
		j.planned = p.Calls
		for i := range j.planned {
			c := &j.planned[i]
			if c.Tool != bashTool {
				continue
			}
			call, err := ps.storedCall(ctx, cond.session.ID, c.Call)
			if err != nil {
				return err
			}
			c.Command = planner{cond, ps}.plannedCommand(&call)
		}
		for _, other := range calls {
			if other.decision.ReasonCode == umpire.CodePlan {
				j.planned = append(j.planned, umpire.Planned{
					Call: other.call.ID, Tool: other.call.Tool, Accesses: ps.shownAccesses(other),
					Files: filesOf(other.before), Command: planner{cond, ps}.plannedCommand(&other.call),
				})
			}
		}
	}
	return nil
}

// A planner judges the planned calls of a session.
type planner struct {
	*conditions

	projects *Projects
}

// maxPlannedCommand is the maximum length of a command that a plan's card shows whole.
const maxPlannedCommand = 200

// plannedCommand returns a planned command if approving the plan may let it run: one that a card can show
// in a line, and about which only the mode asks. It returns "" for a command whose own card would show more: a
// secret, the code it runs, a path outside, a guarded place, or a doubt.
func (pl planner) plannedCommand(call *umpire.Call) string {
	if call.Tool != bashTool {
		return ""
	}
	hides := func(r rune) bool { return !unicode.IsPrint(r) }
	line := policy.Command(call.Input) // which the grant covers
	if len(line) > maxPlannedCommand || strings.ContainsFunc(line, hides) || pl.projects.maskText(line) != line {
		return ""
	}
	d := pl.decideUsual(call)
	if d.Verdict != umpire.Ask || d.ReasonCode != umpire.CodeMode ||
		len(readCode(&d, pl.projects.maskText)) > 0 {
		return ""
	}
	return line
}

// decideUsual decides a planned call as if it were made in default mode.
func (pl planner) decideUsual(call *umpire.Call) umpire.Decision {
	return pl.projects.decideWith(pl.session.Root, pl.session.AddDirs, policy.Query{
		Call: *call, Conditions: policy.Conditions{Mode: umpire.ModeDefault, Profile: pl.Profile},
	})
}

func filesOf(snapshot json.RawMessage) map[string]string {
	files := map[string]string{}
	if len(snapshot) == 0 || json.Unmarshal(snapshot, &files) != nil {
		return nil
	}
	return files
}

// A planExit holds the consequences of leaving plan mode.
type planExit struct {
	to      umpire.Mode
	grants  []store.GrantRow
	granted []string // files that may be changed without another question
	lines   []string // commands that run once without another question
	changed []string // planned files that have changed since; they still ask
	broad   []string // allow rules that auto mode overrides
}

// prepareExit works out which grants leaving plan mode gives to the planned calls, limited to those
// the person saw.
func (ps *Projects) prepareExit(ctx context.Context, cond *conditions, seen []umpire.Planned) (*planExit, error) {
	if cond.session.Mode != umpire.ModePlan {
		return nil, umpire.Errorf("session %q is in mode %s, not plan: %w", cond.session.ID, cond.session.Mode,
			umpire.ErrState)
	}
	p, err := ps.projectOf(cond.session.Root, cond.session.AddDirs)
	if err != nil {
		return nil, err
	}
	d := &planExit{broad: ps.stripped(&cond.session)}
	if d.to, err = ps.modeAfterPlan(ctx, cond, p); err != nil {
		return nil, err
	}
	for i := range seen {
		if !slices.Contains(fileTools, seen[i].Tool) && seen[i].Command == "" {
			continue
		}
		call, err := ps.storedCall(ctx, cond.session.ID, seen[i].Call)
		if err != nil {
			return nil, err
		}
		if seen[i].Command == "" {
			planner{cond, ps}.permitFiles(d, p, &call, seen[i].Files)
		} else if err := (planner{cond, ps}).permitCommand(d, &call, seen[i].Command); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// modeAfterPlan returns the mode before plan mode, or the usual one if the session began in plan
// mode. Bypass returns only if the session was opened for it.
func (ps *Projects) modeAfterPlan(ctx context.Context, cond *conditions, p *Project) (umpire.Mode, error) {
	plan, err := ps.planOf(ctx, cond.session.ID)
	if err != nil {
		return umpire.ModeDefault, err
	}
	to, err := ps.usualMode(ctx, p)
	if err != nil {
		return umpire.ModeDefault, err
	}
	if plan.Before != nil {
		to = *plan.Before
	}
	if to == umpire.ModePlan || to == umpire.ModeBypass && !cond.session.AllowBypass {
		to = umpire.ModeDefault
	}
	return to, nil
}

// storedCall returns a call of a session with its exact input.
func (ps *Projects) storedCall(ctx context.Context, id umpire.SessionID, call umpire.CallID) (umpire.Call, error) {
	row, err := readIn(ctx, ps.viewForChange, func(tx *store.Tx) (store.CallRow, error) {
		return tx.Calls.Get(id, call)
	})
	if err != nil {
		return umpire.Call{}, umpire.Errorf("planned call %q: %w", call, err)
	}
	return ps.exactCall(&row)
}

// permitFiles permits changes to the files of a planned call that have not changed since. A file
// outside the project, or one that a rule covers, still asks.
func (pl planner) permitFiles(d *planExit, p *Project, call *umpire.Call, was map[string]string) {
	decision := pl.decideUsual(call)
	for i := range decision.Accesses {
		a := &decision.Accesses[i]
		if a.Kind != umpire.KindWrite || a.Place != umpire.PlaceInside || a.Glob || a.Tree || a.Doubt != "" ||
			a.Resolved == "" {
			continue
		}
		before, known := was[a.Resolved]
		switch {
		case slices.Contains(d.granted, a.Resolved), slices.Contains(d.changed, a.Resolved):
		case !known || fingerprint(a.Resolved) != before:
			d.changed = append(d.changed, a.Resolved)
		default:
			d.granted = append(d.granted, a.Resolved)
			d.grants = append(d.grants, pl.plannedGrant(umpire.Grant{
				Tool: call.Tool, Match: umpire.Match{PathGlob: policy.PathPattern(a, p.Root)},
			}))
		}
	}
}

// permitCommand permits a planned command once, if it may still run and is the one that the card showed.
func (pl planner) permitCommand(d *planExit, call *umpire.Call, shown string) (err error) {
	if pl.plannedCommand(call) != shown {
		return nil
	}
	row := pl.plannedGrant(umpire.Grant{Tool: call.Tool})
	row.MaxUses = 1
	if row.Grant.Exact, err = pl.projects.keepExact(row.ID, policy.Exact(*call)); err != nil {
		return err
	}
	d.lines, d.grants = append(d.lines, shown), append(d.grants, row)
	return nil
}

// plannedGrant returns the row of a grant that an approved plan makes.
func (pl planner) plannedGrant(grant umpire.Grant) store.GrantRow {
	return pl.projects.newGrant(&pl.session, umpire.ScopeSession, "", grant)
}

// leavePlan stores the end of plan mode. The mode that the workspace was last switched to stays,
// because no person chose another.
func (o *outcome) leavePlan(d *planExit, e umpire.Event) error {
	if o.session.Mode != umpire.ModePlan {
		return umpire.Errorf("session %q is now in mode %s: %w", o.session.ID, o.session.Mode, umpire.ErrState)
	}
	for i := range d.grants {
		row := d.grants[i]
		row.Request, row.By = e.Request, e.Actor
		o.addWrite(func(tx *store.Tx) error { return tx.Grants.Insert(row) })
	}
	o.session.Mode, o.session.Denials, o.session.DenialsInRow = d.to, 0, 0
	detail := map[string]any{"from": umpire.ModePlan, "mode": d.to, "granted": d.granted, "changed": d.changed}
	if len(d.lines) > 0 {
		detail["commands"] = d.lines
	}
	noteStripped(detail, umpire.ModePlan, d.to, d.broad)
	e.Kind = umpire.EventModeChanged
	o.append(e, detail)
	return nil
}
