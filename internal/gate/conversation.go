package gate

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	// roleResults marks, in a fork, the results of a batch of its origin.
	roleResults = "results"
)

// conversations stores and reads the messages of sessions.
type conversations struct{ *backend }

// maxQueued is the maximum number of queued user messages.
const maxQueued = 100

// Prompt takes a user message. It starts a turn if the session's runner sends it and nothing is
// queued, and queues the message otherwise.
func (cs *conversations) Prompt(ctx context.Context, p umpire.Prompt) (umpire.Prompted, error) {
	if p.Session == "" {
		return umpire.Prompted{}, invalid("session_id", "is missing")
	}
	if len(p.Text) > maxMessage {
		return umpire.Prompted{}, invalid("text", "larger than %d bytes", maxMessage)
	}
	content := data(p.Text)
	sealed, err := cs.sealJSON(messageLabel(p.Session), content)
	if err != nil {
		return umpire.Prompted{}, err
	}
	var detail umpire.Prompted
	err = cs.step(ctx, p.Session, p.Epoch, func(t *transaction) error {
		detail, err = t.prompt(&p, sealed)
		return err
	})
	return detail, err
}

func (t *transaction) prompt(p *umpire.Prompt, sealed store.Sealed) (umpire.Prompted, error) {
	if t.session.State == umpire.SessionOver {
		return umpire.Prompted{}, umpire.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
	}
	if t.session.External {
		// The agent keeps its own conversation. Its first message, the task, names the session.
		if t.session.Turn++; t.session.Turn == 1 {
			t.addMessage(roleUser, "", sealed)
		}
		return umpire.Prompted{Turn: t.session.Turn}, nil
	}
	if p.Epoch != 0 && t.session.State == umpire.SessionIdle {
		t.session.Turn++
		t.session.State = umpire.SessionGenerating
		t.addMessage(roleUser, "", sealed)
		return umpire.Prompted{Turn: t.session.Turn}, nil
	}
	n, err := t.tx.Prompts.Queue(t.session.ID, store.PromptRow{Text: sealed, At: t.now})
	if err != nil {
		return umpire.Prompted{}, err
	}
	if n > maxQueued {
		return umpire.Prompted{}, umpire.Errorf("session %q already has %d messages queued: "+
			"%w", t.session.ID, maxQueued,
			umpire.ErrLimit)
	}
	t.append(umpire.Event{Kind: umpire.EventPromptQueued}, map[string]any{"position": n, "waiting": t.session.Pending})
	return umpire.Prompted{Queued: true, Waiting: t.session.Pending}, nil
}

// Compose begins the next request to the model: it takes the queued messages, claims the results of
// the finished batch, and returns the stored conversation. Until the model has replied, Compose
// returns the same again.
func (cs *conversations) Compose(ctx context.Context, id umpire.SessionID, epoch int64) (umpire.Conversation, error) {
	if id == "" {
		return umpire.Conversation{}, invalid("session_id", "is missing")
	}
	var session umpire.Session
	err := cs.step(ctx, id, epoch, func(t *transaction) error {
		if err := t.claimRequest(); err != nil {
			return err
		}
		session = t.session
		return nil
	})
	if err != nil {
		return umpire.Conversation{}, err
	}
	cs.reached("composed")
	c, err := cs.conversation(ctx, id)
	c.Session = session
	return c, err
}

func (t *transaction) claimRequest() error {
	if t.session.State == umpire.SessionOver {
		return umpire.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
	}
	claimed, err := t.claimResults()
	if err != nil {
		return err
	}
	taken, err := t.takePrompts()
	if err != nil {
		return err
	}
	fresh := claimed != "" || taken
	if !fresh {
		messages, err := t.tx.Messages.List(t.session.ID)
		if err != nil {
			return err
		}
		fresh = len(messages) > 0 && messages[len(messages)-1].Role == roleUser
	}
	if !fresh {
		return umpire.Errorf("session %q has nothing to send to the model: %w", t.session.ID, umpire.ErrState)
	}
	t.session.State = umpire.SessionGenerating
	t.append(umpire.Event{Kind: umpire.EventModelRequested, Batch: claimed}, map[string]any{"epoch": t.session.Epoch})
	return nil
}

// claimResults claims the results of the finished batch for one continuation. Results that were
// claimed but never delivered are returned again under the same id.
func (t *transaction) claimResults() (umpire.BatchID, error) {
	b, err := t.openBatchIn("")
	if err != nil || b == nil {
		return "", err
	}
	if b.State != umpire.BatchFinished {
		return "", umpire.Errorf("batch %q of session %q is %s, %d calls wait for a person: %w",
			b.ID, t.session.ID, b.State, b.Waiting(), umpire.ErrState)
	}
	row, err := t.tx.Resumes.Get(t.session.ID, b.ID)
	if err == nil && row.Epoch == t.session.Epoch {
		return b.ID, nil
	}
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return "", err
	}
	return b.ID, t.tx.Resumes.Claim(t.session.ID, b.ID, t.session.Epoch, t.now)
}

// openBatchIn returns the open batch of a lane, or nil.
func (t *transaction) openBatchIn(lane string) (*umpire.Batch, error) {
	b, err := t.tx.Batches.GetOpen(t.session.ID, lane)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &b, nil
}

// takePrompts sends the queued messages as one turn.
func (t *transaction) takePrompts() (bool, error) {
	prompts, err := t.tx.Prompts.Take(t.session.ID)
	if err != nil || len(prompts) == 0 {
		return false, err
	}
	t.session.Turn++
	for _, p := range prompts {
		t.addMessage(roleUser, "", p.Text)
	}
	return true, nil
}

// Read returns a session's messages with secrets masked. It is for people, and they may
// read any session, no matter which runner owns it.
func (cs *conversations) Read(ctx context.Context, q umpire.ConversationQuery) (umpire.Conversation, error) {
	if q.Limit < 0 {
		return umpire.Conversation{}, invalid("limit", "is negative")
	}
	session, err := cs.readSession(ctx, q.Session)
	if err != nil {
		return umpire.Conversation{}, err
	}
	masked := func(_ string, s store.Sealed) (string, error) { return s.Shown, nil }
	c, err := cs.readConversation(ctx, q, masked)
	c.Session = session
	return c, err
}

// conversation reads a session's messages and results, with their secrets: it is for the model,
// which has already seen or written them.
func (cs *conversations) conversation(ctx context.Context, id umpire.SessionID) (umpire.Conversation, error) {
	return cs.readConversation(ctx, umpire.ConversationQuery{Session: id}, cs.unseal)
}

// An opener turns a stored text back into a string.
type opener func(label string, s store.Sealed) (string, error)

func (cs *conversations) readConversation(
	ctx context.Context, q umpire.ConversationQuery, open opener,
) (umpire.Conversation, error) {
	c := umpire.Conversation{Messages: []umpire.Message{}, Batches: map[umpire.BatchID]umpire.Done{}}
	err := cs.view(ctx, func(tx *store.Tx) error {
		if err := readMessages(tx, q, open, &c); err != nil {
			return err
		}
		return readResults(tx, q.Session, open, &c)
	})
	return c, err
}

// readResults reads the call results that belong to the messages in c.
func readResults(tx *store.Tx, id umpire.SessionID, open opener, c *umpire.Conversation) error {
	wanted := map[umpire.BatchID]bool{}
	for i := range c.Messages {
		wanted[c.Messages[i].Batch] = true
	}
	delete(wanted, "")
	maps.DeleteFunc(c.Batches, func(id umpire.BatchID, _ umpire.Done) bool { return !wanted[id] })
	if len(wanted) == 0 {
		return nil
	}
	batches, err := tx.Batches.List(id)
	if err != nil {
		return err
	}
	for i := range batches {
		b := &batches[i]
		if !wanted[b.ID] {
			continue
		}
		if c.Batches[b.ID], err = readDone(tx, b, open); err != nil {
			return err
		}
	}
	return nil
}

func readMessages(tx *store.Tx, q umpire.ConversationQuery, open opener, c *umpire.Conversation) error {
	id := q.Session
	rows, err := tx.Messages.List(id)
	if err != nil {
		return err
	}
	for _, row := range rows {
		content, err := open(messageLabel(id), row.Content)
		if err != nil {
			return err
		}
		if row.Role != roleResults {
			c.Messages = append(c.Messages, umpire.Message{N: row.N, Role: row.Role, Batch: row.Batch,
				Content: json.RawMessage(content), At: row.At})
			continue
		}
		var done umpire.Done
		if err := json.Unmarshal([]byte(content), &done); err != nil {
			return umpire.Errorf("results of batch %q: %w", row.Batch, err)
		}
		c.Batches[row.Batch] = done
	}
	if q.Limit > 0 {
		c.Messages = c.Messages[max(0, len(c.Messages)-q.Limit):]
	}
	return nil
}

// readDone reads the results of a batch, in the order of its calls.
func readDone(tx *store.Tx, b *umpire.Batch, open opener) (umpire.Done, error) {
	done := umpire.Done{Results: []umpire.Result{}, Cancelled: b.Cancelled}
	for i := range b.Calls {
		row, err := tx.Results.Get(b.Session, b.Calls[i].ID)
		if errors.Is(err, umpire.ErrNotFound) {
			continue
		}
		if err != nil {
			return done, err
		}
		output, err := open(resultLabel(b.Session, row.Call), row.Output)
		if err != nil {
			return done, err
		}
		done.Results = append(done.Results, umpire.Result{
			Call: row.Call, Session: b.Session, Batch: b.ID, Status: row.Status, Code: row.Code, Output: output,
			At: row.At,
		})
	}
	return done, nil
}

// copyMessages returns a conversation as messages for another session. It omits calls without a
// result.
func (cs *conversations) copyMessages(ctx context.Context, from, to umpire.SessionID) ([]store.MessageRow, error) {
	c, err := cs.conversation(ctx, from)
	if err != nil {
		return nil, err
	}
	var rows []store.MessageRow
	keep := func(role string, id umpire.BatchID, content json.RawMessage) error {
		sealed, err := cs.sealJSON(messageLabel(to), content)
		rows = append(rows, store.MessageRow{Role: role, Batch: id, Content: sealed, At: cs.now()})
		return err
	}
	open := map[umpire.BatchID]bool{}
	if err := cs.view(ctx, func(tx *store.Tx) error {
		batches, err := tx.Batches.ListOpen(from)
		for i := range batches {
			open[batches[i].ID] = batches[i].State != umpire.BatchFinished
		}
		return err
	}); err != nil {
		return nil, err
	}
	for _, m := range c.Messages {
		if open[m.Batch] {
			break
		}
		if err := keep(m.Role, m.Batch, m.Content); err != nil {
			return nil, err
		}
		if m.Batch == "" {
			continue
		}
		if err := keep(roleResults, m.Batch, data(c.Batches[m.Batch])); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Reply stores a model's message without tool calls: the turn is over, unless user messages are
// queued.
func (cs *conversations) Reply(ctx context.Context, r umpire.Reply) (s umpire.Session, err error) {
	if r.Session == "" {
		return s, invalid("session_id", "is missing")
	}
	if len(r.Message) == 0 || !json.Valid(r.Message) || len(r.Message) > maxMessage {
		return s, invalid("message", "want JSON of 1 to %d bytes", maxMessage)
	}
	sealed, err := cs.sealJSON(messageLabel(r.Session), r.Message)
	if err != nil {
		return s, err
	}
	cs.reached("replying")
	err = cs.step(ctx, r.Session, r.Epoch, func(t *transaction) error {
		if t.session.State == umpire.SessionOver {
			return umpire.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
		}
		if err := t.deliverPrevious(""); err != nil {
			return err
		}
		t.addMessage(roleAssistant, "", sealed)
		t.session.State = umpire.SessionIdle
		s = t.session
		return nil
	})
	return s, err
}
