package sqlite

import (
	"database/sql"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// TestMigrationsAreWhole checks that a failing file leaves the previous version, and that
// the next start continues from there.
func TestMigrationsAreWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "umpire.db")
	files := fstest.MapFS{
		"0001_first.sql":  {Data: []byte("CREATE TABLE first (n INTEGER); INSERT INTO first VALUES (1);")},
		"0002_second.sql": {Data: []byte("CREATE TABLE second (n INTEGER); INSERT INTO nowhere VALUES (1);")},
	}
	if err := migrated(t, path, files); err == nil || !strings.Contains(err.Error(), "0002_second") {
		t.Errorf("a migration that fails: %v", err)
	}
	if got := tables(t, path); got != "first schema_migrations" {
		t.Errorf("tables %q after a migration that failed", got)
	}
	files["0002_second.sql"].Data = []byte("CREATE TABLE second (n INTEGER);")
	for range 2 { // the second time there is nothing to do
		if err := migrated(t, path, files); err != nil {
			t.Error(err)
		}
	}
	if got := tables(t, path); got != "first schema_migrations second" {
		t.Errorf("tables %q after all migrations", got)
	}
}

func TestMigrationsAreNumbered(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{"0002_first.sql"}, {"0001_first.sql", "0003_third.sql"}, {"first.sql"}, {"0001_a.sql", "0001_b.sql"}} {
		files := fstest.MapFS{}
		for _, name := range names {
			files[name] = &fstest.MapFile{Data: []byte("SELECT 1")}
		}
		if err := migrated(t, filepath.Join(t.TempDir(), "umpire.db"), files); err == nil || !strings.Contains(err.Error(), "want number") {
			t.Errorf("migrations %v: %v", names, err)
		}
	}
}

// migrated opens a store with other migrations.
func migrated(t *testing.T, path string, files fstest.MapFS) error {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	d := dialect(fault)
	d.Migrations = files
	s, err := store.New(t.Context(), db, d)
	if err != nil {
		return err
	}
	return s.Close()
}

func tables(t *testing.T, path string) (names string) {
	t.Helper()
	const query = `SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name)`
	if err := raw(t, dsn(path)).QueryRowContext(t.Context(), query).Scan(&names); err != nil {
		t.Fatal(err)
	}
	return names
}

// TestVerifyReadsToTheEnd covers a timeline that is longer than one page.
func TestVerifyReadsToTheEnd(t *testing.T) {
	t.Parallel()
	const events = 2100
	path := filepath.Join(t.TempDir(), "umpire.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		for i := range events {
			session := umpire.SessionID([]string{"a", "b"}[i%2])
			if _, err := tx.Events.Append(umpire.Event{Kind: umpire.EventNotice, Session: session, At: time.Unix(int64(i), 0)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if breaks, err := s.Verify(t.Context(), nil); err != nil || len(breaks) > 0 {
		t.Errorf("Verify: %v, %v", breaks, err)
	}
	db := raw(t, dsn(path))
	for _, statement := range []string{"DROP TRIGGER events_update", "UPDATE events SET reason = 'forged' WHERE seq = (SELECT MAX(seq) FROM events)"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if breaks, err := s.Verify(t.Context(), nil); err != nil || len(breaks) != 1 || breaks[0].Seq != events {
		t.Errorf("Verify after the last event was forged: %v, %v", breaks, err)
	}
}

// TestInputsOfOlderDatabases checks that a large input in the row of its call, from
// before inputs had a table, is read unchanged.
func TestInputsOfOlderDatabases(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "umpire.db")
	first, err := fs.ReadFile(dialect(fault).Migrations, "0001_store.sql")
	if err != nil {
		t.Fatal(err)
	}
	if err := migrated(t, path, fstest.MapFS{"0001_store.sql": {Data: first}}); err != nil {
		t.Fatal(err)
	}
	large := `{"command":"` + strings.Repeat("x", 1<<20) + `"}`
	if _, err := raw(t, dsn(path)).ExecContext(t.Context(), `
		INSERT INTO sessions (session_id, project_root, working_dir, worktree, git_dir, is_root_session, parent, forked_from,
			agent, profile, mode, allow_bypass, headless, external, add_dirs, state, permission_state, pending, epoch, runner,
			turn, denials_in_row, denials, created_at, active_at)
		VALUES ('s', '', '', '', '', 0, '', '', '', '', 'auto', 0, 0, 0, '', '', '', 0, 0, '', 0, 0, 0, 0, 0);
		INSERT INTO batches (session_id, batch_id, seq, lane, turn, state, resumes, cancelled, created_at)
		VALUES ('s', 'b', 1, '', 1, 'running', 0, 0, 0);
		INSERT INTO calls (session_id, call_id, batch_id, ordinal, tool, args_hash, effect, background, turn, state,
			request_id, round, attempt, verdict, reason, reason_code, working_dir, agent, input)
		VALUES ('s', 'c', 'b', 0, 'Bash', 'h', '', 0, 1, 'approved', '', 0, 0, 'allow', '', '', '', '', '`+large+`')`); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.View(t.Context(), func(tx *store.Tx) error {
		row, err := tx.Calls.Get("s", "c")
		if err != nil || row.Input.Shown != large {
			t.Errorf("%d bytes of %d, %v", len(row.Input.Shown), len(large), err)
		}
		b, err := tx.Batches.GetWhole("s", "b")
		if err != nil || string(b.Calls[0].Input) != large {
			t.Errorf("the batch has another input: %v", err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
