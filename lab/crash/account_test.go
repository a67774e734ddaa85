//go:build unix

package crash

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
	"github.com/umpirehq/umpire/internal/server"
)

// A tally counts the results of a run of kills: one row of a table.
type tally struct {
	kills, calls, effects int
	answers               int // acknowledged
	events                int
	twice                 int // repeated effects of one call
	disorder              int // calls that ran out of their order
	lost                  int // acknowledged answers that are missing later
	denied                int // calls that ran despite a denial
	breaks                int // of the timeline's chain
	unknown, happened     int // calls with an unknown outcome, and those of them that had run
	redelivered           int // results sent to the model again
	wrong                 []string
}

// header names the columns of a row.
const header = "store      kills  calls effects answers  twice disorder  lost denied-but-ran breaks/events  unknown (happened) redelivered"

func (t *tally) row(store string) string {
	return fmt.Sprintf("%-10s %5d %6d %7d %7d %6d %8d %5d %14d %6d/%-6d %8d (%8d) %11d",
		store, t.kills, t.calls, t.effects, t.answers, t.twice, t.disorder, t.lost, t.denied, t.breaks, t.events, t.unknown, t.happened, t.redelivered)
}

func (t *tally) add(other *tally) {
	t.kills += other.kills
	t.calls += other.calls
	t.effects += other.effects
	t.answers += other.answers
	t.events += other.events
	t.twice += other.twice
	t.disorder += other.disorder
	t.lost += other.lost
	t.denied += other.denied
	t.breaks += other.breaks
	t.unknown += other.unknown
	t.happened += other.happened
	t.redelivered += other.redelivered
	t.wrong = append(t.wrong, other.wrong...)
}

func (t *tally) report(format string, args ...any) {
	t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
}

// account checks one conversation from the outside: the gate's events and batches, the
// effects, and the requests to the model.
func (t *tally) account(ctx context.Context, c *conversation, p *person) error {
	events, err := c.events(ctx)
	if err != nil {
		return err
	}
	t.events += len(events)
	h := &audit{tally: t, conversation: c, person: p, calls: map[umpire.CallID]*callRecord{}, requested: map[umpire.BatchID]int{}}
	for i := range events {
		h.follow(&events[i])
	}
	for _, id := range h.batches {
		var b umpire.Batch
		err := c.home.do(ctx, func(ctx context.Context, g *server.Client) (err error) {
			b, err = g.Batch(ctx, c.session, id)
			return err
		})
		if err != nil {
			return err
		}
		h.checkBatch(&b)
	}
	if err := h.checkEffects(); err != nil {
		return err
	}
	return h.checkModel()
}

// An audit follows the events of one session.
type audit struct {
	*tally
	*conversation

	person    *person
	batches   []umpire.BatchID
	calls     map[umpire.CallID]*callRecord
	open      *callRecord   // started, with an unknown outcome
	owed      []*callRecord // a runner took the session while these were open
	requested map[umpire.BatchID]int
}

// A callRecord is the history of one call according to its events.
type callRecord struct {
	id               umpire.CallID
	batch            umpire.BatchID
	place            int
	starts, results  int
	approved, denied bool
	lost, was        bool // indeterminate; and settled as done
	result           *umpire.Result
}

// follow handles one event.
func (h *audit) follow(e *umpire.Event) {
	h.collect(e)
	c := h.calls[e.Call]
	if e.Call != "" && c == nil {
		h.report("event %d %s is about call %s, which was not submitted", e.Seq, e.Kind, e.Call)
		return
	}
	switch e.Kind {
	case umpire.EventBatchSubmitted:
		h.submitted(e)
	case umpire.EventSessionResumed:
		if h.open != nil && h.planned(h.open).changes() {
			h.owed = append(h.owed, h.open)
		}
		h.open = nil
	case umpire.EventCallStarted:
		h.started(e, c)
	case umpire.EventCallFinished:
		c.results++
		h.open = nil
	case umpire.EventCallIndeterminate:
		h.indeterminate(e, c)
	case umpire.EventPermissionApproved:
		c.was = c.lost
		c.approved = c.approved || !c.lost
		h.answered(e, umpire.Approve)
	case umpire.EventPermissionRejected:
		c.denied = c.denied || !c.lost
		if e.Code == umpire.CodeAutoDeny || e.Code == umpire.CodeTimeout {
			h.report("event %d: call %s was denied for want of a person: %s", e.Seq, c.id, e.Reason)
		}
		h.answered(e, umpire.Refuse, umpire.Cancel)
	case umpire.EventModelRequested:
		if h.requested[e.Batch]++; e.Batch != "" && h.requested[e.Batch] > 1 {
			h.redelivered++
		}
	}
}

// collect checks that the next events report a dead runner's open calls as indeterminate.
func (h *audit) collect(e *umpire.Event) {
	if len(h.owed) > 0 && e.Kind != umpire.EventCallIndeterminate {
		h.report("event %d %s comes before it was told that call %s is indeterminate", e.Seq, e.Kind, h.owed[0].id)
		h.owed = nil
	}
}

func (h *audit) planned(c *callRecord) *planned {
	if p := h.script.calls[c.id]; p != nil {
		return p
	}
	h.report("call %s is in no script", c.id)
	return &planned{id: c.id}
}

func (h *audit) submitted(e *umpire.Event) {
	h.batches = append(h.batches, e.Batch)
	var data struct {
		Calls []struct {
			ID umpire.CallID `json:"call_id"`
		} `json:"calls"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil || len(data.Calls) == 0 {
		h.report("event %d: calls of a batch: %v: %s", e.Seq, err, e.Data)
	}
	for i, c := range data.Calls {
		h.calls[c.ID] = &callRecord{id: c.ID, batch: e.Batch, place: i}
		h.tally.calls++
	}
}

// started: calls run one by one, in their order, and once, unless they only look.
func (h *audit) started(e *umpire.Event, c *callRecord) {
	if c.starts++; c.starts > 1 && h.planned(c).changes() {
		h.report("event %d: call %s, which changes things, was started %d times", e.Seq, c.id, c.starts)
	}
	for _, other := range h.calls {
		if other.batch == c.batch && other.place < c.place && other.results == 0 || other.batch == c.batch && other.place > c.place && other.starts > 0 {
			h.disorder++
			h.report("event %d: call %s started, and %s has %d starts and %d results", e.Seq, c.id, other.id, other.starts, other.results)
		}
	}
	if c.denied {
		h.report("event %d: call %s was denied and started", e.Seq, c.id)
	}
	h.open = c
}

func (h *audit) indeterminate(e *umpire.Event, c *callRecord) {
	c.lost = true
	h.unknown++
	h.open = nil
	h.owed = slices.DeleteFunc(h.owed, func(o *callRecord) bool { return o == c })
	h.person.mu.Lock()
	happened := h.person.settled[e.Request]
	h.person.mu.Unlock()
	if happened {
		h.happened++
	}
}

// answered compares an answer with the person's record.
func (h *audit) answered(e *umpire.Event, want ...umpire.Choice) {
	if e.Request == "" {
		return
	}
	h.person.mu.Lock()
	defer h.person.mu.Unlock()
	taken, known := h.person.taken[e.Request]
	if !known {
		return
	}
	if !slices.Contains(want, taken) || taken == umpire.Cancel != (e.Code == umpire.CodeCancelled) {
		h.lost++
		h.report("event %d: request %s was answered with %s, and it is %s %s", e.Seq, e.Request, taken, e.Kind, e.Code)
	}
	delete(h.person.taken, e.Request)
	h.answers++
}

// checkBatch: every call has one result, in the order of the calls.
func (h *audit) checkBatch(b *umpire.Batch) {
	if b.State != umpire.BatchDelivered {
		h.report("batch %s of %s is %s in the end", b.ID, h.name, b.State)
	}
	for i := range b.Calls {
		c := &b.Calls[i]
		told := h.calls[c.ID]
		if told == nil || told.place != i || told.results != 1 || c.Result == nil || c.State != umpire.CallDone {
			h.report("call %s is %s with result %+v; the events tell %+v", c.ID, c.State, c.Result, told)
			continue
		}
		told.result = c.Result
		p := h.planned(told)
		if p.place != i || p.never && c.Result.Status != umpire.ResultDenied && !b.Cancelled {
			h.report("call %s at place %d of batch %s has the result %+v", c.ID, i, b.ID, c.Result)
		}
		ran := c.Result.Status == umpire.ResultOK && !told.lost
		if ran && (told.starts == 0 || !strings.Contains(c.Result.Output, p.said())) {
			h.report("call %s was started %d times and printed %q", c.ID, told.starts, c.Result.Output)
		}
		if ran && p.asks && !told.approved {
			h.report("call %s ran, and nobody approved it", c.ID)
			h.tally.denied++
		}
	}
}

// checkEffects compares the effects with the recorded results.
func (h *audit) checkEffects() error {
	effects, err := h.marked()
	if err != nil {
		return err
	}
	var last *planned
	for _, id := range effects {
		p := h.script.calls[umpire.CallID(id)]
		if p == nil {
			h.report("the effect %q is of no call", id)
			continue
		}
		if last != nil && (p.turn < last.turn || p.turn == last.turn && p.place < last.place) {
			h.disorder++
			h.report("the effect of %s comes after that of %s", p.id, last.id)
		}
		last = p
	}
	for id, p := range h.script.calls {
		n, err := h.effectsOf(p)
		if err != nil {
			return err
		}
		h.tally.effects += n
		h.checkEffect(id, p, n)
	}
	return nil
}

func (h *audit) checkEffect(id umpire.CallID, p *planned, n int) {
	if n > 1 {
		h.twice += n - 1
		h.report("call %s happened %d times", id, n)
	}
	c := h.calls[id]
	switch {
	case c == nil || c.result == nil:
		if n > 0 {
			h.report("call %s happened, and has no result", id)
		}
	case n > 0 && (p.never || c.starts == 0 || c.denied):
		h.tally.denied++
		h.report("call %s happened although it was denied: %+v", id, c)
	case c.lost && c.was != (n > 0) && c.result.Status != umpire.ResultIndeterminate:
		h.report("call %s was settled as done %t, and it happened %d times", id, c.was, n)
	case !c.lost && p.changes() && c.result.Status == umpire.ResultOK && n != 1:
		h.report("call %s is done, and happened %d times", id, n)
	}
}

// checkModel checks the requests to the model: real models would accept each of them,
// and none contradicts an earlier one.
func (h *audit) checkModel() error {
	log, err := os.ReadFile(h.modelLog())
	if err != nil {
		return err
	}
	var before llm.Request
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var r llm.Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("%s:%d: %w", h.modelLog(), n, err)
		}
		if err := llm.Check(r); err != nil {
			h.report("%s:%d: %v", h.modelLog(), n, err)
		}
		if !continues(before.Messages, r.Messages) {
			h.report("%s:%d: the request takes back what the one before said", h.modelLog(), n)
		}
		before = r
	}
	h.checkResults(before.Messages)
	return lines.Err()
}

// continues reports whether a conversation continues another one. The last message of
// the user may have become longer.
func continues(before, after []llm.Message) bool {
	if len(before) > len(after) {
		return false
	}
	for i := range before {
		a, b := before[i].Content, after[i].Content
		if len(a) > len(b) || i < len(before)-1 && len(a) != len(b) {
			return false
		}
		if !slices.EqualFunc(a, b[:len(a)], sameBlock) {
			return false
		}
	}
	return true
}

func sameBlock(a, b llm.Block) bool {
	return a.Type == b.Type && a.Text == b.Text && a.ID == b.ID && a.Call == b.Call && a.Output == b.Output && a.IsError == b.IsError
}

// checkResults: the last request bears the result of every call as the gate has it.
func (h *audit) checkResults(messages []llm.Message) {
	told := map[string]llm.Block{}
	for _, m := range messages {
		for _, r := range m.Results() {
			told[r.Call] = r
		}
	}
	for id, c := range h.calls {
		r, ok := told[string(id)]
		if c.result != nil && (!ok || r.Output != c.result.Output || r.IsError != c.result.IsError()) {
			h.report("the model was told %+v of call %s, whose result is %+v", r, id, c.result)
		}
	}
}

// forgotten reports acknowledged answers that are missing from the timeline.
func (t *tally) forgotten(p *person) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, choice := range p.taken {
		t.lost++
		t.report("request %s: %s was acknowledged, and no event tells of it (%s)", id, choice, p.questions[id].Call)
	}
	t.wrong = append(t.wrong, p.wrong...)
}
