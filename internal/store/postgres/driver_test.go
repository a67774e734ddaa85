package postgres

import (
	"bytes"
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/umpirehq/umpire/internal/store/storetest"
)

// TestValues checks that values are read as written, whether or not the server keeps the statements.
func TestValues(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	for name, options := range map[string]string{"kept": "", "not kept": " default_query_exec_mode=exec statement_cache_capacity=0"} {
		dial, err := parseConfig(dsn + options)
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(dial)
		defer db.Close()
		for range 2 { // the second time the statement is known
			var (
				text, empty   string
				data, nothing []byte
				number        int64
				yes           bool
				missing       sql.NullString
			)
			err := db.QueryRowContext(t.Context(),
				`SELECT $1::TEXT, $2::TEXT, $3::BYTEA, $4::BYTEA, $5::BIGINT, $6::BOOLEAN, $7::TEXT`,
				"a\n'文", "", []byte{0, '\\', 0xff}, []byte{}, -1<<62, true, nil,
			).Scan(&text, &empty, &data, &nothing, &number, &yes, &missing)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if text != "a\n'文" || empty != "" || !bytes.Equal(data, []byte{0, '\\', 0xff}) || nothing == nil ||
				len(nothing) > 0 || number != -1<<62 || !yes || missing.Valid {
				t.Errorf("%s: %q %q %q %q %d %t %v", name, text, empty, data, nothing, number, yes, missing)
			}
		}
		if _, err := db.ExecContext(t.Context(), "SELECT $1::TEXT", 1.5); err == nil {
			t.Errorf("%s: a number with a fraction was taken", name)
		}
		if _, err := db.BeginTx(t.Context(), nil); !errors.Is(err, errUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBytesOfAnotherForm covers servers that write bytes in the older text format, which can look like the newer one.
func TestBytesOfAnotherForm(t *testing.T) {
	t.Parallel()
	field := &pgconn.FieldDescription{DataTypeOID: bytesType, Format: textFormat}
	if got, err := decodeValue(field, []byte(`\xabcd`)); err != nil || !bytes.Equal(got.([]byte), []byte{0xab, 0xcd}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"abcd", "", `\\000`} {
		if got, err := decodeValue(field, []byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// TestStatementsArePreparedAnew covers changed tables and statements forgotten by the server.
func TestStatementsArePreparedAnew(t *testing.T) {
	t.Parallel()
	dial, err := parseConfig(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(dial)
	defer db.Close()
	db.SetMaxOpenConns(1)
	const query = "SELECT * FROM t WHERE a = $1"
	run := func(statement string) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	columns := func() int {
		rows, err := db.QueryContext(t.Context(), query, 1)
		if err != nil {
			return -1
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil || rows.Err() != nil {
			t.Fatal(err, rows.Err())
		}
		return len(names)
	}
	run("CREATE TABLE t (a BIGINT); INSERT INTO t VALUES (1)")
	got := []int{columns()}
	run("ALTER TABLE t ADD COLUMN b TEXT")
	got = append(got, columns(), columns())
	run("DEALLOCATE ALL")
	got = append(got, columns(), columns())
	want := []int{1, -1, 2, -1, 2}
	if !slices.Equal(got, want) {
		t.Errorf("columns: %v, want %v", got, want)
	}
}
