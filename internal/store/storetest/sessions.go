package storetest

import (
	"fmt"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

func sessionsComeBack(b *bench) {
	full := umpire.Session{
		ID: "full", Project: "p", Root: "/r", Dir: "/r/d", Worktree: "/w", GitDir: "/r/.git", IsRoot: true,
		Parent: "parent", ForkedFrom: "fork", Agent: "a", Profile: "main", Mode: umpire.ModeAuto, AllowBypass: true,
		Headless: true, External: true, AddDirs: []string{"/x", "/y"}, State: umpire.SessionWaiting,
		Permission: umpire.StateWaiting, Pending: 2, Blocked: &umpire.Blocked{Code: umpire.CodeMode, Detail: "why"},
		Epoch: 3, Runner: "host", Runners: []string{"host 2", "host 3"}, LeaseUntil: b.later(),
		Turn: 4, DenialsInRow: 5, Denials: 6, CreatedAt: b.later(),
		ActiveAt: b.later(), EndedAt: b.later(),
	}
	plain := umpire.Session{ID: "plain"}
	for _, want := range []umpire.Session{full, plain} {
		b.update(func(tx *store.Tx) error { return tx.Sessions.Insert(want) })
		b.sameSession(want)
		want.Dir, want.Mode, want.Epoch, want.Blocked, want.LeaseUntil = "/other", umpire.ModePlan, want.Epoch+1, nil,
			time.Time{}
		b.update(func(tx *store.Tx) error { return tx.Sessions.Save(want) })
		b.sameSession(want)
		b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Sessions.Insert(want) })
	}
	b.refuse(umpire.ErrNotFound, func(tx *store.Tx) error { return tx.Sessions.Save(umpire.Session{ID: "nobody"}) })
	b.refuse(umpire.ErrNotFound, func(tx *store.Tx) error { return tx.Sessions.Delete("nobody") })
	b.refuse(umpire.ErrNotFound, func(tx *store.Tx) error {
		_, err := tx.Sessions.Lock("nobody")
		return err
	})
}

func (b *bench) sameSession(want umpire.Session) {
	b.Helper()
	b.update(func(tx *store.Tx) error {
		got, err := tx.Sessions.Lock(want.ID)
		if diff := cmp.Diff(want, got); diff != "" {
			b.Errorf("Sessions.Lock (-want +got):\n%s", diff)
		}
		return err
	})
	b.view(func(tx *store.Tx) error {
		got, err := tx.Sessions.Get(want.ID)
		if diff := cmp.Diff(want, got); diff != "" {
			b.Errorf("Session (-want +got):\n%s", diff)
		}
		return err
	})
}

func sessionsAreFound(b *bench) {
	var middle time.Time
	for i := range 5 {
		s := umpire.Session{ID: umpire.SessionID(fmt.Sprint("s", i)), Project: umpire.ProjectID(fmt.Sprint("p", i%2)),
			ActiveAt: b.later()}
		s.IsRoot, s.Root, s.Agent = i != 3, "/p", fmt.Sprint("a", i%2)
		if i > 2 {
			s.Parent = "s0"
		}
		if s.External = i == 4; i == 2 {
			s.State = umpire.SessionOver
		}
		if i > 0 {
			s.Runner = fmt.Sprint("r", i)
		}
		if i == 2 || i == 3 {
			s.Runners = []string{"shared"}
		}
		b.update(func(tx *store.Tx) error { return tx.Sessions.Insert(s) })
		if i == 2 {
			middle = s.ActiveAt
		}
	}
	for _, c := range []struct {
		query store.SessionQuery
		want  string
	}{
		{store.SessionQuery{}, "[s4 s3 s2 s1 s0]"},
		{store.SessionQuery{Limit: 2}, "[s4 s3]"},
		{store.SessionQuery{Project: "p0"}, "[s4 s2 s0]"},
		{store.SessionQuery{Project: "p0", Limit: 1}, "[s4]"},
		{store.SessionQuery{Project: "none"}, "[]"},
		{store.SessionQuery{After: "s2", AfterActiveAt: middle}, "[s1 s0]"},
		{store.SessionQuery{After: "s2", AfterActiveAt: middle, Limit: 1}, "[s1]"},
		{store.SessionQuery{After: "s20", AfterActiveAt: middle, Project: "p0"}, "[s2 s0]"},
		{store.SessionQuery{After: "s0", AfterActiveAt: middle.Add(-time.Hour)}, "[]"},
		{store.SessionQuery{Parent: "s0"}, "[s4 s3]"},
		{store.SessionQuery{Root: "/p"}, "[s1 s0]"},
		{store.SessionQuery{Root: "/p", Agent: "a0"}, "[s0]"},
		{store.SessionQuery{Root: "/q"}, "[]"},
		{store.SessionQuery{Parent: "s0", Project: "p1"}, "[s3]"},
		{store.SessionQuery{Held: true}, "[s3 s1]"},
		{store.SessionQuery{Runners: []string{"r1", "r2", "r4", "r9"}}, "[s4 s1]"},
		{store.SessionQuery{Runners: []string{"r0"}}, "[]"},
		{store.SessionQuery{Runners: []string{"r0", "shared"}}, "[s3]"},
		{store.SessionQuery{Runners: []string{"r1", "shared"}}, "[s3 s1]"},
	} {
		b.view(func(tx *store.Tx) error {
			found, err := tx.Sessions.List(c.query)
			ids := []umpire.SessionID{}
			for i := range found {
				ids = append(ids, found[i].ID)
			}
			if got := fmt.Sprint(ids); got != c.want {
				b.Errorf("Sessions(%+v) = %s, want %s", c.query, got, c.want)
			}
			return err
		})
	}
}

// lastRoot checks the last root session of a project; "" means that there must not be
// any. It also checks the index of sessions.
func (b *bench) lastRoot(project umpire.ProjectID, want umpire.SessionID) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		got, err := tx.Sessions.LastRoot(project)
		if want == "" && is(err, umpire.ErrNotFound) {
			return nil
		}
		if got != want {
			b.Errorf("LastRoot(%q) = %q, want %q", project, got, want)
		}
		return err
	})
	const astray = `SELECT COUNT(*) FROM (
		SELECT session_id, project_id FROM sessions WHERE project_id IS NOT NULL EXCEPT SELECT session_id, project_id
			FROM project_sessions
		) AS a`
	const stale = `SELECT COUNT(*) FROM (
		SELECT session_id, project_id FROM project_sessions EXCEPT SELECT session_id, project_id FROM sessions) AS a`
	for _, query := range []string{astray, stale} {
		var n int
		if err := b.db.Raw.QueryRowContext(b.Context(), query).Scan(&n); err != nil || n > 0 {
			b.Errorf("%d sessions differ from the index of their project (%v): %s", n, err, query)
		}
	}
}

func indexesFollow(b *bench) {
	b.lastRoot("p", "")
	one, two := b.session("one"), b.session("two")
	b.lastRoot("p", "two")
	save := func(s *umpire.Session) {
		b.Helper()
		b.update(func(tx *store.Tx) error { return tx.Sessions.Save(*s) })
	}
	one.ActiveAt = b.later()
	save(&one)
	b.lastRoot("p", "one")

	b.update(func(tx *store.Tx) error {
		return tx.Sessions.Insert(umpire.Session{ID: "child", Project: "p", ActiveAt: b.later()})
	})
	b.lastRoot("p", "one") // a session that is not a root is never the last one
	one.IsRoot = false
	save(&one)
	b.lastRoot("p", "two")
	two.IsRoot = false
	save(&two)
	b.lastRoot("p", "")
	two.IsRoot = true
	save(&two)
	b.lastRoot("p", "two")

	// A session from before projects existed is in no index until it gets a project, once.
	old := umpire.Session{ID: "old", IsRoot: true, ActiveAt: b.later()}
	b.update(func(tx *store.Tx) error { return tx.Sessions.Insert(old) })
	b.lastRoot("p", "two")
	old.Project = "p"
	save(&old)
	b.sameSession(old)
	b.lastRoot("p", "old")
	old.Project = "q"
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Sessions.Save(old) })
	old.Project = ""
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Sessions.Save(old) })
	b.lastRoot("p", "old")
	b.lastRoot("q", "")

	// A failed update leaves the indexes unchanged.
	b.refuse(errUndo, func(tx *store.Tx) error {
		if err := tx.Sessions.Insert(umpire.Session{ID: "never", Project: "p", IsRoot: true,
			ActiveAt: b.later()}); err != nil {
			return err
		}
		return errUndo
	})
	b.lastRoot("p", "old")
}

func deletesRepoint(b *bench) {
	for _, id := range []umpire.SessionID{"one", "two", "three"} {
		b.session(id)
	}
	b.update(func(tx *store.Tx) error {
		return tx.Sessions.Insert(umpire.Session{ID: "child", Project: "p", ActiveAt: b.later()})
	})
	remove := func(id umpire.SessionID) {
		b.Helper()
		b.update(func(tx *store.Tx) error { return tx.Sessions.Delete(id) })
	}
	b.lastRoot("p", "three")
	remove("two")
	b.lastRoot("p", "three")
	remove("three")
	b.lastRoot("p", "one")
	remove("child")
	b.lastRoot("p", "one")
	remove("one")
	b.lastRoot("p", "")
}

// indexesAtOnce adds, changes and removes sessions of one project concurrently: the
// latest one must be found in any commit order.
func indexesAtOnce(b *bench) {
	const writers, rounds = 6, 12
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				id := umpire.SessionID(fmt.Sprintf("s%d", w))
				at := time.UnixMicro(int64(1_000_000 + i*writers + (w*5)%writers)).UTC()
				err := b.store.Update(b.Context(), func(tx *store.Tx) error {
					s, err := tx.Sessions.Lock(id)
					if is(err, umpire.ErrNotFound) {
						return tx.Sessions.Insert(umpire.Session{ID: id, Project: "p", IsRoot: true, ActiveAt: at})
					}
					if err == nil && i%5 == 4 && w%2 == 0 {
						return tx.Sessions.Delete(id)
					}
					s.ActiveAt = at
					return orElse(err, func() error { return tx.Sessions.Save(s) })
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var want umpire.SessionID
	b.view(func(tx *store.Tx) error {
		latest, err := tx.Sessions.List(store.SessionQuery{Project: "p", Limit: 1})
		if len(latest) > 0 {
			want = latest[0].ID
		}
		return err
	})
	b.lastRoot("p", want)
}

func orElse(err error, f func() error) error {
	if err != nil {
		return err
	}
	return f()
}

func deleteKeepsEvents(b *bench) {
	s := b.session("s")
	other := b.session("other")
	b.play("s", "b", ways[umpire.CallSettled])
	b.play("other", "b", ways[umpire.CallAsked])
	b.update(func(tx *store.Tx) error {
		for _, g := range []store.GrantRow{
			{ID: "session", Session: s.ID, Scope: umpire.ScopeSession, Project: "p"},
			{ID: "project", Scope: umpire.ScopeProject, Project: "p"},
		} {
			if err := tx.Grants.Insert(g); err != nil {
				return err
			}
		}
		err1 := tx.Messages.Append(s.ID, store.MessageRow{Role: "user"})
		_, err2 := tx.Prompts.Queue(s.ID, store.PromptRow{})
		_, err3 := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: s.ID, At: b.now})
		return all(func() error { return err1 }, func() error { return err2 }, func() error { return err3 })
	})
	b.update(func(tx *store.Tx) error { return tx.Sessions.Delete(s.ID) })
	for table, want := range map[string]int{
		"sessions": 1, "project_sessions": 1, "batches": 1, "calls": 2, "asks": 1, "answers": 0, "executions": 0,
		"results": 0, "grants": 1, "messages": 0, "prompts": 0, "events": 7,
	} {
		var n int
		if err := b.db.Raw.QueryRowContext(b.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil ||
			n != want {
			b.Errorf("%s has %d rows (%v), want %d", table, n, err, want)
		}
	}
	b.sameSession(other)
	// The session may come back, and its events continue.
	b.session("s")
	b.update(func(tx *store.Tx) error {
		_, err := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: s.ID, At: b.now})
		return err
	})
	b.whole()
}

func workspaces(b *bench) {
	b.view(func(tx *store.Tx) error {
		w, err := tx.Workspaces.Get("p", "/g")
		if want := (store.WorkspaceRow{Project: "p", GitDir: "/g"}); !is(err, umpire.ErrNotFound) || w != want {
			b.Errorf("Workspace = %+v, %v, want %+v and not found", w, err, want)
		}
		return nil
	})
	b.session("s") // without a git directory, so its root is used
	own := store.WorkspaceRow{Project: "p", GitDir: "/r", AllowAll: true, Mode: new(umpire.ModePlan)}
	for _, want := range []store.WorkspaceRow{
		own,
		{Project: "p", GitDir: "/g", AllowAll: true},
		{Project: "p", GitDir: "/g", Mode: new(umpire.ModePlan)},
		{Project: "p", GitDir: "/h", AllowAll: true, Mode: new(umpire.ModeReject)},
	} {
		b.update(func(tx *store.Tx) error { return tx.Workspaces.Save(want) })
		b.view(func(tx *store.Tx) error {
			got, err := tx.Workspaces.Get(want.Project, want.GitDir)
			if diff := cmp.Diff(want, got); diff != "" {
				b.Errorf("Workspace (-want +got):\n%s", diff)
			}
			return err
		})
	}
	b.view(func(tx *store.Tx) error {
		got, err := tx.Workspaces.GetOf("s")
		if diff := cmp.Diff(own, got); diff != "" {
			b.Errorf("Workspaces.GetOf (-want +got):\n%s", diff)
		}
		return err
	})
}
