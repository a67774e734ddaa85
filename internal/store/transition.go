package store

import (
	"fmt"
	"slices"

	"github.com/umpirehq/umpire"
)

// SaveBatch stores what became of a batch within this transaction. Before is the
// batch as it was read or saved last: a row that is otherwise is ErrConflict.
//
// The database knows single transitions only, and refuses all others. When several
// happened at once, SaveBatch goes through them one by one, in an order that the
// constraints follow: answers first, then the batch, then what runs and ends, then
// what is asked anew. So the executions and asks of the calls are inserted before,
// and so are the claim and delivery of a batch that is delivered.
//
// Results are written by InsertResult.
func (tx *Tx) SaveBatch(before, after umpire.Batch) error {
	if before.ID != after.ID || before.Session != after.Session || len(before.Calls) != len(after.Calls) {
		return fmt.Errorf("batch %q is not batch %q: %w", after.ID, before.ID, umpire.ErrInvalid)
	}
	p := batchSaver{tx: tx, state: before}
	p.state.Calls = slices.Clone(before.Calls)
	p.walks = make([][]umpire.CallState, len(after.Calls))
	for i := range after.Calls {
		p.walks[i] = walk(&before.Calls[i], &after.Calls[i])
	}
	if err := p.save(&after); err != nil {
		return fmt.Errorf("batch %q: %w", after.ID, err)
	}
	return nil
}

// The parts of a save, in their order.
const (
	partAnswers = iota // approved, denied, settled
	partRuns           // executing, finished
	partAsks           // asked, indeterminate
)

func partOf(s umpire.CallState) int {
	switch s {
	case umpire.CallApproved, umpire.CallDenied, umpire.CallSettled:
		return partAnswers
	case umpire.CallExecuting, umpire.CallDone:
		return partRuns
	case umpire.CallAsked, umpire.CallUnknown:
	}
	return partAsks
}

// ways are the legal transitions of a call, as the database holds them too.
var ways = map[umpire.CallState][]umpire.CallState{
	umpire.CallAsked:     {umpire.CallApproved, umpire.CallDenied},
	umpire.CallApproved:  {umpire.CallExecuting, umpire.CallDenied, umpire.CallDone, umpire.CallAsked},
	umpire.CallDenied:    {umpire.CallDone},
	umpire.CallExecuting: {umpire.CallDone, umpire.CallUnknown, umpire.CallSettled},
	umpire.CallUnknown:   {umpire.CallSettled},
	umpire.CallSettled:   {umpire.CallDone},
}

// walk returns the states that a call went through. One that was started went
// through executing, once for each attempt; one that ends without having been
// started or approved went through being denied.
func walk(before, after *umpire.BatchCall) []umpire.CallState {
	var way []umpire.CallState
	at := before.State
	if at == umpire.CallAsked && after.State == umpire.CallAsked && after.Round > max(before.Round, 1) {
		return append(way, umpire.CallApproved, umpire.CallAsked) // approved, and then asked about anew
	}
	for n := before.Attempt; n < after.Attempt; n++ {
		if at != umpire.CallExecuting {
			way = append(way, shortest(at, umpire.CallExecuting)...)
		} else {
			way = append(way, umpire.CallExecuting)
		}
		at = umpire.CallExecuting
	}
	if at == umpire.CallAsked && after.State == umpire.CallDone {
		return append(way, umpire.CallDenied, umpire.CallDone)
	}
	return append(way, shortest(at, after.State)...)
}

// shortest returns the states between two and the last one, by the shortest way.
// Where there is none, it is the last one alone, for the database to refuse.
func shortest(from, to umpire.CallState) []umpire.CallState {
	if from == to {
		return nil
	}
	type path []umpire.CallState
	for queue := []path{{from}}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		for _, next := range ways[p[len(p)-1]] {
			if next == to {
				return append(slices.Clone(p[1:]), to)
			}
			if !slices.Contains(p, next) {
				queue = append(queue, append(slices.Clone(p), next))
			}
		}
	}
	return []umpire.CallState{to}
}

// A batchSaver takes a batch from one state to another. state is what the database has.
type batchSaver struct {
	tx    *Tx
	state umpire.Batch
	walks [][]umpire.CallState // what each call has yet to go through
}

func (p *batchSaver) save(after *umpire.Batch) error {
	if err := p.calls(after, partAnswers); err != nil {
		return err
	}
	for p.state.Resumes < after.Resumes {
		if p.state.State == umpire.BatchRunning {
			if err := p.batch(umpire.BatchWaiting, p.state.Resumes, p.state.Cancelled); err != nil {
				return err
			}
		}
		if err := p.batch(umpire.BatchRunning, p.state.Resumes+1, p.state.Cancelled); err != nil {
			return err
		}
	}
	for again := true; again; again = p.walking() {
		for _, part := range []int{partRuns, partAsks, partAnswers} {
			if err := p.calls(after, part); err != nil {
				return err
			}
		}
	}
	return p.close(after)
}

// walking reports whether a call has a way to go still.
func (p *batchSaver) walking() bool {
	return slices.ContainsFunc(p.walks, func(w []umpire.CallState) bool { return len(w) > 0 })
}

// close brings the batch to its last state.
func (p *batchSaver) close(after *umpire.Batch) error {
	if p.state.Cancelled != after.Cancelled {
		if err := p.batch(p.state.State, p.state.Resumes, after.Cancelled); err != nil {
			return err
		}
	}
	if after.State == umpire.BatchDelivered && p.state.State != umpire.BatchFinished && p.state.State != umpire.BatchDelivered {
		if err := p.batch(umpire.BatchFinished, p.state.Resumes, p.state.Cancelled); err != nil {
			return err
		}
	}
	if p.state.State == after.State && p.state.Resumes == after.Resumes {
		return nil
	}
	return p.batch(after.State, after.Resumes, after.Cancelled)
}

// batch takes the batch one transition further.
func (p *batchSaver) batch(state umpire.BatchState, resumes int, cancelled bool) error {
	p.tx.pending = true
	b := &p.state
	n, err := p.tx.exec(`UPDATE batches SET state = $3, resumes = $4, cancelled = $5
		WHERE session_id = $1 AND batch_id = $2 AND state = $6 AND resumes = $7 AND cancelled = $8`,
		string(b.Session), string(b.ID), string(state), resumes, cancelled, string(b.State), b.Resumes, b.Cancelled)
	if err != nil {
		return err
	}
	if n == 0 {
		return p.tx.conflict("it is not %s any more", b.State)
	}
	b.State, b.Resumes, b.Cancelled = state, resumes, cancelled
	return nil
}

// calls takes each call through its next states as far as they belong to a part.
// The last step brings everything else that changed.
func (p *batchSaver) calls(after *umpire.Batch, part int) error {
	for i := range after.Calls {
		to := after.Calls[i]
		for len(p.walks[i]) > 0 && partOf(p.walks[i][0]) == part {
			step := p.state.Calls[i]
			step.State = p.walks[i][0]
			if step.State == umpire.CallExecuting {
				step.Attempt++
			}
			p.walks[i] = p.walks[i][1:]
			if len(p.walks[i]) == 0 {
				step = to
			}
			if err := p.call(i, step); err != nil {
				return err
			}
		}
		if len(p.walks[i]) == 0 && partOf(to.State) == part && !sameCall(&p.state.Calls[i], &to) {
			if err := p.call(i, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameCall reports whether nothing changed that SaveBatch stores.
func sameCall(a, b *umpire.BatchCall) bool {
	return a.State == b.State && a.Request == b.Request && a.Round == b.Round && a.Attempt == b.Attempt &&
		a.Verdict == b.Verdict && a.Reason == b.Reason && a.Code == b.Code
}

// call takes one call one transition further.
func (p *batchSaver) call(i int, to umpire.BatchCall) error {
	p.tx.pending = true
	b, was := &p.state, &p.state.Calls[i]
	n, err := p.tx.exec(`UPDATE calls SET state = $3, request_id = $4, round = $5, attempt = $6, verdict = $7, reason = $8, reason_code = $9
		WHERE session_id = $1 AND call_id = $2 AND state = $10 AND request_id = $11 AND round = $12 AND attempt = $13
			AND EXISTS (SELECT 1 FROM batches AS b WHERE b.session_id = $1 AND b.batch_id = $14
				AND b.state = $15 AND b.resumes = $16 AND b.cancelled = $17)`,
		string(b.Session), string(was.ID), string(to.State), string(to.Request), to.Round, to.Attempt, text(to.Verdict), to.Reason,
		string(to.Code), string(was.State), string(was.Request), was.Round, was.Attempt,
		string(b.ID), string(b.State), b.Resumes, b.Cancelled)
	if err != nil {
		return fmt.Errorf("call %q: %w", was.ID, err)
	}
	if n == 0 {
		return p.tx.conflict("call %q is not %s any more, or the batch not %s", was.ID, was.State, b.State)
	}
	*was = to
	return nil
}
