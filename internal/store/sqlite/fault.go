package sqlite

import (
	"errors"

	"modernc.org/sqlite"

	"github.com/umpirehq/umpire/internal/store"
)

// constraint is SQLite's primary code for violations of a constraint or trigger.
const constraint = 19

// primary masks the primary code in an extended one.
const primary = 0xff

func fault(err error) store.Fault {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&primary == constraint {
		return store.FaultConflict
	}
	return store.FaultOther
}
