package console

import (
	"cmp"
	"context"
	"sync"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
)

// The tasks of sessions are their first messages. They do not change, so each is read once.
type tasks struct {
	gate umpire.Gate

	mu   sync.Mutex
	read map[umpire.SessionID]string
}

func newTasks(gate umpire.Gate) *tasks {
	return &tasks{gate: gate, read: map[umpire.SessionID]string{}}
}

// maxTasks bounds the remembered tasks.
const maxTasks = 4096

// of returns the first message of a session's user, with secrets masked, or "". It is not safe to show.
func (t *tasks) of(ctx context.Context, s *umpire.Session) string {
	if s.Turn == 0 { // no message yet
		return ""
	}
	t.mu.Lock()
	task, known := t.read[s.ID]
	t.mu.Unlock()
	if known {
		return task
	}
	said, err := t.gate.Conversations().Read(ctx, umpire.ConversationQuery{Session: s.ID})
	if err != nil {
		return "" // a session without a name is better than no page
	}
	task = view.FirstMessage(said.Messages)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.read) >= maxTasks {
		clear(t.read)
	}
	t.read[s.ID] = task
	return task
}

// nameSession returns the first words of a session's task, or else the given name. It is safe to show.
func (t *tasks) nameSession(ctx context.Context, s *umpire.Session, other string) string {
	return cmp.Or(view.FirstWords(t.of(ctx, s)), other)
}
