package console

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/judge/coverage"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A question is a card with the rest of the data that its page shows.
type question struct {
	*view.Card

	text    *catalogue.Language
	age     string
	changes string // a unified diff
	remote  bool   // shown on another machine
}

// cardOf returns the card of a question.
func (c *Console) cardOf(ctx context.Context, p *umpire.Pending, text *catalogue.Language) (*view.Card, error) {
	session, err := c.config.Gate.Sessions().Get(ctx, p.Session)
	if err != nil {
		return nil, err
	}
	return view.New(*p, session, text, c.now(), false, host.MeanwhileIn(&session)...), nil
}

// openQuestion returns the card of a question with the rest of its page's data.
func (c *Console) openQuestion(ctx context.Context, p *umpire.Pending, text *catalogue.Language) (*question, error) {
	card, err := c.cardOf(ctx, p, text)
	if err != nil {
		return nil, err
	}
	if card.Pending.Coverage, err = coverage.Load(ctx, c.config.Gate, p); err != nil {
		return nil, err
	}
	return &question{
		Card: card, text: text, age: view.Age(c.now().Sub(p.AskedAt)),
		changes: c.config.Changes(ctx, text, p, &card.Session),
	}, nil
}

// draw draws the card.
func (q *question) draw() node {
	p := &q.Pending
	claim, field := q.Claim()
	return element("article", class("card"), attr("data-state", stateIdle),
		attr("data-request", string(p.Request)), attr("data-session", string(p.Session)),
		attr("data-call", string(p.Call)),
		attr("data-version", strconv.Itoa(p.Version)), attr("data-args", p.ArgsHash),
		attr("data-shown", p.ShownDigest), when(q.remote, flag("data-passkey")),
		linkToList(q.text),
		q.drawWhere(),
		element("h2", drawDot(p.Risk), written(view.Capitalized(q.Headline()))),
		when(view.WhyAsked(q.Card) != "", paragraph("why", view.WhyAsked(q.Card))),
		each(splitParagraphs(q.Remarks()), func(text string) part {
			return element("p", class("remark"), attr("role", "note"), written(text))
		}),
		q.drawCommand(),
		when(!view.HeadlineTellsAll(q.Card), q.drawParts()),
		when(claim != "", element("blockquote", written(claim))),
		drawDiff(q.changes, q.text),
		element("span", class("end"), attr("aria-hidden", "true")),
		element("details", element("summary", written(q.text.Of("all of it"))),
			each(q.Cautions(), func(text string) part { return paragraph("note", text) }),
			element("pre", class("rest"), written(q.Title()+q.Asker()+"\n"+q.Without(field)))),
		q.drawControls(),
		element("p", class("outcome"), attr("role", "status"), attr("tabindex", "-1"), flag("hidden")),
		q.drawNext(),
	)
}

func linkToList(text *catalogue.Language) node {
	return element("a", class("to-list"), address("href", "/"), written("‹ "+text.Of("Inbox")))
}

// drawDot draws a risk by its colour alone; the details have its word.
func drawDot(risk string) node {
	return element("span", class("dot "+risk), attr("aria-hidden", "true"))
}

// drawRisk draws a risk by its word and its colour.
func drawRisk(risk, word string) node { return element("span", class("tag "+risk), written(word)) }

// drawWhere draws the project of the question, the agent, and the state.
func (q *question) drawWhere() node {
	p := &q.Pending
	where := []string{
		nameAsker(p, &q.Session), fmt.Sprintf(q.text.Of("mode %s"), q.Session.Mode),
		fmt.Sprintf(q.text.Of("%d of %d in this message"), p.Position, p.Total), "",
	}
	before, after := cutAge(q.text)
	if expiry := q.Expiry(); expiry != "" {
		after += " · " + expiry
	}
	return element("p", class("where"), written(strings.Join(where, " · ")+before), drawAge(p.AskedAt, q.age),
		written(after))
}

// cutAge returns the words before and after an age.
func cutAge(text *catalogue.Language) (before, after string) {
	before, after, _ = strings.Cut(text.Of("%s ago"), "%s")
	return before, after
}

// drawAge draws a time as its age, which the page keeps up to date.
func drawAge(at time.Time, age string) node {
	return element("time", attr("datetime", at.UTC().Format(time.RFC3339)), attr("title", timeText(at)), flag("data-age"),
		written(age))
}

// drawCommand shows the command, or the tool and the object of another call.
func (q *question) drawCommand() part {
	command := q.Command()
	if len(command) == 0 {
		return element("p", class("object"), written(strings.TrimSpace(view.Visible(q.Pending.Tool)+" "+q.Object())))
	}
	return element("pre", class("command"), written(strings.Join(command, "\n")))
}

// drawParts lists what the call would do, the worst first.
func (q *question) drawParts() part {
	all := view.PartsOf(q.Card)
	row := func(p view.Part) part {
		times := ""
		if p.Times > 1 {
			times = fmt.Sprintf(" ×%d", p.Times)
		}
		return element("li", class(p.Verdict.String()),
			element("span", class("mark"), attr("aria-hidden", "true")),
			element("span", class("verdict"), written(q.text.Word("verdict", p.Verdict.String()))),
			element("span", class("does"), element("code", written(p.Text)), written(times),
				when(p.Why != "", element("span", class("note"), written(p.Why)))),
			element("span", class("risk"), written(q.text.Word("of risk", p.Risk.String()))))
	}
	return when(len(all) > 0,
		element("h3", class("quiet"), written(q.text.Of("what it would do"))),
		element("ul", class("parts"), each(all, row)))
}

// splitParagraphs returns the texts between empty lines.
func splitParagraphs(text string) (all []string) {
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// drawNext draws the link to follow after an answer.
func (q *question) drawNext() node {
	return element("p", class("follow"), flag("hidden"), element("a", address("href", linkToNext(q.Pending.Session)),
		written(q.text.Of("next call")), key("j")))
}
