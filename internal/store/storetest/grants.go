package storetest

import (
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

func grantsInForce(b *bench) {
	for id, clone := range map[umpire.SessionID][2]string{
		"s": {"p", "/g"}, "t": {"p", "/g"}, "none": {"p", "/g"}, "clone": {"p", "/h"}, "project": {"q", "/g"},
	} {
		s := umpire.Session{
			ID: id, Project: umpire.ProjectID(clone[0]), GitDir: clone[1], Root: "/r", Dir: "/r", IsRoot: true,
			State: umpire.SessionIdle, Permission: umpire.StateIdle, CreatedAt: b.later(), ActiveAt: b.now,
		}
		b.update(func(tx *store.Tx) error { return tx.Sessions.Insert(s) })
	}
	start := b.later()
	for _, g := range []store.GrantRow{
		{
			ID: "full", Scope: umpire.ScopeSession, Project: "p", GitDir: "/g", Session: "s", Call: "c", Request: "r",
			Created: b.later(), MaxUses: 3, By: "me",
			Grant: umpire.Grant{
				Scope: umpire.ScopeSession, Remembered: true, Tool: "Bash", Exact: "ls",
				Match:   umpire.Match{CommandPrefix: "git log", PathGlob: "/x/**"},
				Cap:     umpire.Cap{MaxConsequence: umpire.Outward, Options: umpire.OptionsShown},
				Network: true, Shown: "d", Reach: []string{"a.example:443"},
				ExpiresAt: b.now.Add(time.Hour),
			},
		},
		{ID: "once", Scope: umpire.ScopeOnce, Project: "p", GitDir: "/g", Session: "s", Call: "c1", Created: b.later(),
			MaxUses: 1},
		{ID: "other session", Scope: umpire.ScopeSession, Project: "p", GitDir: "/g", Session: "t", Created: b.later()},
		{ID: "project", Scope: umpire.ScopeProject, Project: "p", GitDir: "/g", Created: b.later()},
		{ID: "other clone", Scope: umpire.ScopeProject, Project: "p", GitDir: "/h", Created: b.later()},
		{ID: "other project", Scope: umpire.ScopeProject, Project: "q", GitDir: "/g", Created: b.later()},
		{ID: "global", Scope: umpire.ScopeGlobal, Created: b.later()},
		{ID: "short", Scope: umpire.ScopeProject, Project: "p", GitDir: "/g", Created: b.later(),
			Grant: umpire.Grant{ExpiresAt: start.Add(time.Minute)}},
	} {
		g.Grant.ID, g.Grant.Scope = g.ID, g.Scope
		b.update(func(tx *store.Tx) error { return tx.Grants.Insert(g) })
		b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Grants.Insert(g) })
		if g.ID == "full" {
			b.view(func(tx *store.Tx) error {
				got, err := tx.Grants.List(store.GrantQuery{Session: "s", Now: start})
				if diff := cmp.Diff([]store.GrantRow{g}, got); diff != "" {
					b.Errorf("Grants (-want +got):\n%s", diff)
				}
				return err
			})
		}
	}
	for _, c := range []struct {
		query store.GrantQuery
		want  string
	}{
		{store.GrantQuery{Session: "s", Now: start}, "[full project global short]"},
		{store.GrantQuery{Session: "s", Call: "c1", Now: start},
			"[full once project global short]"},
		{store.GrantQuery{Session: "s", Call: "c2", Now: start},
			"[full project global short]"},
		{store.GrantQuery{Session: "t", Call: "c1", Now: start},
			"[other session project global short]"},
		{store.GrantQuery{Session: "clone", Now: start}, "[other clone global]"},
		{store.GrantQuery{Session: "project", Now: start}, "[other project global]"},
		// short expires at that moment
		{store.GrantQuery{Session: "none", Now: start.Add(time.Minute)}, "[project global]"},
		{store.GrantQuery{Session: "s", Now: start.Add(2 * time.Hour)}, "[project global]"},
		{store.GrantQuery{Project: "p"}, "[full once other session project other clone short]"},
	} {
		b.grants(c.query, c.want)
	}
}

func (b *bench) grants(query store.GrantQuery, want string) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		found, err := tx.Grants.List(query)
		ids := []string{}
		for i := range found {
			ids = append(ids, found[i].ID)
		}
		if got := fmt.Sprint(ids); got != want {
			b.Errorf("Grants(%+v) = %s, want %s", query, got, want)
		}
		return err
	})
}

func grantsUsed(b *bench) {
	b.session("s")
	b.update(func(tx *store.Tx) error {
		return all(
			func() error {
				return tx.Grants.Insert(store.GrantRow{ID: "two", Session: "s", Scope: umpire.ScopeSession, MaxUses: 2})
			},
			func() error {
				return tx.Grants.Insert(store.GrantRow{ID: "any", Session: "s", Scope: umpire.ScopeSession})
			},
		)
	})
	use := func(id string) func(*store.Tx) error { return func(tx *store.Tx) error { return tx.Grants.Use(id) } }
	for range 2 {
		b.update(use("two"))
		b.update(use("any"))
	}
	b.refuse(store.ErrConflict, use("two"))
	b.grants(store.GrantQuery{Session: "s", Now: b.now}, "[any]")
	b.update(func(tx *store.Tx) error { return tx.Grants.Revoke("any", b.later()) })
	b.refuse(store.ErrConflict, use("any"))
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Grants.Revoke("any", b.later()) })
	b.refuse(store.ErrConflict, use("none"))
	b.refuse(umpire.ErrNotFound, func(tx *store.Tx) error { return tx.Grants.Revoke("none", b.now) })
	b.grants(store.GrantQuery{Session: "s", Now: b.now}, "[]")
}

// grantOnce checks that an approved call starts with its last grant in force at the time of the answer.
func grantOnce(b *bench) {
	b.session("s")
	b.play("s", "b", func(p *play) error { return p.submit("", asked("c1"), asked("c2")) })
	b.play("s", "b", func(p *play) error { return p.answer("c1", umpire.Approve) })
	var answered store.AnswerRow
	b.view(func(tx *store.Tx) (err error) {
		answered, err = tx.Answers.Get("s/c1/1")
		return err
	})
	once := func(want string) {
		b.Helper()
		b.view(func(tx *store.Tx) error {
			got, err := tx.Grants.GetOnce("s", "c1", "s/c1/1")
			if got != want {
				b.Errorf("Grants.GetOnce = %q, want %q", got, want)
			}
			return err
		})
	}
	once("")
	for _, g := range []store.GrantRow{
		{ID: "first", Call: "c1", MaxUses: 1},
		{ID: "used", Call: "c1", MaxUses: 1, Grant: umpire.Grant{ExpiresAt: answered.At.Add(time.Microsecond)}},
		{ID: "late", Call: "c1", Grant: umpire.Grant{ExpiresAt: answered.At}},
		{ID: "other call", Call: "c2"},
	} {
		g.Scope, g.Session, g.Created = umpire.ScopeOnce, "s", b.later()
		b.update(func(tx *store.Tx) error { return tx.Grants.Insert(g) })
	}
	once("used")
	b.update(func(tx *store.Tx) error { return tx.Grants.Use("used") })
	once("first")
	b.update(func(tx *store.Tx) error { return tx.Grants.Revoke("first", b.later()) })
	once("")
}

func grantsForgotten(b *bench) {
	b.session("s") // without a git directory, so its root is used
	remembered := umpire.Grant{Remembered: true}
	b.update(func(tx *store.Tx) error {
		for _, g := range []store.GrantRow{
			{ID: "1", Scope: umpire.ScopeProject, Project: "p", GitDir: "/r", Grant: remembered},
			{ID: "2", Scope: umpire.ScopeProject, Project: "p", GitDir: "/r", Grant: remembered},
			{ID: "3", Scope: umpire.ScopeProject, Project: "p", GitDir: "/r"},
			{ID: "4", Scope: umpire.ScopeProject, Project: "p", GitDir: "/h", Grant: remembered},
		} {
			if err := tx.Grants.Insert(g); err != nil {
				return err
			}
		}
		return nil
	})
	for _, want := range []int{2, 0} {
		b.update(func(tx *store.Tx) error {
			n, err := tx.Grants.ForgetRemembered("p", "/r", b.later())
			if n != want {
				b.Errorf("Grants.ForgetRemembered = %d, want %d", n, want)
			}
			return err
		})
	}
	b.grants(store.GrantQuery{Session: "s", Now: b.now}, "[3]")
	b.grants(store.GrantQuery{Project: "p"}, "[1 2 3 4]")
}
