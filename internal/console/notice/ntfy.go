package notice

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// An ntfyMessage is a message as described at https://docs.ntfy.sh/publish/#publish-as-json. It is
// never marked as markdown, and a tap on it opens nothing.
type ntfyMessage struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority"`
	Tags     []string `json:"tags,omitempty"`
	// Actions are buttons, at most three.
	Actions []ntfyAction `json:"actions,omitempty"`
	// Sequence lets a later message replace this one; servers before 2.16 ignore it.
	Sequence string `json:"sequence_id,omitempty"`
}

// An ntfyAction is a button that sends a request, see https://docs.ntfy.sh/publish/#send-http-request. It
// contains no server token: anybody may write to the topic of replies.
type ntfyAction struct {
	Action string `json:"action"` // http
	Label  string `json:"label"`
	URL    string `json:"url"`
	Method string `json:"method"`
	Body   string `json:"body"`
	Clear  bool   `json:"clear"` // the notice disappears after the request
}

// buttonLabels are the words on the buttons.
var buttonLabels = map[umpire.Choice]string{
	umpire.Approve: "allow this time", umpire.Refuse: "deny", umpire.Cancel: "cancel",
}

// ntfyRisks are the priorities and emoji by risk. An unknown risk is treated as the highest.
var ntfyRisks = map[string]struct {
	priority int
	tag      string
}{
	umpire.Low.String(): {3, "grey_question"}, umpire.Medium.String(): {3, "large_orange_diamond"},
	umpire.High.String(): {4, "warning"},
}

// quietPriority is the priority of notices that need no action.
const quietPriority = 2

// An ntfyTarget publishes to a topic of a server.
type ntfyTarget struct {
	poster

	server config.Ntfy
	token  string
	text   *catalogue.Language
}

func (t *ntfyTarget) name() string { return "ntfy " + hostOf(t.server.Server) }

// deliver publishes a notice.
func (t *ntfyTarget) deliver(ctx context.Context, n *notice) error {
	body, err := json.Marshal(t.message(n))
	if err != nil {
		return err
	}
	return t.post(ctx, t.server.Server, body, map[string]string{"Authorization": bearer(t.token)})
}

func (t *ntfyTarget) message(n *notice) ntfyMessage {
	m := ntfyMessage{
		Topic: t.server.Topic, Title: n.title, Message: n.text, Priority: quietPriority, Sequence: n.sequence(),
	}
	if n.event == eventWaiting {
		risk, known := ntfyRisks[n.risk]
		if !known {
			risk = ntfyRisks[umpire.High.String()]
		}
		m.Priority, m.Tags = risk.priority, []string{risk.tag}
	}
	for _, b := range n.buttons {
		m.Actions = append(m.Actions, ntfyAction{
			Action: "http", Label: t.text.Of(buttonLabels[b.choice]), Clear: true,
			URL:    strings.TrimRight(t.server.Server, "/") + "/" + t.server.Replies,
			Method: http.MethodPost, Body: b.token,
		})
	}
	return m
}

func bearer(token string) string {
	if token == "" {
		return ""
	}
	return "Bearer " + token
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	return u.Host
}
