package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// hashOf returns a text as long as a hash.
func hashOf(name string) string { return strings.Repeat("0", 64-len(name)) + name }

// ticketRow returns the statement that adds a ticket; without a name its digest is too short.
func ticketRow(name, action, state string) string {
	digest := ""
	if name != "" {
		digest = hashOf(name)
	}
	return fmt.Sprintf(`INSERT INTO tickets (digest, session_id, batch_id, call_id, action, line_digest, working_dir,
		user_id, host, state, issued_at, expires_at)
		VALUES ('%s', 's', '', 'c', '%s', '%s', '/d', 1, 'h', '%s', 1, 2)`, digest, action, hashOf("line"), state)
}

// ticketsUsed checks that a ticket is stored unchanged, used once, and ended once.
func ticketsUsed(b *bench) {
	get := func(digest string) (row store.TicketRow) {
		b.Helper()
		b.view(func(tx *store.Tx) (err error) {
			row, err = tx.Tickets.Get(digest)
			return err
		})
		return row
	}
	whole := store.TicketRow{
		Digest: hashOf("whole"), Session: "s", Batch: "b", Call: "c", Action: umpire.TicketUndo,
		LineDigest: hashOf("l"), Line: []byte{0, 255, 1}, Dir: "/p/ä", User: 1000, Host: "machine:1:2",
		State:  store.TicketIssued,
		Issued: b.later(), Expires: b.later(),
	}
	bare := store.TicketRow{
		Digest: hashOf("bare"), Session: "s", Call: "c", Action: umpire.TicketTrial, Dir: "/",
		LineDigest: hashOf("l"),
		State:      store.TicketIssued, Issued: b.later(), Expires: b.later(),
	}
	for _, row := range []store.TicketRow{whole, bare} {
		b.update(func(tx *store.Tx) error { return tx.Tickets.Insert(&row) })
		b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Tickets.Insert(&row) })
		if diff := cmp.Diff(row, get(row.Digest)); diff != "" {
			b.Errorf("ticket (-want +got):\n%s", diff)
		}
	}
	use := func(tx *store.Tx) error { return tx.Tickets.Use(whole.Digest) }
	end := func(tx *store.Tx) error { return tx.Tickets.End(whole.Digest) }
	b.refuse(store.ErrConflict, end)
	b.update(use)
	b.refuse(store.ErrConflict, use)
	b.update(end)
	b.refuse(store.ErrConflict, end)
	b.refuse(store.ErrConflict, use)
	if got := get(whole.Digest).State; got != store.TicketEnded {
		b.Errorf("the ticket is %s", got)
	}
	b.refuse(store.ErrConflict, func(tx *store.Tx) error { return tx.Tickets.Use(hashOf("none")) })
	b.refuse(umpire.ErrNotFound, func(tx *store.Tx) error {
		_, err := tx.Tickets.Get(hashOf("none"))
		return err
	})
	b.update(func(tx *store.Tx) error { return tx.Tickets.Forget(bare.Issued.Add(-time.Microsecond)) })
	b.refuse(umpire.ErrNotFound, func(tx *store.Tx) error {
		_, err := tx.Tickets.Get(whole.Digest)
		return err
	})
	get(bare.Digest)
}
