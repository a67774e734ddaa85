package postgres

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/umpirehq/umpire/internal/store"
)

// The server's error codes that matter here, from appendix A of its manual.
const (
	constraintClass = "23"
	connectionClass = "08"
)

var (
	retries = []string{"40001", "40P01"}          // serialization failure, deadlock
	endings = []string{"57P01", "57P02", "57P03"} // the server ends the connection
)

// fault classifies an error. An error that is not from the server means that the
// connection broke.
func fault(err error) store.Fault {
	var e *pgconn.PgError
	switch {
	case !errors.As(err, &e):
		return store.FaultLost
	case e.Code[:2] == constraintClass:
		return store.FaultConflict
	case slices.Contains(retries, e.Code):
		return store.FaultRetry
	case e.Code[:2] == connectionClass || slices.Contains(endings, e.Code):
		return store.FaultLost
	}
	return store.FaultOther
}
