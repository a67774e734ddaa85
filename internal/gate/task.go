package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/internal/store"
)

// A person approves a task for one session. Each line of its text becomes a grant with the times of the
// line, and one more row, which allows nothing, keeps the text. A grant counts only together with a text
// that has its line.

// ApproveTask approves a task, answers the session's waiting questions inside it, and returns it with its grants.
func (gs *grants) ApproveTask(ctx context.Context, a umpire.TaskApproval) ([]umpire.GrantStatus, error) {
	s, err := readIn(ctx, gs.view, func(tx *store.Tx) (umpire.Session, error) { return tx.Sessions.Get(a.Session) })
	if err == nil && s.State == umpire.SessionOver {
		err = umpire.Errorf("session %q has ended: %w", s.ID, umpire.ErrState)
	}
	if err != nil {
		return nil, err
	}
	p, err := gs.projectOf(s.Root, s.AddDirs)
	if err != nil {
		return nil, err
	}
	t, err := task.Accept(a.Text, a.Digest, p.PolicyOptions())
	if err != nil {
		return nil, err
	}
	rows := gs.taskRows(&s, &t, a.By)
	text := rows[0].TaskText
	if gs.maskText(text) != text {
		return nil, invalid("text", "a line has a secret, which the gate would store: leave it out")
	}
	e := umpire.Event{At: gs.now(), Kind: umpire.EventTaskApproved, Project: s.Project, Session: s.ID, Agent: s.Agent}
	e.Actor = a.By.Name
	detail := signed(map[string]any{"task_id": rows[0].ID, "text": text, "digest": a.Digest}, a.By)
	var approved []umpire.GrantStatus
	err = gs.update(ctx, func(tx *store.Tx) error {
		approved = nil
		for i := range rows {
			if err := tx.Grants.Insert(rows[i]); err != nil {
				return err
			}
			approved = append(approved, gs.grantStatus(&rows[i]))
		}
		return tx.Events.Add(gs.record(e, detail))
	})
	if err != nil {
		return nil, err
	}
	gs.answerInside(ctx, &a, approved[0].ID)
	return approved, nil
}

// answerInside answers the session's waiting questions that an approved task covers. The approval stands
// even if this fails: the questions keep waiting.
func (gs *grants) answerInside(ctx context.Context, a *umpire.TaskApproval, id string) {
	cards, _ := gs.pending(ctx, umpire.PendingQuery{Session: a.Session})
	for i := range cards {
		c := &cards[i]
		asks := []umpire.ReasonCode{umpire.CodeRule, umpire.CodeChanged} // a hook asks like a rule
		tried := c.Trial != nil || c.TrialOffer == umpire.TrialAgain
		if tried || c.Indeterminate || len(c.Planned) > 0 || slices.Contains(asks, c.Code) {
			continue
		}
		// If it is outside of the task, or was answered meanwhile, it needs no answer from here.
		_, _ = gs.resolve(ctx, umpire.Answer{
			Request: c.Request, ArgsHash: c.ArgsHash, ShownDigest: c.ShownDigest, Choice: umpire.Approve,
			Actor: a.By.Name, By: a.By, Channel: "task",
		}, id)
	}
}

// taskRows returns the row that keeps the text, and one for each line.
func (be *backend) taskRows(s *umpire.Session, t *task.Task, by umpire.Actor) []store.GrantRow {
	id, ends := t.NewID(newID(5)), be.now().Add(t.For)
	head := be.newGrant(s, umpire.ScopeSession, by.Name, umpire.Grant{Task: id, ExpiresAt: ends})
	head.ID, head.TaskText = id, t.String()
	rows := []store.GrantRow{head}
	for i := range t.Lines {
		line := be.newGrant(s, umpire.ScopeSession, by.Name, t.Lines[i].Grant(id))
		line.ID, line.Created, line.MaxUses = fmt.Sprintf("%s.%02d", id, i+1), head.Created, t.Lines[i].Times
		line.Grant.ExpiresAt = ends
		rows = append(rows, line)
	}
	return rows
}

// inheritTasks adds the grants of the tasks of a sub-agent's parents.
func inheritTasks(tx *store.Tx, s umpire.Session, q store.GrantQuery, rows []store.GrantRow) ([]store.GrantRow, error) {
	for s.Parent != "" {
		theirs, err := tx.Grants.List(store.GrantQuery{Session: s.Parent, Now: q.Now})
		if err != nil {
			return nil, err
		}
		rows = append(rows, slices.DeleteFunc(theirs, func(r store.GrantRow) bool { return r.Grant.Task == "" })...)
		if s, err = tx.Sessions.Get(s.Parent); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// bindTasks leaves out the grants of tasks that the text of their task does not have.
func bindTasks(rows []store.GrantRow) []store.GrantRow {
	tasks := map[string]task.Task{}
	for i := range rows {
		if t, ok := task.ReadBound(rows[i].TaskText, rows[i].ID); ok {
			tasks[rows[i].ID] = t
		}
	}
	return slices.DeleteFunc(rows, func(r store.GrantRow) bool {
		t := tasks[r.Grant.Task]
		return r.Grant.Task != "" && !t.Binds(&r.Grant)
	})
}
