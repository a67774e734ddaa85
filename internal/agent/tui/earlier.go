package tui

import (
	"context"
	"encoding/json"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/agent/llm"
)

// The number of messages shown when a session is resumed: some screens, which can be
// scrolled, or as much as a person listens to.
const (
	earlierShown  = 200
	earlierSpoken = 10
)

// An earlier is the conversation before this process resumed the session. It is read
// before the agent works in the session, so nothing is shown twice.
type earlier struct {
	said umpire.Conversation
	err  error
}

// readEarlier reads the conversation of a session.
func (b *base) readEarlier(ctx context.Context, id umpire.SessionID) earlier {
	said, err := b.conf.Gate.Conversations().Read(ctx, umpire.ConversationQuery{Session: id, Limit: b.reach})
	return earlier{said, err}
}

// sayEarlier shows the earlier conversation, and says how many messages are left out.
func (m *model) sayEarlier(before earlier) {
	if before.err != nil {
		m.log.say(warningEntry, m.problem(before.err))
		return
	}
	messages := before.said.Messages
	if len(messages) > 0 && messages[0].N > 1 {
		m.log.say(noteEntry, m.conf.Text.Count(int(messages[0].N-1),
			"%d earlier message; /timeline shows all that happened",
			"%d earlier messages; /timeline shows all that happened"))
	}
	for i := range messages {
		wrote := m.log.sayMessage(&messages[i], before.said.Batches[messages[i].Batch].Results)
		if wrote != "" {
			m.wrote.rememberMessage(wrote)
		}
	}
}

// sayMessage shows a stored message, with those of its calls that have a result. The
// other calls still have to run, and are shown afterwards. It returns the person's
// text.
func (t *transcript) sayMessage(stored *umpire.Message, results []umpire.Result) (wrote string) {
	if stored.Role == string(llm.RoleUser) {
		if json.Unmarshal(stored.Content, &wrote) == nil {
			t.addEntry(&entry{kind: userEntry, text: wrote, earlier: true})
		}
		return wrote
	}
	var message llm.Message
	if json.Unmarshal(stored.Content, &message) != nil {
		return "" // of another agent's form
	}
	if text := message.Text(); text != "" {
		t.say(assistantEntry, text)
	}
	calls := map[umpire.CallID]llm.Block{}
	for _, call := range message.Calls() {
		calls[umpire.CallID(call.ID)] = call
	}
	for i := range results {
		call := calls[results[i].Call]
		t.addEntry(&entry{
			kind: callEntry, text: subjectOf(call.Tool, call.Input), status: results[i].Status,
			detail: resultText(&results[i]),
		})
	}
	return ""
}
