package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/store"
)

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	// roleResults stands in a fork for the results of a batch of its origin.
	roleResults = "results"
)

// maxQueued is how many messages of the user may wait.
const maxQueued = 100

// Prompt takes a message of the user. It starts a turn when its runner gives it and
// nothing waits, and is queued otherwise.
func (g *Gate) Prompt(ctx context.Context, p umpire.Prompt) (umpire.Prompted, error) {
	if p.Session == "" {
		return umpire.Prompted{}, invalid("session_id", "is missing")
	}
	if len(p.Text) > maxMessage {
		return umpire.Prompted{}, invalid("text", "larger than %d bytes", maxMessage)
	}
	content := data(p.Text)
	sealed, err := g.sealJSON(messageLabel(p.Session), content)
	if err != nil {
		return umpire.Prompted{}, err
	}
	var told umpire.Prompted
	err = g.step(ctx, p.Session, p.Epoch, func(t *step) error {
		told, err = t.prompt(&p, sealed)
		return err
	})
	return told, err
}

func (t *step) prompt(p *umpire.Prompt, sealed store.Sealed) (umpire.Prompted, error) {
	if t.session.State == umpire.SessionOver {
		return umpire.Prompted{}, fmt.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
	}
	if t.session.External {
		// The agent keeps its own conversation; only the turn matters here.
		t.session.Turn++
		return umpire.Prompted{Turn: t.session.Turn}, nil
	}
	if p.Epoch != 0 && t.session.State == umpire.SessionIdle {
		t.session.Turn++
		t.session.State = umpire.SessionGenerating
		return umpire.Prompted{Turn: t.session.Turn}, t.keepMessage(roleUser, "", sealed)
	}
	n, err := t.tx.QueuePrompt(t.session.ID, store.PromptRow{Text: sealed, At: t.now})
	if err != nil {
		return umpire.Prompted{}, err
	}
	if n > maxQueued {
		return umpire.Prompted{}, fmt.Errorf("session %q has %d messages queued: %w", t.session.ID, maxQueued, umpire.ErrLimit)
	}
	err = t.append(umpire.Event{Kind: umpire.EventPromptQueued}, map[string]any{"position": n, "waiting": t.session.Pending})
	return umpire.Prompted{Queued: true, Waiting: t.session.Pending}, err
}

// keepMessage appends a message to the conversation; an empty one is none.
func (t *step) keepMessage(role string, id umpire.BatchID, content store.Sealed) error {
	if content.Shown == "" {
		return nil
	}
	_, err := t.tx.AppendMessage(t.session.ID, store.MessageRow{Role: role, Batch: id, Content: content, At: t.now})
	if err != nil || role != roleAssistant {
		return err
	}
	return t.append(umpire.Event{Kind: umpire.EventModelReplied, Batch: id}, nil)
}

// Compose begins the next request to the model: it takes the queued messages,
// claims the results of the finished batch, and returns the conversation as it is
// stored. Until the model has replied, composing again gives the same again.
func (g *Gate) Compose(ctx context.Context, id umpire.SessionID, epoch int64) (umpire.Conversation, error) {
	if id == "" {
		return umpire.Conversation{}, invalid("session_id", "is missing")
	}
	var session umpire.Session
	err := g.step(ctx, id, epoch, func(t *step) error {
		if err := t.compose(); err != nil {
			return err
		}
		session = t.session
		return nil
	})
	if err != nil {
		return umpire.Conversation{}, err
	}
	g.reached("composed")
	c, err := g.conversation(ctx, id)
	c.Session = session
	return c, err
}

func (t *step) compose() error {
	if t.session.State == umpire.SessionOver {
		return fmt.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
	}
	claimed, err := t.claim()
	if err != nil {
		return err
	}
	taken, err := t.takePrompts()
	if err != nil {
		return err
	}
	fresh := claimed != "" || taken
	if !fresh {
		messages, err := t.tx.Messages(t.session.ID)
		if err != nil {
			return err
		}
		fresh = len(messages) > 0 && messages[len(messages)-1].Role == roleUser
	}
	if !fresh {
		return fmt.Errorf("session %q has nothing to send to the model: %w", t.session.ID, umpire.ErrState)
	}
	t.session.State = umpire.SessionGenerating
	return t.append(umpire.Event{Kind: umpire.EventModelRequested, Batch: claimed}, map[string]any{"epoch": t.session.Epoch})
}

// claim takes the results of the batch that is finished, for one continuation. One
// that was claimed and never delivered is handed out again under the same id.
func (t *step) claim() (umpire.BatchID, error) {
	b, err := t.lane("")
	if err != nil || b == nil {
		return "", err
	}
	if b.State != umpire.BatchFinished {
		return "", fmt.Errorf("batch %q of session %q is %s, %d calls wait for a person: %w",
			b.ID, t.session.ID, b.State, b.Waiting(), umpire.ErrState)
	}
	row, err := t.tx.Resume(t.session.ID, b.ID)
	if err == nil && row.Epoch == t.session.Epoch {
		return b.ID, nil
	}
	if err != nil && !errors.Is(err, umpire.ErrNotFound) {
		return "", err
	}
	return b.ID, t.tx.ClaimResume(t.session.ID, b.ID, t.session.Epoch, t.now)
}

// lane returns the open batch of a lane, or nil.
func (t *step) lane(lane string) (*umpire.Batch, error) {
	b, err := t.tx.OpenBatch(t.session.ID, lane)
	if errors.Is(err, umpire.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &b, nil
}

// takePrompts sends the queued messages: together they are one turn.
func (t *step) takePrompts() (bool, error) {
	prompts, err := t.tx.TakePrompts(t.session.ID)
	if err != nil || len(prompts) == 0 {
		return false, err
	}
	t.session.Turn++
	for _, p := range prompts {
		if err := t.keepMessage(roleUser, "", p.Text); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Conversation returns what was said in a session, with its secrets masked: it is for
// people, who may look at it whoever runs the session.
func (g *Gate) Conversation(ctx context.Context, q umpire.ConversationQuery) (umpire.Conversation, error) {
	if q.Limit < 0 {
		return umpire.Conversation{}, invalid("limit", "is negative")
	}
	session, err := g.Session(ctx, q.Session)
	if err != nil {
		return umpire.Conversation{}, err
	}
	masked := func(_ string, s store.Sealed) (string, error) { return s.Shown, nil }
	c, err := g.readConversation(ctx, q, masked)
	c.Session = session
	return c, err
}

// conversation reads a session's messages and results, with their secrets: it is
// for the model, which gave or was given them.
func (g *Gate) conversation(ctx context.Context, id umpire.SessionID) (umpire.Conversation, error) {
	return g.readConversation(ctx, umpire.ConversationQuery{Session: id}, g.unseal)
}

// An opener makes a text of what is stored of one.
type opener func(label string, s store.Sealed) (string, error)

func (g *Gate) readConversation(ctx context.Context, q umpire.ConversationQuery, open opener) (umpire.Conversation, error) {
	c := umpire.Conversation{Messages: []umpire.Message{}, Batches: map[umpire.BatchID]umpire.Done{}}
	err := g.view(ctx, func(tx *store.Tx) error {
		if err := readMessages(tx, q, open, &c); err != nil {
			return err
		}
		return readResults(tx, q.Session, open, &c)
	})
	return c, err
}

// readResults reads what became of the calls of the messages that were read.
func readResults(tx *store.Tx, id umpire.SessionID, open opener, c *umpire.Conversation) error {
	wanted := map[umpire.BatchID]bool{}
	for i := range c.Messages {
		wanted[c.Messages[i].Batch] = true
	}
	maps.DeleteFunc(c.Batches, func(id umpire.BatchID, _ umpire.Done) bool { return !wanted[id] })
	batches, err := tx.Batches(id)
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
	rows, err := tx.Messages(id)
	if err != nil {
		return err
	}
	for _, row := range rows {
		content, err := open(messageLabel(id), row.Content)
		if err != nil {
			return err
		}
		if row.Role != roleResults {
			c.Messages = append(c.Messages, umpire.Message{N: row.N, Role: row.Role, Batch: row.Batch, Content: json.RawMessage(content), At: row.At})
			continue
		}
		var done umpire.Done
		if err := json.Unmarshal([]byte(content), &done); err != nil {
			return fmt.Errorf("results of batch %q: %w", row.Batch, err)
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
		row, err := tx.Result(b.Session, b.Calls[i].ID)
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
			Call: row.Call, Session: b.Session, Batch: b.ID, Status: row.Status, Code: row.Code, Output: output, At: row.At,
		})
	}
	return done, nil
}

// copied is a conversation as the messages of another session. Calls that have no
// result yet do not come along.
func (g *Gate) copied(ctx context.Context, from, to umpire.SessionID) ([]store.MessageRow, error) {
	c, err := g.conversation(ctx, from)
	if err != nil {
		return nil, err
	}
	var rows []store.MessageRow
	keep := func(role string, id umpire.BatchID, content json.RawMessage) error {
		sealed, err := g.sealJSON(messageLabel(to), content)
		rows = append(rows, store.MessageRow{Role: role, Batch: id, Content: sealed, At: g.now()})
		return err
	}
	open := map[umpire.BatchID]bool{}
	if err := g.view(ctx, func(tx *store.Tx) error {
		batches, err := tx.OpenBatches(from)
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

// Reply takes a model's message that calls no tool: the turn is over, unless
// messages of the user wait.
func (g *Gate) Reply(ctx context.Context, r umpire.Reply) (s umpire.Session, err error) {
	if r.Session == "" {
		return s, invalid("session_id", "is missing")
	}
	if len(r.Message) == 0 || !json.Valid(r.Message) || len(r.Message) > maxMessage {
		return s, invalid("message", "want JSON of 1 to %d bytes", maxMessage)
	}
	sealed, err := g.sealJSON(messageLabel(r.Session), r.Message)
	if err != nil {
		return s, err
	}
	g.reached("replying")
	err = g.step(ctx, r.Session, r.Epoch, func(t *step) error {
		if t.session.State == umpire.SessionOver {
			return fmt.Errorf("session %q has ended: %w", t.session.ID, umpire.ErrState)
		}
		if err := t.deliverLane(""); err != nil {
			return err
		}
		if err := t.keepMessage(roleAssistant, "", sealed); err != nil {
			return err
		}
		t.session.State = umpire.SessionIdle
		s = t.session
		return nil
	})
	return s, err
}
