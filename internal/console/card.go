package console

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
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
	return view.New(*p, session, c.config.Home, text, c.now(), false, host.MeanwhileIn(&session)...), nil
}

// openQuestion returns the card of a question with the rest of its page's data.
func (c *Console) openQuestion(ctx context.Context, p *umpire.Pending, text *catalogue.Language) (*question, error) {
	card, err := c.cardOf(ctx, p, text)
	if err != nil {
		return nil, err
	}
	if card.Pending.Coverage, err = view.LoadCoverage(ctx, c.config.Gate, p); err != nil {
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
	says, command := view.HowToSettle(p, q.text)
	return element("article", class("card"), attr("data-state", stateIdle),
		attr("data-request", string(p.Request)), attr("data-session", string(p.Session)),
		attr("data-call", string(p.Call)),
		attr("data-version", strconv.Itoa(p.Version)), attr("data-args", p.ArgsHash),
		attr("data-shown", p.ShownDigest), when(q.remote, flag("data-passkey")),
		linkToList(q.text),
		q.drawWhere(),
		element("h2", drawDot(p.Risk), written(view.Capitalized(q.Headline()))),
		paragraph("why", q.why()),
		when(command != "", drawTry(view.Joined(says, ":", ""), command, q.text)),
		each(splitParagraphs(q.Remarks()), func(text string) part {
			return element("p", class("remark"), attr("role", "note"), written(text))
		}),
		when(claim != "", element("blockquote", written(claim))),
		q.drawWhatItDoes(),
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
	return element("time", attr("datetime", at.UTC().Format(time.RFC3339)), attr("title", timeText(at)),
		flag("data-age"), written(age))
}

// drawCommand shows the command, or the tool and the object of another call.
func (q *question) drawCommand() part {
	command := q.Command()
	if len(command) == 0 {
		return element("p", class("object"), written(strings.TrimSpace(view.Visible(q.Pending.Tool)+" "+q.Object())))
	}
	return element("pre", class("command"), q.markRisky(strings.Join(command, "\n")))
}

// why says why the call asks.
func (q *question) why() string {
	if q.isTried() {
		return q.text.Of("It ran in a trial. Nothing is real yet.") + " " +
			q.text.Of("Approving keeps exactly this, and the command is not run again.")
	}
	if why := view.WhyAsked(q.Card); why != "" {
		return view.Capitalized(why)
	}
	return fmt.Sprintf(q.text.Of("In mode %s, umpire asks before this."), q.Session.Mode)
}

// longCommand is how many lines of a command may stand above the parts that ask.
const longCommand = 10

// drawWhatItDoes draws the call and what it would do, the parts that ask in view, or what its trial did.
func (q *question) drawWhatItDoes() part {
	does := when(!view.HeadlineTellsAll(q.Card), q.drawParts())
	if q.isTried() && q.changes != "" { // each change stands in the tree and in the diff
		return parts{q.drawCommand(), drawDiff(q.changes, true, q.text),
			element("details", element("summary", written(q.text.Of("what it would do"))), does)}
	}
	all := parts{q.drawCommand(), does}
	if len(q.Command()) > longCommand {
		all = parts{does, q.drawCommand()}
	}
	return append(all, q.drawScripts(), drawDiff(q.changes, true, q.text))
}

func (q *question) isTried() bool {
	t := q.Pending.Trial
	return t != nil && t.State == umpire.TrialWaiting
}

// drawScripts draws the files whose code the call runs, line by line.
func (q *question) drawScripts() part {
	return each(q.Pending.CodeFiles, func(f umpire.CodeFile) part {
		name := f.Path
		if rest, ok := strings.CutPrefix(name, q.Session.Root+"/"); ok {
			name = rest
		}
		var lines parts
		for line := range strings.Lines(f.Text) {
			if len(lines) == maxDiff {
				lines = append(lines, element("span", class("at"), written("…")))
				break
			}
			lines = append(lines, element("span", class("same"), attr("data-n", strconv.Itoa(len(lines)+1)),
				written(visibleLines(line))))
		}
		return when(f.Text != "", element("figure", class("diff"),
			element("figcaption", written(view.Capitalized(fmt.Sprintf(q.text.Of("runs %s"), view.Visible(name))))),
			element("pre", lines)))
	})
}

// markRisky marks the words of a command that ask or are denied.
func (q *question) markRisky(command string) part {
	var all parts
	words := q.riskyWords()
	for {
		at, length := len(command), 0
		for _, word := range words {
			if i := indexWord(command, word); i >= 0 && (i < at || i == at && len(word) > length) {
				at, length = i, len(word)
			}
		}
		all = append(all, written(command[:at]))
		if length == 0 {
			return all
		}
		all = append(all, element("mark", written(command[at:at+length])))
		command = command[at+length:]
	}
}

// riskyWords returns the texts by which a command names the parts that ask or are denied.
func (q *question) riskyWords() []string {
	var words []string
	for i := range q.Pending.Accesses {
		a := &q.Pending.Accesses[i]
		if a.Verdict == umpire.Allow {
			continue
		}
		if a.Kind == umpire.KindExec {
			words = append(words, a.Program, view.CommandLine(append([]string{a.Program}, a.Args...)))
		} else {
			words = append(words, a.Target, a.TargetIn(q.Session.Root))
		}
	}
	for i := range words {
		words[i] = view.Visible(words[i])
	}
	return words
}

// indexWord returns the index of a word that is not part of a longer one, or -1.
func indexWord(text, word string) int {
	const breaks = " \t\n;|&()<>'\"=$"
	for from := 0; word != ""; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(word)
		if (at == 0 || strings.ContainsRune(breaks, rune(text[at-1]))) &&
			(end == len(text) || strings.ContainsRune(breaks, rune(text[end]))) {
			return at
		}
		from = end
	}
	return -1
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
	safe := slices.IndexFunc(all, func(p view.Part) bool { return p.Verdict == umpire.Allow })
	if safe < 0 || len(all)-safe < foldedParts {
		safe = len(all)
	}
	return when(len(all) > 0,
		element("h3", class("quiet"), written(q.text.Of("what it would do"))),
		element("ul", class("parts"), each(all[:safe], row)),
		when(safe < len(all), element("details",
			element("summary", written(q.text.Count(len(all)-safe, "%d safe part", "%d safe parts"))),
			element("ul", class("parts"), each(all[safe:], row)))))
}

// foldedParts is how many parts that are allowed fold into one row.
const foldedParts = 4

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
