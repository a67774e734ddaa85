package scan_test

import (
	"testing"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A statement after a harmless one must not be missed.
func FuzzStatements(f *testing.F) {
	f.Add("select 1")
	f.Add("with x as (select 1) select * from x")
	f.Fuzz(func(t *testing.T, text string) {
		for _, act := range []string{"; drop table t", "; delete from t", " into outfile 'x'", "; vacuum"} {
			if scan.SQLite.OnlyLooks(text+act) || scan.Postgres.OnlyLooks(text+act) {
				t.Errorf("%q only looks", text+act)
			}
		}
	})
}
