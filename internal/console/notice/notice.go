package notice

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// The kinds of notices.
const (
	eventWaiting  = "waiting"
	eventAnswered = "answered"
	eventTest     = "test"
)

// Limits on texts chosen by strangers.
const (
	maxName    = 60  // UTF-16 units of a tool, a project or an agent
	maxCommand = 600 // and of the call's object
)

// A notice is one message to a person. Its texts are safe to show.
type notice struct {
	event   string
	request umpire.RequestID
	session umpire.SessionID
	at      time.Time
	title   string // tool and risk
	text    string
	risk    string
	project string
	agent   string
	tool    string
	object  string // the object of the call; "" unless the person allows it
	answer  umpire.Choice
	scope   umpire.Scope
	buttons []button
	settled *atomic.Bool // the question was answered
}

// A question is a waiting call with its notices.
type question struct {
	request umpire.RequestID
	session umpire.SessionID
	due     time.Time
	told    *notice // the notice sent; nil until then
}

// describe makes the notice of a waiting question.
func describe(card *view.Card, text *catalogue.Language, commands bool) *notice {
	p := &card.Pending
	n := &notice{
		settled: &atomic.Bool{}, event: eventWaiting, request: p.Request, session: p.Session,
		at: p.AskedAt, risk: p.Risk,
		project: view.Brief(view.ProjectName(p.Project, card.Session.Root), maxName), tool: view.Brief(p.Tool, maxName),
		agent: view.Brief(cmp.Or(p.Agent, card.Session.Agent, "?"), maxName),
	}
	n.title = view.Joined(n.tool, " · ", text.Word("of risk", p.Risk))
	n.text = fmt.Sprintf(text.Of("%s asks in %s"), n.agent, n.project)
	if commands {
		n.title, n.object = card.Headline(), objectOf(card)
		n.text = strings.TrimSpace(n.object + "\n\n" + n.text)
	}
	return n
}

// objectOf returns everything the call is about, shortened if long.
func objectOf(card *view.Card) string {
	if command := card.Command(); len(command) > 0 {
		return view.Clip(strings.Join(command, "\n"), maxCommand)
	}
	return view.Clip(card.Object(), maxCommand)
}

// describeAnswer makes the notice that a question was answered. The answer may be unknown.
func describeAnswer(of *notice, s *umpire.Standing, now time.Time, text *catalogue.Language) *notice {
	n := *of
	n.event, n.at, n.object, n.buttons = eventAnswered, now, "", nil
	n.text = text.Of("no longer waits")
	if s != nil {
		n.answer, n.scope, n.at = s.Choice, s.Scope, s.At
		n.text = text.Of(view.Answered(s.Choice))
		if s.Choice == umpire.Approve {
			n.text = view.Bracketed(n.text, text.Of(s.Scope.String()))
		}
		if s.Actor != "" {
			n.text += " " + fmt.Sprintf(text.Of("by %s"), view.Brief(s.Actor, maxName))
		}
	}
	n.text += "\n" + fmt.Sprintf(text.Of("%s asks in %s"), n.agent, n.project)
	return &n
}

// testNotice returns the notice that a person sends to test delivery.
func testNotice(now time.Time, text *catalogue.Language) *notice {
	return &notice{
		event: eventTest, request: "test", at: now, title: "umpire", risk: "low",
		text: text.Of("Notices of umpire arrive here."),
	}
}

// sequence identifies the notices of one question to a server, which then replaces the earlier
// notice by the later one.
func (n *notice) sequence() string {
	sum := sha256.Sum256([]byte(n.request))
	return hex.EncodeToString(sum[:8])
}
