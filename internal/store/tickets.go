package store

import (
	"time"

	"github.com/umpirehq/umpire"
)

// Tickets accesses the tickets that let hosts run command lines, each once.
type Tickets struct{ *transaction }

// A TicketState is the state of a ticket.
type TicketState string

// The states of a ticket.
const (
	TicketIssued TicketState = "issued"
	TicketUsed   TicketState = "used"  // its command runs or has run
	TicketEnded  TicketState = "ended" // its effects are settled
)

// A TicketRow is a ticket with everything it is bound to.
type TicketRow struct {
	Digest     string // of the ticket itself, in hex
	Session    umpire.SessionID
	Batch      umpire.BatchID // "" if the call is not recorded
	Call       umpire.CallID
	Action     umpire.TicketAction
	LineDigest string // hex
	Line       []byte // encrypted; nil if the host supplies the line
	Dir        string
	User       int
	Host       string // name of the process
	State      TicketState
	Issued     time.Time
	Expires    time.Time
}

// Insert adds an issued ticket.
func (t Tickets) Insert(r *TicketRow) error {
	return t.insert(umpire.Errorf("ticket of call %q", r.Call), `INSERT INTO tickets (digest, session_id,
		batch_id, call_id, action, line_digest, line, working_dir, user_id, host, state, issued_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING`,
		r.Digest, string(r.Session), string(r.Batch), string(r.Call), string(r.Action), r.LineDigest, blob(r.Line),
		r.Dir, r.User, r.Host, string(TicketIssued), stamp(r.Issued), stamp(r.Expires))
}

// Get returns the ticket with a digest.
func (t Tickets) Get(digest string) (TicketRow, error) {
	r := TicketRow{Digest: digest}
	err := t.row([]any{
		&r.Session, &r.Batch, &r.Call, &r.Action, &r.LineDigest, &r.Line, &r.Dir, &r.User, &r.Host, &r.State,
		moment{&r.Issued}, moment{&r.Expires},
	}, `SELECT session_id, batch_id, call_id, action, line_digest, line, working_dir, user_id, host, state, issued_at,
		expires_at FROM tickets WHERE digest = $1`, digest)
	return r, err
}

// Use uses a ticket. It fails with ErrConflict if the ticket was used or is unknown.
func (t Tickets) Use(digest string) error { return t.move(digest, TicketIssued, TicketUsed) }

// End settles the effects of a used ticket: the first caller wins, and others get
// ErrConflict.
func (t Tickets) End(digest string) error { return t.move(digest, TicketUsed, TicketEnded) }

func (t Tickets) move(digest string, from, to TicketState) error {
	n, err := t.exec(`UPDATE tickets SET state = $3 WHERE digest = $1 AND state = $2`, digest, string(from), string(to))
	switch {
	case err != nil:
		return umpire.Errorf("ticket: %w", err)
	case n == 0:
		return t.conflict("ticket: it is not %s", from)
	}
	return nil
}

// Forget deletes the tickets issued before a time.
func (t Tickets) Forget(before time.Time) error {
	_, err := t.exec(`DELETE FROM tickets WHERE issued_at < $1`, stamp(before))
	return err
}
