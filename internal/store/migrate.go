package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
)

// A migration is one numbered file: 0001_name.sql.
type migration struct {
	version   int
	name, sql string
}

const createMigrations = `CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER NOT NULL PRIMARY KEY,
	name TEXT NOT NULL)`

// migrate updates the schema, each file in its own transaction. Several processes may
// call it at once.
func migrate(ctx context.Context, db *sql.DB, d *Dialect) error {
	all, err := migrations(d.Migrations)
	if err != nil {
		return err
	}
	c, err := newConn(ctx, db, d)
	if err != nil {
		return err
	}
	defer func() {
		_ = c.close() // its work is committed or abandoned
	}()
	for {
		done, err := c.migrateOne(ctx, all)
		if err != nil {
			return umpire.Errorf("schema: %w", err)
		}
		if done {
			return nil
		}
	}
}

// migrateOne applies the next migration, or reports that all are done.
func (c *conn) migrateOne(ctx context.Context, all []migration) (done bool, err error) {
	if err := c.script(ctx, c.dialect.BeginUpdate, c.dialect.MigrationLock, createMigrations); err != nil {
		return false, c.giveUp(ctx, err)
	}
	version := 0
	const latest = `SELECT COALESCE(MAX(version), 0) FROM schema_migrations`
	if err := c.QueryRowContext(ctx, latest).Scan(&version); err != nil {
		return false, c.giveUp(ctx, err)
	}
	if version > len(all) {
		return false, c.giveUp(ctx,
			umpire.Errorf("the database has version %d, but this program supports only %d: use a newer program",
				version, len(all)))
	}
	if version == len(all) {
		return true, c.script(ctx, "COMMIT")
	}
	m := all[version]
	applied := fmt.Sprintf(`INSERT INTO schema_migrations (version, name) VALUES (%d, '%s')`, m.version, m.name)
	if err := c.script(ctx, m.sql, applied, "COMMIT"); err != nil {
		return false, c.giveUp(ctx, umpire.Errorf("%04d_%s: %w", m.version, m.name, err))
	}
	return false, nil
}

// script runs texts of one or more statements, skipping "".
func (c *conn) script(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if text == "" {
			continue
		}
		if _, err := c.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// giveUp rolls back and returns err.
func (c *conn) giveUp(ctx context.Context, err error) error {
	ctx, cancel := lasting(ctx)
	defer cancel()
	_ = c.script(ctx, "ROLLBACK") // the database may have already rolled back
	return err
}

// migrations reads the files in order. Their numbers start with 1 and have no gaps.
func migrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []migration
	for i, name := range names {
		number, rest, _ := strings.Cut(strings.TrimSuffix(name, ".sql"), "_")
		if version, err := strconv.Atoi(number); err != nil || version != i+1 {
			return nil, umpire.Errorf("migration %s: want number %04d", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{version: i + 1, name: rest, sql: string(text)})
	}
	return all, nil
}
