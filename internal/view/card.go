// Package card is what a person is shown of a question: all of it, since an answer is
// bound to what was shown. Every face shows the same card.
//
//	c := card.New(pending, session, text, now, false)
//	fmt.Print(c.Whole())
//	c.Reach(umpire.ScopeProject, "") // what an approval would cover
//
// Everything on a card comes from calls, models or repositories, so nothing of it is
// handed on raw: what a terminal would obey, or nobody would see, is an escape, and the
// card says so.
package card

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
)

// A Card is a question as a person is shown it. Make it with [New]; it does not change
// then, and is safe for concurrent use.
type Card struct {
	Pending umpire.Pending
	Session umpire.Session

	text   Catalogue
	now    time.Time
	colour bool
	// hidden says that something on the card is not what it looks like.
	hidden bool

	w *strings.Builder // what is being written

	heading, title, asker, input, rest, remarks string
}

// New makes the card of a question that was asked in a session. Colour has the card bear
// escapes that colour its own words, and no others.
func New(p umpire.Pending, s umpire.Session, text Catalogue, now time.Time, colour bool) *Card {
	c := &Card{Pending: p, Session: s, text: text, now: now, colour: colour}
	c.heading = c.section(c.writeHeading)
	c.title = c.section(c.writeTitle)
	c.asker = c.section(c.writeAsker)
	c.input = c.section(func() { c.fields(p.Input) })
	c.rest = c.section(c.writePlanned, c.writeAccesses, c.writeOutside, c.writeExtra)
	c.remarks = c.section(c.writeRemarks) // which know by now whether something hides
	return c
}

func (c *Card) section(writes ...func()) string {
	c.w = &strings.Builder{}
	for _, write := range writes {
		write()
	}
	return c.w.String()
}

// Whole is the card with everything on it.
func (c *Card) Whole() string { return "\n" + c.heading + c.title + "\n" + c.asker + c.Body() }

// Title is the line that says how bad it is and why it is asked.
func (c *Card) Title() string { return c.title }

// Asker says who asks, where, and how the question stands.
func (c *Card) Asker() string { return c.asker }

// Body says what the call was given and what it would do.
func (c *Card) Body() string { return c.input + c.rest + c.remarks }

// Command is the command line that the call would run, made safe to show, line by line;
// nothing for other calls.
func (c *Card) Command() []string {
	var fields map[string]json.RawMessage // names are told apart by case, as tools do
	var command string
	if c.Pending.CommandInfo == nil || json.Unmarshal(c.Pending.Input, &fields) != nil || json.Unmarshal(fields["command"], &command) != nil {
		return nil
	}
	return lines(middleOut(command))
}

// Without is the body without the remarks and some fields of the input, for where they
// are shown in another form.
func (c *Card) Without(fields ...string) string {
	other := *c
	return other.section(func() { other.fields(c.Pending.Input, fields...) }) + c.rest
}

// Remarks are what must not be overlooked; "" when there is nothing.
func (c *Card) Remarks() string { return c.remarks }

// Hidden reports whether something on the card is not what it looks like. Such a call
// can be approved once only.
func (c *Card) Hidden() bool { return c.hidden }

// writeHeading says that something is asked, by which tool, and what sort of thing it is.
func (c *Card) writeHeading() {
	fmt.Fprintf(c.w, "⚠️ %s\n", c.text.Of("Permission request"))
	fmt.Fprintf(c.w, c.text.Of("%s asks to run:")+"\n", c.show(c.Pending.Tool))
	for i, line := range c.Command() {
		fmt.Fprintf(c.w, "%s%s\n", map[bool]string{true: "$ ", false: "  "}[i == 0], line)
	}
	for _, text := range c.Cautions() {
		fmt.Fprintln(c.w, text)
	}
	c.w.WriteString("\n")
}

// Cautions say what sort of thing the call does: that it runs a command, changes a file,
// sends something over the network.
func (c *Card) Cautions() []string {
	p := &c.Pending
	does := func(kind umpire.AccessKind) bool {
		return slices.ContainsFunc(p.Accesses, func(a umpire.Access) bool { return a.Kind == kind })
	}
	var texts []string
	if p.Access == "command" {
		texts = append(texts, c.text.Of("This command runs a shell operation"))
	}
	if p.Access == "write" && does(umpire.KindWrite) {
		texts = append(texts, c.text.Of("This creates or overwrites a file"))
	}
	if does(umpire.KindNetwork) {
		texts = append(texts, c.text.Of("This sends a request over the network"))
	}
	return texts
}

// writeTitle writes the line that says how bad it is and why it is asked.
func (c *Card) writeTitle() {
	p := &c.Pending
	fmt.Fprintf(c.w, "%s  %s  %s\n", Verdict(umpire.Ask, c.text, c.colour), c.risk(p.Risk), c.show(c.text.Reason(p.Reason)))
}

// risk writes a risk in the person's language, dangerous ones in red.
func (c *Card) risk(level string) string {
	word := c.text.Of("risk " + level)
	if c.colour && (level == umpire.High.String() || level == umpire.Critical.String()) {
		return VerdictColour(umpire.Deny) + word + "\x1b[0m"
	}
	return word
}

// Row is a line with a named value.
func Row(name, value string) string {
	if name != "" {
		name += ":"
	}
	return fmt.Sprintf("  %s %s\n", Padded(name, 14), value)
}

func (c *Card) row(name, value string) { c.w.WriteString(Row(name, value)) }

// writeAsker writes who asks, where, and how the question stands.
func (c *Card) writeAsker() {
	p, s := &c.Pending, &c.Session
	c.row(c.text.Of("request"), fmt.Sprintf("%s, "+c.text.Of("%d of %d in this message"), c.show(string(p.Request)), p.Position, p.Total))
	c.row(c.text.Of("agent"), c.show(cmp.Or(p.Agent, "?")))
	c.row(c.text.Of("session"), fmt.Sprintf("%s, "+c.text.Of("mode %s"), c.show(string(p.Session)), s.Mode))
	c.row(c.text.Of("project"), fmt.Sprintf("%s  %s", c.show(p.Project.Short()), c.show(s.Root)))
	if s.Dir != s.Root && s.Dir != "" {
		c.row(c.text.Of("folder"), c.show(s.Dir))
	}
	asked := fmt.Sprintf(c.text.Of("%s ago"), Age(c.now.Sub(p.AskedAt)))
	if !p.ExpiresAt.IsZero() {
		asked += ", " + fmt.Sprintf(c.text.Of("expires in %s"), Age(p.ExpiresAt.Sub(c.now)))
	}
	c.row(c.text.Of("asked"), asked)
	c.row(c.text.Of("tool"), fmt.Sprintf("%s (%s)", c.show(p.Tool), c.show(string(p.Call))))
}
