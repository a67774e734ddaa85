package server

import (
	"context"
	"slices"
	"time"

	"github.com/umpirehq/umpire"
)

// Sessions returns the keeper of the sessions.
func (c *Client) Sessions() umpire.SessionKeeper { return sessions{c} }

// sessions are the procedures about sessions.
type sessions struct{ client *Client }

// Conversations returns the keeper of the sessions' messages.
func (c *Client) Conversations() umpire.ConversationKeeper { return conversations{c} }

// conversations are the procedures about the messages of sessions.
type conversations struct{ client *Client }

// Open begins a session.
func (c sessions) Open(ctx context.Context, in umpire.Opening) (umpire.Session, error) {
	return call[umpire.Session](ctx, c.client, "SessionService/Open", in)
}

// Continue takes a session for a runner.
func (c sessions) Continue(ctx context.Context, in umpire.Resumption) (umpire.Session, error) {
	return call[umpire.Session](ctx, c.client, "SessionService/Continue", in)
}

// Fork begins a session with the conversation of another one of the same project.
func (c sessions) Fork(ctx context.Context, session umpire.SessionID, in umpire.Resumption) (umpire.Session, error) {
	in.ID = session
	return call[umpire.Session](ctx, c.client, "SessionService/Fork", in)
}

// Get returns a session.
func (c sessions) Get(ctx context.Context, session umpire.SessionID) (umpire.Session, error) {
	return call[umpire.Session](ctx, c.client, "SessionService/Get", sessionRequest{session})
}

// Latest returns the session that Continue takes by default.
func (c sessions) Latest(ctx context.Context, in umpire.LatestQuery) (umpire.Session, error) {
	return call[umpire.Session](ctx, c.client, "SessionService/Latest", in)
}

// List lists sessions, the latest activity first. A session that becomes active while pages are
// read keeps its place or moves to the front.
func (c sessions) List(ctx context.Context, in umpire.SessionQuery) ([]umpire.Session, error) {
	type list struct {
		Sessions []umpire.Session `json:"sessions"`
		following
	}
	pages := 0
	read := func(last *umpire.Session, size int) ([]umpire.Session, following, error) {
		page := in
		if page.Limit = size; last != nil {
			page.After, page.AfterActiveAt = last.ID, last.ActiveAt
		}
		pages++
		out, err := call[list](ctx, c.client, "SessionService/List", sessionQuery{page, true})
		return out.Sessions, out.following, err
	}
	all, err := readPages(in.Limit, listedAtOnce, read)
	if err != nil || pages == 1 || in.After != "" || in.Limit > 0 {
		return all, err
	}
	first, _, err := read(nil, listedAtOnce)
	known := make(map[umpire.SessionID]bool, len(all))
	for i := range all {
		known[all[i].ID] = true
	}
	active := slices.DeleteFunc(first, func(s umpire.Session) bool { return known[s.ID] })
	return append(active, all...), err
}

// Read returns the messages of a session, with secrets masked.
func (c conversations) Read(ctx context.Context, in umpire.ConversationQuery) (umpire.Conversation, error) {
	return call[umpire.Conversation](ctx, c.client, "SessionService/GetConversation", in)
}

// SetMode switches a session's mode, or its workspace's allowAll.
func (c sessions) SetMode(ctx context.Context, in umpire.ModeChange) (umpire.Session, error) {
	return call[umpire.Session](ctx, c.client, "SessionService/SetMode", in)
}

// Prompt adds a user message. It is queued while calls wait.
func (c conversations) Prompt(ctx context.Context, in umpire.Prompt) (umpire.Prompted, error) {
	return call[umpire.Prompted](ctx, c.client, "SessionService/Prompt", in)
}

// Compose begins the next request to the model and returns its contents.
func (c conversations) Compose(
	ctx context.Context, session umpire.SessionID, epoch int64,
) (umpire.Conversation, error) {
	return call[umpire.Conversation](ctx, c.client, "SessionService/Compose", composeRequest{session, epoch})
}

// Reply stores a model's message without tool calls.
func (c conversations) Reply(ctx context.Context, in umpire.Reply) (umpire.Session, error) {
	return call[umpire.Session](ctx, c.client, "SessionService/Reply", in)
}

// Renew extends the runner's lease and returns when it ends.
func (c sessions) Renew(ctx context.Context, session umpire.SessionID, epoch int64) (time.Time, error) {
	out, err := call[renewResponse](ctx, c.client, "SessionService/Renew", composeRequest{session, epoch})
	return out.LeaseUntil, err
}

// End ends a session and denies its pending questions.
func (c sessions) End(ctx context.Context, session umpire.SessionID, reason string) error {
	_, err := call[nothing](ctx, c.client, "SessionService/End", endRequest{session, reason})
	return err
}

// Delete removes a session but keeps its events.
func (c sessions) Delete(ctx context.Context, session umpire.SessionID) error {
	_, err := call[nothing](ctx, c.client, "SessionService/Delete", sessionRequest{session})
	return err
}
