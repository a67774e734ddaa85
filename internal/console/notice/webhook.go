package notice

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// hookVersion is the version of a webhook's format. New fields keep the version; any other change
// increments it.
const hookVersion = 1

// A hookMessage is the body of a request to a webhook.
type hookMessage struct {
	Version int       `json:"version"`
	Event   string    `json:"event"` // waiting, answered, test
	Request string    `json:"request_id"`
	At      time.Time `json:"at"`
	Title   string    `json:"title"`
	Text    string    `json:"text"`
	Risk    string    `json:"risk_level,omitempty"`
	Project string    `json:"project,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	Command string    `json:"command,omitempty"`
	Answer  string    `json:"answer,omitempty"`
	Scope   string    `json:"scope,omitempty"`
}

// A webhookTarget posts notices to an address.
type webhookTarget struct {
	poster

	url    string
	secret string
	now    func() time.Time
}

func (t *webhookTarget) name() string { return "webhook " + hostOf(t.url) }

// deliver posts a notice. A second try has the same delivery ID, and a new signature.
func (t *webhookTarget) deliver(ctx context.Context, n *notice) error {
	m := hookMessage{
		Version: hookVersion, Event: n.event, Request: string(n.request), At: n.at.UTC(), Title: n.title, Text: n.text,
		Risk: n.risk, Project: n.project, Agent: n.agent, Tool: n.tool, Command: n.object, Answer: string(n.answer),
	}
	if m.Answer != "" {
		m.Scope = n.scope.String()
	}
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return t.post(ctx, t.url, body, map[string]string{
		"Umpire-Delivery":  n.sequence() + "-" + n.event,
		"Umpire-Signature": sign(t.secret, t.now(), body),
	})
}

// sign signs a body together with the time of sending; a receiver can then refuse an old one.
func sign(secret string, now time.Time, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "%d.%s", now.Unix(), body) // never fails
	return fmt.Sprintf("t=%d,v1=%s", now.Unix(), hex.EncodeToString(mac.Sum(nil)))
}
