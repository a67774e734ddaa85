package console

import (
	"fmt"
	"net/http"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate/history"
	"github.com/umpirehq/umpire/internal/view"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

const overviewPath = "/overview"

// The overviewPages show statistics of the latest events.
type overviewPages struct{ *Console }

// periods are the overview's periods, each divided into equal parts.
var periods = []struct {
	name, label string
	length      time.Duration
	parts       int
}{
	{"day", "last 24 hours", 24 * time.Hour, 24},
	{"week", "last 7 days", tallyTime, 28},
}

// An overview is a page of figures.
type overview struct {
	*figures

	text   *catalogue.Language
	period string
	since  time.Time

	asked       bool // for suggestions
	suggestions []history.Saving
}

// showOverview shows the figures of a period.
func (c *overviewPages) showOverview(w http.ResponseWriter, r *http.Request) {
	facts, err := c.tally.latest(r.Context())
	chosen := periods[0]
	for _, p := range periods {
		if p.name == r.URL.Query().Get("period") {
			chosen = p
		}
	}
	o := &overview{
		figures: countFigures(facts, c.now(), chosen.length, chosen.parts), text: textOf(r), period: chosen.name,
	}
	if len(facts) >= maxTallied && facts[0].at.After(o.from) {
		o.since = facts[0].at
	}
	if o.asked = err == nil && c.config.Suggest != nil && r.URL.Query().Has("suggest"); o.asked {
		o.suggestions, err = c.config.Suggest(r.Context(), o.text, o.from)
	}
	if err != nil {
		sendRefusal(w, r, statusOf(err), err)
		return
	}
	c.showPage(w, r, overviewPath, o.text.Of("Overview"), o.draw())
}

// draw draws the page of figures.
func (o *overview) draw() part {
	var choices []choice
	for _, p := range periods {
		choices = append(choices, choice{p.name, o.text.Of(p.label)})
	}
	sum := o.total.sum()
	return element("main", class("slow"), attr("id", "question"), attr("tabindex", "-1"),
		element("h1", written(o.text.Of("Overview"))),
		element("form", class("filters"), attr("data-path", overviewPath),
			drawSelect("period", o.text.Of("period"), choices, o.period)),
		element("p", class("sum"), written(view.Joined(o.text.Count(sum, "%d call", "%d calls"), ": ",
			fmt.Sprintf(o.text.Of("%d allowed unasked, %d asked, %d denied"),
				o.total[umpire.Allow], o.total[umpire.Ask], o.total[umpire.Deny])))),
		when(!o.since.IsZero(), paragraph("note", fmt.Sprintf(o.text.Of("counted since %s"),
			o.since.Local().Format("2006-01-02 15:04")))),
		when(sum > 0, o.drawCalls(), o.drawAgents()),
		o.drawAnswers(),
		o.drawSuggestions(),
	)
}

// Dimensions of the plot of calls, in its own units; it is stretched to the page.
const (
	plotHeight = 100
	barUnits   = 10
	barGap     = 2
	barTime    = "01-02 15:04"
)

// drawCalls draws the calls over time as stacked bars, and the same numbers as a table.
func (o *overview) drawCalls() node {
	most := 1
	for i := range o.buckets {
		most = max(most, o.buckets[i].sum())
	}
	var bars parts
	for i := range o.buckets {
		below := 0
		for _, v := range []umpire.Verdict{umpire.Allow, umpire.Ask, umpire.Deny} {
			n := o.buckets[i][v]
			low, high := below*plotHeight/most, (below+n)*plotHeight/most
			bars = append(bars, when(n > 0, drawRect("bar-"+v.String(),
				i*barUnits, plotHeight-high, barUnits-barGap, max(1, high-low))))
			below += n
		}
	}
	legend := func(v umpire.Verdict) part {
		return element("span", class("key-"+v.String()), written(o.text.Word("verdict", v.String())))
	}
	return element("section", class("plot"),
		element("h2", written(o.text.Of("Calls by verdict"))),
		element("p", class("legend"), each([]umpire.Verdict{umpire.Allow, umpire.Ask, umpire.Deny}, legend),
			element("span", class("note"), written(fmt.Sprintf(o.text.Of("at most %d"), most)))),
		drawPlot("columns", len(o.buckets)*barUnits, plotHeight, bars),
		element("p", class("axis"), attr("aria-hidden", "true"),
			element("span", written(o.from.Local().Format(barTime))),
			element("span", written(o.to.Local().Format(barTime)))),
		element("details", element("summary", written(o.text.Of("Calls by verdict, in numbers"))), o.drawNumbers()),
	)
}

func (o *overview) drawNumbers() node {
	step := o.to.Sub(o.from) / time.Duration(len(o.buckets))
	var rows parts
	for i := range o.buckets {
		b := &o.buckets[i]
		if b.sum() > 0 {
			rows = append(rows, drawRow(o.from.Add(time.Duration(i)*step).Local().Format(barTime),
				b[umpire.Allow], b[umpire.Ask], b[umpire.Deny]))
		}
	}
	word := func(v umpire.Verdict) string { return o.text.Word("verdict", v.String()) }
	return drawTable([]string{o.text.Of("from"), word(umpire.Allow), word(umpire.Ask), word(umpire.Deny)}, rows)
}

// drawAgents draws how often each agent asks.
func (o *overview) drawAgents() node {
	var rows parts
	row := func(name string, calls, asks int) {
		share := 100 * float64(asks) / float64(calls)
		rows = append(rows, drawRow(name, calls, asks, fmt.Sprintf("%.1f", share), drawBar("bar-ask", int(share))))
	}
	row(o.text.Of("all agents"), o.total.sum(), o.total[umpire.Ask])
	for _, a := range o.agents {
		row(view.Visible(a.name), a.calls, a.asks)
	}
	return element("section", class("plot"), element("h2", written(o.text.Of("Questions per 100 calls"))),
		drawTable([]string{
			o.text.Of("agent"), o.text.Of("calls"), o.text.Of("questions"), o.text.Of("per 100"), "",
		}, rows))
}

// drawAnswers draws how long questions waited for a person, and how many were approved hastily.
func (o *overview) drawAnswers() part {
	answers := 0
	for _, n := range o.waits {
		answers += n
	}
	if answers == 0 {
		return parts(nil)
	}
	var rows parts
	for i, n := range o.waits {
		label := o.text.Of("longer")
		if i < len(answerTimes) {
			label = "≤ " + view.Age(answerTimes[i])
		}
		rows = append(rows, drawRow(label, n, drawBar("bar-wait", 100*n/answers)))
	}
	return element("section", class("plot"), element("h2", written(o.text.Of("Time to answer"))),
		when(o.approvals > 0, paragraph("note", fmt.Sprintf(
			o.text.Of("%d of %d approvals came within two seconds"), o.hasty, o.approvals))),
		drawTable([]string{o.text.Of("waited"), o.text.Of("answers"), ""}, rows))
}

// drawSuggestions lists the rules that would have saved the most questions, once the person asks for them.
func (o *overview) drawSuggestions() part {
	title := o.text.Of("Rules that would have saved the most questions")
	if !o.asked {
		at := overviewPath + "?" + encodeQuery("period", o.period, "suggest", "1")
		return element("p", class("links"), element("a", address("href", at), written(title)))
	}
	row := func(s history.Saving) part {
		saves := o.text.Count(s.Saves, "saves %d question", "saves %d questions")
		worst := view.Joined(o.text.Of("the worst it could allow"), ": ", o.text.Word("consequence", s.Most.String()))
		return element("li", class("rule"), element("span", class("tag low"), written(fmt.Sprint(s.Saves))),
			each(s.Commands, func(command string) part { return drawTry("", command, o.text) }),
			element("span", class("note"),
				written(saves+" · "+worst+" · "+view.Joined(o.text.Of("of calls such as"), ": ", "")),
				element("code", written(view.Visible(view.List(s.Calls, ", "))))))
	}
	return element("section", class("layer"), element("h2", written(title)),
		when(len(o.suggestions) == 0, paragraph("note", o.text.Of("No rule would have saved two questions or more."))),
		element("ul", each(o.suggestions, row)))
}
