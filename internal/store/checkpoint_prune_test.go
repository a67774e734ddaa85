package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// prune removes sessions older than age, using a key.
func (b *bench) prune(key *store.SigningKey, age time.Duration) (removed []umpire.SessionID) {
	b.Helper()
	b.with(func(ctx context.Context, s *store.Store) error {
		p := store.Pruner{Store: s, Key: key, Actor: "gate", Now: func() time.Time {
			return noon.Add(time.Duration(b.made) * time.Second)
		}}
		p.Each = func(p *store.Pruned) { removed = append(removed, p.Session) }
		sessions, _, err := p.Prune(ctx, age)
		if int(sessions) != len(removed) {
			b.Errorf("Prune says %d of %v", sessions, removed)
		}
		return err
	})
	b.made++
	return removed
}

// pruned returns a store whose session "b" was pruned, with checkpoints from before, from its middle and from after.
func pruned(t *testing.T) (b *bench, lines []string) {
	b = newBench(t)
	b.append("b", "b")
	lines = append(lines, b.head())
	if breaks := b.renew(); len(breaks) > 0 {
		t.Fatal(breaks)
	}
	b.append("b", "", "c")
	lines = append(lines, b.head())
	b.append("a", "c", "a")
	b.raw(`CREATE TABLE kept AS SELECT * FROM events WHERE session_id = 'b'`)
	if removed := b.prune(b.key, 4*time.Second); !slices.Equal(removed, []umpire.SessionID{"b"}) {
		t.Fatalf("pruned %v", removed)
	}
	return b, append(lines, b.head())
}

// TestPruned checks that pruned sessions are not breaks, even for checkpoints, and that they are counted.
func TestPruned(t *testing.T) {
	t.Parallel()
	b, lines := pruned(t)
	check := func(when string, sessions, events int64) {
		t.Helper()
		for i, line := range lines {
			b.fine(when+" "+string(rune('0'+i)), line)
		}
		if breaks := b.renew(); len(breaks) > 0 {
			t.Errorf("%s: renewed: %v", when, breaks)
		}
		counted := store.AcceptedPrunings{Keys: []string{b.key.ID()}}
		b.with(func(ctx context.Context, s *store.Store) error {
			_, err := s.Verify(ctx, counted.Accept)
			return err
		})
		if counted.Sessions != sessions || counted.Events != events || counted.First == nil || counted.Last.Before(*counted.First) {
			t.Errorf("%s: counted %+v", when, counted)
		}
	}
	check("pruned", 1, 3)
	b.append("b", "b")
	lines = append(lines, b.head())
	check("come again", 1, 3)
	b.prune(b.key, -time.Second)
	check("all pruned", 4, 3+2+2+2)
	if removed := b.prune(b.key, -time.Second); len(removed) > 0 {
		t.Errorf("pruned again: %v", removed)
	}
}

// TestForgedPrunings checks that false claims of pruning are detected, in all variants.
func TestForgedPrunings(t *testing.T) {
	t.Parallel()
	// forge removes session "c" as if it was pruned, with data derived from the pruning of "b".
	forge := func(change func(data map[string]any)) func(*bench) {
		return func(b *bench) {
			b.with(func(ctx context.Context, s *store.Store) error {
				return s.Update(ctx, func(tx *store.Tx) error {
					p, err := tx.Prunings.Prepare("c", noon.Add(time.Hour))
					if err != nil {
						return err
					}
					last, err := tx.Prunings.Last()
					if err != nil {
						return err
					}
					data := map[string]any{}
					if err := json.Unmarshal(last.Data, &data); err != nil {
						return err
					}
					change(data)
					if last.Data, err = json.Marshal(data); err != nil {
						return err
					}
					e, err := tx.Events.Append(last)
					if err != nil {
						return err
					}
					return tx.Prunings.Insert(&p, e.Seq)
				})
			})
		}
	}
	for name, tt := range map[string]struct {
		forge func(*bench)
		want  string
	}{
		"by another key": {
			func(b *bench) { b.prune(newKey(b.T, filepath.Join(b.TempDir(), "keys")), 0) }, "signed by the key",
		},
		"the signature of another session": {forge(func(map[string]any) {}), "is not what the signature is over"},
		"a session named that was not signed": {
			forge(func(data map[string]any) { data["session_id"] = "c" }), "is not what the signature is over",
		},
		"no signature": {forge(func(data map[string]any) { delete(data, "signed") }), "not a signed checkpoint"},
		"the event altered": {
			func(b *bench) {
				b.raw(`UPDATE events SET data = replace(data, '"events":3', '"events":2') WHERE kind = 'EventsPruned'`)
			}, "was altered",
		},
		"the event removed": {func(b *bench) { b.remove(`kind = 'EventsPruned'`) }, "no event says so"},
		"the event twice": {
			func(b *bench) {
				b.with(func(ctx context.Context, s *store.Store) error {
					return s.Update(ctx, func(tx *store.Tx) error {
						last, err := tx.Prunings.Last()
						if err == nil {
							_, err = tx.Events.Append(last)
						}
						return err
					})
				})
				b.raw(`INSERT INTO prunings SELECT session_id, (SELECT MAX(seq) FROM events), trace FROM prunings`)
			}, "cannot be all that it had",
		},
		"only the event twice": {
			func(b *bench) {
				b.raw(`INSERT INTO events SELECT seq + 1, '', session_seq + 1, at, kind, project_id, batch_id, call_id, request_id, agent,
					tool, permission_state, permission_type, risk_level, blocked_reason, verdict, reason, reason_code, rule_id, scope,
					actor, accesses, data, hash, hash FROM events WHERE kind = 'EventsPruned'`)
			}, "what it says was pruned is not what was",
		},
		"the record of it removed": {func(b *bench) { b.raw(`DELETE FROM prunings`) }, "and 3 were written"},
		"the trace altered": {
			func(b *bench) { b.raw(`UPDATE prunings SET trace = CAST(substr(trace, 1, 80) AS BLOB)`) }, "is not what the signature is over",
		},
		"a hash in the trace altered": {
			func(b *bench) {
				b.raw(`UPDATE prunings SET trace = CAST(substr(trace, 1, 50) || x'00' || substr(trace, 52) AS BLOB)`)
			}, "is not what the signature is over",
		},
		"the events still there": {func(b *bench) { b.raw(`INSERT INTO events SELECT * FROM kept`) }, "there is none before it|does not follow"},
		"half removed":           {func(b *bench) { b.raw(`INSERT INTO events SELECT * FROM kept WHERE session_seq = 3`) }, "does not follow"},
		"a session without one":  {func(b *bench) { b.raw(`DELETE FROM events WHERE session_id = 'c'`) }, "the session has 0 events, and 2 were written"},
		"events after it gone": {
			func(b *bench) {
				b.append("b", "b")
				b.raw(`DELETE FROM events WHERE session_id = 'b' AND session_seq = 4`)
			}, "does not follow event 3",
		},
		"removed with all that tells of it": {
			func(b *bench) {
				b.raw(`DELETE FROM prunings`)
				b.remove(`kind = 'EventsPruned'`)
			}, "the session is missing: it is known to have had 2 events",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, lines := pruned(t)
			tt.forge(b)
			chain, record, since := b.problems(lines[1])
			var said []string
			for _, found := range slices.Concat(chain, record, since) {
				said = append(said, found.Problem)
			}
			if all := strings.Join(said, "\n"); !slices.ContainsFunc(strings.Split(tt.want, "|"), func(want string) bool {
				return strings.Contains(all, want)
			}) {
				t.Errorf("found:\n%s\nwant %q", all, tt.want)
			}
		})
	}
}

// TestOthersWriteBetween checks that other writes succeed between the removals of sessions.
func TestOthersWriteBetween(t *testing.T) {
	t.Parallel()
	const sessions = 20
	b := newBench(t)
	for i := range sessions {
		b.append(slices.Repeat([]umpire.SessionID{umpire.SessionID(string(rune('a' + i)))}, 300)...)
	}
	b.with(func(ctx context.Context, s *store.Store) error {
		writing, stop := context.WithCancel(ctx)
		defer stop()
		var written atomic.Int64
		ended := make(chan error, 1)
		go func() {
			for writing.Err() == nil {
				if err := s.Update(ctx, func(tx *store.Tx) error {
					_, err := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, At: noon})
					return err
				}); err != nil {
					ended <- err
					return
				}
				written.Add(1)
			}
			ended <- nil
		}()
		var seen []int64
		p := store.Pruner{Store: s, Key: b.key, Now: func() time.Time { return noon.AddDate(0, 0, 90) }}
		p.Each = func(*store.Pruned) { seen = append(seen, written.Load()) }
		removed, events, err := p.Prune(ctx, time.Hour)
		stop()
		if removed != sessions || events != 300*sessions {
			t.Errorf("removed %d sessions with %d events", removed, events)
		}
		// The machine decides how often others get a turn, but they must get some.
		if len(slices.Compact(seen)) < 2 {
			t.Errorf("nothing was written between %d sessions", sessions)
		}
		return errors.Join(err, <-ended)
	})
}

// TestDamagedSessionsStay checks that sessions that cannot be pruned do not prevent the
// removal of others, even if they fill a page, and that the error reports them.
func TestDamagedSessionsStay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const damaged = 100 // as many as are listed at a time
	for i := range damaged {
		b.append(umpire.SessionID(fmt.Sprintf("damaged%d", i)))
	}
	b.append("sound", "sound", "other")
	b.raw(`UPDATE events SET hash = 'not a hash' WHERE session_id LIKE 'damaged%'`)
	b.with(func(ctx context.Context, s *store.Store) error {
		p := store.Pruner{Store: s, Key: b.key, Actor: "gate", Now: func() time.Time { return noon.AddDate(0, 0, 90) }}
		sessions, events, err := p.Prune(ctx, time.Hour)
		if sessions != 2 || events != 3 {
			t.Errorf("removed %d sessions with %d events", sessions, events)
		}
		const want = `prune session "damaged0": .*; further sessions that cannot be pruned: 99$`
		if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("the error is %v, want %s", err, want)
		}
		return nil
	})
}
