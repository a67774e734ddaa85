package console

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"unicode/utf8"

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
	for i := range said.Messages {
		if m := &said.Messages[i]; m.Role == "user" && json.Unmarshal(m.Content, &task) == nil && task != "" {
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.read) >= maxTasks {
		clear(t.read)
	}
	t.read[s.ID] = task
	return task
}

// maxTitle is how many characters of a task name its session.
const maxTitle = 60

// nameSession returns the first words of a session's task, or else the given name. It is safe to show.
func (t *tasks) nameSession(ctx context.Context, s *umpire.Session, other string) string {
	return cmp.Or(view.Visible(firstWords(t.of(ctx, s), maxTitle)), other)
}

// firstWords returns as many words of a text as fit into a number of characters.
func firstWords(text string, most int) string {
	name := ""
	for word := range strings.FieldsSeq(text) {
		switch room := most - utf8.RuneCountInString(name); {
		case name == "" && utf8.RuneCountInString(word) > room:
			return string([]rune(word)[:room]) + "…"
		case name == "":
			name = word
		case utf8.RuneCountInString(word)+1 > room:
			return name + " …"
		default:
			name += " " + word
		}
	}
	return name
}
