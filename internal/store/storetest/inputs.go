package storetest

import (
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// Raw statements that store a large input and a call with it.
const (
	largeInput = `INSERT INTO inputs (session_id, digest, packed) VALUES ('asked', 'd', '')`
	largeCall  = `INSERT INTO batches (session_id, batch_id, seq, lane, turn, state, resumes, cancelled, created_at)
			VALUES ('asked', 'large', 99, 'large', 1, 'running', 0, FALSE, 0);
		INSERT INTO calls (session_id, call_id, batch_id, ordinal, tool, args_hash, effect, background, turn, state,
			request_id, round, attempt, verdict, reason, reason_code, working_dir, agent, input, input_digest)
		VALUES ('asked', 'large', 'large', 0, 'Bash', 'h', '', FALSE, 1, 'approved', '', 0, 0, 'allow', '', '', '', '',
			'{}', 'd')`
)

// largeInputs stores commands of three megabytes and small ones.
func largeInputs(b *bench) {
	b.session("s")
	b.session("other")
	large := `{"command":"begin` + numbers(1) + `"}`
	longer := `{"command":"begin` + numbers(2) + `"}`
	const small = `{"command":"ls"}`
	first := b.submitInput("s", "c1", large)
	again := b.submitInput("s", "c2", large)
	b.submitInput("s", "c3", longer)
	b.submitInput("other", "c4", large)
	few := b.submitInput("s", "c5", small)
	if first.Statements != few.Statements+1 || again.Statements != first.Statements {
		b.Errorf("%d and %d statements for large inputs, %d for a small one", first.Statements, again.Statements,
			few.Statements)
	}
	if first.Bytes > len(large)/2 || few.Bytes > 2000 {
		b.Errorf("%d bytes are written for an input of %d, %d for one of %d", first.Bytes, len(large), few.Bytes,
			len(small))
	}
	for id, want := range map[umpire.CallID]string{"c1": large, "c2": large, "c3": longer, "c5": small} {
		b.inputIs("s", id, want)
	}
	b.inputIs("other", "c4", large)
	b.countInputs(3)
	b.update(func(tx *store.Tx) error { return tx.Sessions.Delete("s") })
	b.countInputs(1)
	b.inputIs("other", "c4", large)

	// A call whose input has the digest of another one returns neither.
	b.session("forged")
	b.commit(`INSERT INTO inputs (session_id, digest, packed)
		SELECT 'forged', '` + store.DigestOf(longer) + `', packed FROM inputs`)
	b.submitInput("forged", "c6", longer)
	err := b.store.View(b.Context(), func(tx *store.Tx) error {
		row, err := tx.Calls.Get("forged", "c6")
		if row.Input.Shown == large {
			b.Error("another input is given back")
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "was changed") {
		b.Errorf("an input that is another one: %v", err)
	}
}

// numbers returns three megabytes of text with the seed in the middle.
func numbers(seed int) string {
	var text strings.Builder
	for i := 0; text.Len() < 3<<20; i++ {
		text.WriteString(strconv.Itoa(i*i) + " ")
		if i == 100_000 {
			text.WriteString(strconv.Itoa(seed))
		}
	}
	return text.String()[:3<<20]
}

// submitInput stores a batch of one call, and returns the counts.
func (b *bench) submitInput(s umpire.SessionID, id umpire.CallID, input string) store.Counts {
	b.Helper()
	var counts store.Counts
	call := umpire.BatchCall{ID: id, Tool: "Bash", ArgsHash: hash(id), State: umpire.CallApproved}
	made := umpire.Batch{ID: umpire.BatchID(id), Session: s, Lane: string(id), State: umpire.BatchRunning,
		Calls: []umpire.BatchCall{call}}
	row := store.CallRow{Session: s, Batch: made.ID, ID: id, Tool: "Bash", ArgsHash: hash(id),
		Input: store.Sealed{Shown: input}}
	err := b.store.Update(store.WithCounts(b.Context(), &counts), func(tx *store.Tx) error {
		return tx.Batches.Insert(made, 1, []store.CallRow{row}, b.later())
	})
	if err != nil {
		b.Fatal(err)
	}
	return counts
}

// inputIs checks a call's input with every way of reading it.
func (b *bench) inputIs(s umpire.SessionID, id umpire.CallID, want string) {
	b.Helper()
	b.view(func(tx *store.Tx) error {
		row, err1 := tx.Calls.Get(s, id)
		part, err2 := tx.Batches.Get(s, umpire.BatchID(id))
		whole, err3 := tx.Batches.GetWhole(s, umpire.BatchID(id))
		err := all(func() error { return err1 }, func() error { return err2 }, func() error { return err3 })
		if err != nil {
			return err
		}
		if row.Input.Shown != want || string(whole.Calls[0].Input) != want || whole.Calls[0].InputSize != 0 {
			b.Errorf("call %s has another input", id)
		}
		c := part.Calls[0]
		isLarge := len(want) > 1000
		if isLarge != (c.InputSize == len(want)) || isLarge != (len(c.Input) < len(want)) ||
			len(c.Input) > 20_000 || !strings.HasPrefix(string(c.Input), want[:10]) {
			b.Errorf("call %s is shown with %d bytes, as one of %d", id, len(c.Input), c.InputSize)
		}
		return nil
	})
}

func (b *bench) countInputs(want int) {
	b.Helper()
	var n int
	if err := b.db.Raw.QueryRowContext(b.Context(), `SELECT COUNT(*) FROM inputs`).Scan(&n); err != nil || n != want {
		b.Errorf("%d inputs (%v), want %d", n, err, want)
	}
}
