package store_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
	"github.com/umpirehq/umpire/internal/store/sqlite"
	"github.com/umpirehq/umpire/internal/store/storetest"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// A bench is a store in a real file, with its record.
type bench struct {
	*testing.T
	file   string
	key    *store.SigningKey
	record store.CheckpointRecord
	made   int // number of events, each later than the one before
}

func newBench(t *testing.T) *bench {
	t.Helper()
	folder := t.TempDir()
	b := &bench{T: t, file: filepath.Join(folder, "umpire.db"), key: newKey(t, filepath.Join(folder, "keys"))}
	b.record = store.CheckpointRecord{Path: filepath.Join(folder, "checkpoints", "a.json"), Store: "a", Key: b.key}
	return b
}

func newKey(t *testing.T, folder string) *store.SigningKey {
	t.Helper()
	key, err := store.OpenKey(folder)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// with opens the store for f.
func (b *bench) with(f func(context.Context, *store.Store) error) {
	b.Helper()
	s, err := sqlite.Open(b.Context(), b.file)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(f(b.Context(), s), s.Close()); err != nil {
		b.Fatal(err)
	}
}

// append adds one event per session.
func (b *bench) append(sessions ...umpire.SessionID) {
	b.Helper()
	b.with(func(ctx context.Context, s *store.Store) error {
		return s.Update(ctx, func(tx *store.Tx) error {
			for _, session := range sessions {
				b.made++
				at := noon.Add(time.Duration(b.made) * time.Second)
				e := umpire.Event{Kind: umpire.EventPermissionApproved, Session: session, Actor: "person", Risk: "high", At: at}
				if _, err := tx.Events.Append(e); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// head returns the output of `umpire timeline head`.
func (b *bench) head() (line string) {
	b.Helper()
	b.with(func(ctx context.Context, s *store.Store) error {
		return s.View(ctx, func(tx *store.Tx) error {
			c, _, err := store.TakeCheckpoint(tx, noon)
			if err != nil {
				return err
			}
			line, err = b.key.Sign(&c)
			return err
		})
	})
	return line
}

// renew updates the record and returns its breaks.
func (b *bench) renew() (breaks []store.Break) {
	b.Helper()
	b.with(func(ctx context.Context, s *store.Store) (err error) {
		breaks, err = b.record.Renew(ctx, s, noon)
		return err
	})
	return breaks
}

// problems returns the breaks found by the chain, the record and a checkpoint.
func (b *bench) problems(line string) (chain, record, since []store.Break) {
	b.Helper()
	signed, err := store.ParseCheckpoint(line)
	if err != nil {
		b.Fatal(err)
	}
	b.with(func(ctx context.Context, s *store.Store) error {
		prunings := store.AcceptedPrunings{Keys: []string{b.key.ID()}}
		if chain, err = s.Verify(ctx, prunings.Accept); err != nil {
			return err
		}
		return s.View(ctx, func(tx *store.Tx) error {
			if record, err = b.record.Compare(tx); err != nil {
				return err
			}
			since, err = signed.Compare(tx)
			return err
		})
	})
	return chain, record, since
}

// fine checks that there are no breaks.
func (b *bench) fine(name, line string) {
	b.Helper()
	chain, record, since := b.problems(line)
	if len(chain)+len(record)+len(since) > 0 {
		b.Errorf("%s: chain %v, record %v, checkpoint %v", name, chain, record, since)
	}
}

// TestForgeries checks that although a forged store has an intact chain, both its record
// and a checkpoint detect the forgery.
func TestForgeries(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		forge  func(*bench)
		record []string // its breaks, in parts of "seq session problem"
		since  string
	}{
		"actors and risks rewritten": {
			func(b *bench) { b.rewrite(func(e *umpire.Event) { e.Actor, e.Risk = "tui", "low" }) },
			[]string{"5  event 1 of the session is not the one", "6 a event 3", "8 b event 3", "4 c event 1"}, "begin with another event",
		},
		"the end of a session rewritten": {
			func(b *bench) {
				b.rewrite(func(e *umpire.Event) { e.Actor = strings.Repeat("person", 1+int(e.Seq)/7) })
			},
			[]string{"8 b event 3"}, "not the same",
		},
		"the last four removed": {
			func(b *bench) { b.remove("seq > 4") },
			[]string{"5  is missing", "6 a 1 of the 3 events", "8 b 2 of the 3"}, "4 events and 0 sessions are missing",
		},
		"a session removed": {func(b *bench) { b.remove("session_id = 'b'") }, []string{"8 b the session is missing: it is known to have had 3 events"}, "3 events and 1 sessions are missing"},
		"all removed":       {func(b *bench) { b.remove("1") }, []string{"5  missing", "6 a missing", "8 b missing", "4 c missing"}, "none is left"},
		"the file deleted":  {(*bench).deleteFile, []string{"5  missing", "6 a missing", "8 b missing", "4 c missing"}, "none is left"},
		"a session moved to the end": {
			func(b *bench) {
				b.raw(`UPDATE events SET seq = 90 WHERE seq = 4`, `UPDATE streams SET seq = 90 WHERE session_id = 'c'`)
			},
			[]string{"4 c not the one that is known"}, "1 events and 1 sessions are missing",
		},
		"another store in its place": {
			func(b *bench) { b.deleteFile(); b.append("", "b", "a", "b", "c", "a", "b", "a") },
			[]string{"5  the one that is known", "6 a the one that is known", "8 b the one", "4 c the one"}, "another store",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.append("a", "b", "a", "c", "", "a", "b", "b")
			line := b.head()
			if breaks := b.renew(); len(breaks) > 0 {
				t.Fatal(breaks)
			}
			b.fine("before", line)
			known, err := os.ReadFile(b.record.Path)
			if err != nil {
				t.Fatal(err)
			}
			tt.forge(b)
			chain, record, since := b.problems(line)
			if len(chain) > 0 {
				t.Errorf("the forgery is bad, since its chain is broken: %v", chain)
			}
			b.said(record, tt.record)
			if len(since) != 1 || !strings.Contains(since[0].Problem, tt.since) {
				t.Errorf("the checkpoint says %v, want %q", since, tt.since)
			}
			// Later events must not make the record forget the loss.
			b.append("a", "b", "c", "new", "")
			if later := b.renew(); len(later) != len(record) {
				t.Errorf("with later events %v is found, and before %v", later, record)
			}
			if after, err := os.ReadFile(b.record.Path); err != nil || string(after) != string(known) {
				t.Errorf("the record of a forged store was renewed: %s, %v", after, err)
			}
		})
	}
}

// said compares breaks with the expected ones.
func (b *bench) said(got []store.Break, want []string) {
	b.Helper()
	for i, g := range got {
		if i >= len(want) {
			break
		}
		where := fmt.Sprintf("%d %s ", g.Seq, g.Session)
		problem, ok := strings.CutPrefix(want[i], where)
		if !ok || !strings.Contains(g.Problem, problem) {
			b.Errorf("break %d is %+v, want %q", i, g, want[i])
		}
	}
	if len(got) != len(want) {
		b.Errorf("%d breaks, want %d: %+v", len(got), len(want), got)
	}
}

// TestWhatHappensByItself checks that restarts and deleted sessions, even many of them, raise no alarm.
func TestWhatHappensByItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	empty := b.head()
	if breaks := b.renew(); len(breaks) > 0 {
		t.Errorf("an empty store: %v", breaks)
	}
	if _, err := os.Stat(b.record.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is known of an empty store: %v", err)
	}
	lines := []string{empty}
	for i := range 5 {
		var sessions []umpire.SessionID
		for n := range 300 {
			sessions = append(sessions, umpire.SessionID(fmt.Sprintf("s%d", n%(1+50*i))))
		}
		b.append(append(sessions, "")...)
		if breaks := b.renew(); len(breaks) > 0 {
			t.Errorf("round %d: %v", i, breaks)
		}
		lines = append(lines, b.head())
	}
	b.with(func(ctx context.Context, s *store.Store) error {
		return s.Update(ctx, func(tx *store.Tx) error {
			if err := tx.Sessions.Insert(umpire.Session{ID: "s3", IsRoot: true, State: umpire.SessionIdle, CreatedAt: noon, ActiveAt: noon}); err != nil {
				return err
			}
			return tx.Sessions.Delete("s3")
		})
	})
	for i, line := range lines {
		b.fine(fmt.Sprintf("checkpoint %d", i), line)
	}
}

// TestRecordsThatAreNotBelieved checks that a record not signed with the key is an alarm,
// and is not repaired by the next one.
func TestRecordsThatAreNotBelieved(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*bench)
		want   string
	}{
		"damaged": {func(b *bench) { b.edit(func(text string) string { return text[:40] }) }, "was damaged"},
		"a head edited": {func(b *bench) {
			b.edit(func(text string) string { return strings.Replace(text, `"events":2`, `"events":1`, 1) })
		}, "was altered"},
		"no signature": {func(b *bench) {
			b.edit(func(text string) string { return strings.Replace(text, "umpire-timeline-1", "x", 1) })
		}, "was altered"},
		"another key": {func(b *bench) { b.record.Key = newKey(b.T, b.TempDir()) }, "was signed by another key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.append("a", "a", "b")
			b.renew()
			tt.change(b)
			before, err := os.ReadFile(b.record.Path)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if breaks := b.renew(); len(breaks) == 0 || !strings.Contains(breaks[0].Problem, tt.want) {
					t.Errorf("Renew says %v, want %q", breaks, tt.want)
				}
				_, record, _ := b.problems(b.head())
				if len(record) == 0 || !strings.Contains(record[0].Problem, tt.want) {
					t.Errorf("Compare says %v, want %q", record, tt.want)
				}
			}
			if after, err := os.ReadFile(b.record.Path); err != nil || string(after) != string(before) {
				t.Errorf("the record was renewed: %s, %v", after, err)
			}
		})
	}
	b := newBench(t)
	b.append("a")
	b.renew()
	b.record.Key = nil
	breaks, err := b.record.Compare(nil)
	if err != nil || len(breaks) != 2 || !strings.Contains(breaks[0].Problem, "its key is missing") || breaks[1].Session != "a" {
		t.Errorf("without the store and the key: %v, %v", breaks, err)
	}
}

func (b *bench) edit(f func(string) string) {
	b.Helper()
	text, err := os.ReadFile(b.record.Path)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(b.record.Path, []byte(f(string(text))), 0o600); err != nil {
		b.Fatal(err)
	}
}

// TestSignatures checks that every part of a signed checkpoint is covered.
func TestSignatures(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := store.ReadKey(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadKey without a key: %v", err)
	}
	key := newKey(t, folder)
	again, err := store.ReadKey(folder)
	if err != nil || again.ID() != key.ID() {
		t.Fatalf("the key read again: %v", err)
	}
	c := store.Checkpoint{At: noon, Seq: 7, Events: 5, Sessions: 2, First: "f", Heads: "h"}
	line, err := key.Sign(&c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := store.ParseCheckpoint(line + "\n")
	if err != nil || got.Checkpoint != c || got.KeyID() != key.ID() {
		t.Fatalf("Parse = %+v, %v", got, err)
	}
	if strings.ContainsAny(line, " \t\n'\"$") {
		t.Errorf("the line has to be quoted: %s", line)
	}
	for i := range line {
		other := byte('A')
		if line[i] == other {
			other = 'B'
		}
		if _, err := store.ParseCheckpoint(line[:i] + string(other) + line[i+1:]); !errors.Is(err, store.ErrCheckpoint) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := store.ParseCheckpoint(line[:i]); !errors.Is(err, store.ErrCheckpoint) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	// A text with other content under the same signature.
	c.Events++
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(line, ".")
	parts[1] = base64.RawURLEncoding.EncodeToString(text)
	if _, err := store.ParseCheckpoint(strings.Join(parts, ".")); !errors.Is(err, store.ErrCheckpoint) {
		t.Errorf("another text under the same signature: %v", err)
	}
}

// raw changes the file like an attacker with access to it.
func (b *bench) raw(statements ...string) {
	b.Helper()
	b.forged(storetest.Forger{File: b.file}.Run(b.Context(), statements...))
}

// remove deletes events at the end of their streams, and all references to them.
func (b *bench) remove(which string) {
	b.Helper()
	b.forged(storetest.Forger{File: b.file}.Remove(b.Context(), which))
}

// rewrite changes events and recomputes every hash.
func (b *bench) rewrite(change func(*umpire.Event)) {
	b.Helper()
	var events []umpire.Event
	b.with(func(ctx context.Context, s *store.Store) error {
		return s.View(ctx, func(tx *store.Tx) (err error) {
			events, err = tx.Events.List(umpire.Filter{})
			return err
		})
	})
	b.forged(storetest.Forger{File: b.file}.Rewrite(b.Context(), events, change))
}

func (b *bench) forged(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// deleteFile removes the database and SQLite's files next to it.
func (b *bench) deleteFile() {
	b.Helper()
	files, err := filepath.Glob(b.file + "*")
	if err != nil || len(files) == 0 {
		b.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			b.Fatal(err)
		}
	}
}
