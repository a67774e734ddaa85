package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A Card is a question as shown to a person. Create it with [New]. It does not change and is safe
// for concurrent use. Before sharing it, its owner may add the Coverage of its question.
type Card struct {
	Pending umpire.Pending
	Session umpire.Session

	home   string // of the person
	text   *catalogue.Language
	now    time.Time
	colour bool
	// hidden says that the card has invisible or misleading characters.
	hidden bool
	whole  bool     // the card shows everything in the question
	left   []string // the names of the parts that are left out

	w *strings.Builder // the output of the current section

	notes []umpire.Phrase

	heading, title, asking, asker, input, rest, remarks string
}

// New makes the card of a session's question for the person with a home, which may be "". With colour, the card's
// own words have colour escapes; other escapes never appear. Notes are remarks on events while it waits.
func New(
	p umpire.Pending, s umpire.Session, home string, text *catalogue.Language, now time.Time, colour bool,
	notes ...umpire.Phrase,
) *Card {
	return writeCard(&Card{Pending: p, Session: s, home: home, text: text, now: now, colour: colour, notes: notes})
}

// NewWhole makes a card without colours that shows all that the question holds, however long it is.
func NewWhole(
	p umpire.Pending, s umpire.Session, home string, text *catalogue.Language, now time.Time, notes ...umpire.Phrase,
) *Card {
	return writeCard(&Card{Pending: p, Session: s, home: home, text: text, now: now, whole: true, notes: notes})
}

func foldersOf(c *Card) Folders { return Folders{c.Session.Root, c.home} }

// writeCard writes the sections of a card.
func writeCard(c *Card) *Card {
	p := &c.Pending
	c.heading = c.section(c.writeHeading)
	c.title = c.section(c.writeTitle)
	c.asker = c.section(c.writeAsker)
	c.input = c.section(func() { c.fields(p.Input) })
	c.asking = c.section(func() { writeTrial(c) }, c.writeAsking)
	c.rest = c.section(func() { writeRest(c) })
	c.remarks = c.section(c.writeRemarks) // which know by now whether something hides
	return c
}

// writeRest writes the part of the card below the input.
func writeRest(c *Card) {
	c.writeAllowed()
	for _, write := range []func(*Card){writePlanned, writeOutside, writeCode, writeExtra} {
		write(c)
	}
}

func (c *Card) section(writes ...func()) string {
	c.w = &strings.Builder{}
	for _, write := range writes {
		write()
	}
	return c.w.String()
}

// Whole returns the complete card. A long card repeats the asking parts at the end,
// where a terminal stops.
func (c *Card) Whole() string {
	whole := "\n" + c.heading + c.title + c.asking + "\n" + c.asker + c.input + c.rest
	if strings.Count(whole, "\n") > screenful {
		whole += c.asking
	}
	if said, command := HowToSettle(&c.Pending, c.text); command != "" {
		whole += "\n  " + Joined(said, ": ", command) + "\n"
	}
	return whole + c.remarks
}

// screenful is how many lines a small terminal shows.
const screenful = 24

// Title returns the line with the risk and the reason for the question.
func (c *Card) Title() string { return c.title }

// Asker names the agent and its session, and says how the question stands.
func (c *Card) Asker() string { return c.asker }

// Asking returns the subject of the answer: a trial's effects and the parts that ask or are
// denied, the worst first.
func (c *Card) Asking() string { return c.asking }

// AskerAt returns Asker for a later moment.
func (c *Card) AskerAt(now time.Time) string {
	other := *c
	other.now = now
	return other.section(other.writeAsker)
}

// LeftOut names the parts of the call that a card does not show in full. Fields of the input that are shown in
// another form are not among them.
func LeftOut(c *Card, shown ...string) []string {
	other := *c
	other.left = nil
	other.section(
		func() { writeTrial(&other) }, func() { other.fields(other.Pending.Input, shown...) },
		func() { writeRest(&other) },
	)
	if other.Pending.InputSize > 0 && len(shown) == 0 {
		other.left = append(other.left, c.text.Of("input"))
	}
	slices.Sort(other.left)
	return slices.Compact(other.left)
}

// Command returns the lines of the call's command, made safe to show, or nil for other
// calls.
func (c *Card) Command() []string {
	var fields map[string]json.RawMessage // names are told apart by case, as tools do
	var command string
	if c.Pending.CommandInfo == nil || json.Unmarshal(c.Pending.Input, &fields) != nil ||
		json.Unmarshal(fields["command"], &command) != nil {
		return nil
	}
	if !c.whole {
		command = middleOut(command)
	}
	return lines(command)
}

// Limits on the text above the parts that ask.
const (
	briefLines = 6
	briefRunes = 400 // of a line
)

// Brief returns the beginning of the command; the input shows the whole command.
func (c *Card) Brief() []string {
	command := c.Command()
	brief := slices.Clone(command[:min(len(command), briefLines)])
	for i, line := range brief {
		if runes := []rune(line); len(runes) > briefRunes {
			brief[i] = string(runes[:briefRunes]) + " …"
		}
	}
	if left := len(command) - len(brief); left > 0 {
		brief = append(brief, fmt.Sprintf(c.text.Of("... and %d more"), left))
	}
	return brief
}

// Without is the body without the remarks and some fields of the input, for where they
// are shown in another form.
func (c *Card) Without(fields ...string) string {
	other := *c
	return other.section(func() { other.fields(c.Pending.Input, fields...) }) + c.rest
}

// Remarks returns the warnings, or "" if there are no warnings.
func (c *Card) Remarks() string { return c.remarks }

// Hidden reports whether the card has invisible or misleading characters. Such a call
// can be approved only once.
func (c *Card) Hidden() bool { return c.hidden }

// writeHeading writes the heading: the tool, and the kind of call.
func (c *Card) writeHeading() {
	fmt.Fprintln(c.w, c.Headline())
	fmt.Fprintf(c.w, "⚠️ %s\n", c.text.Of("Permission request"))
	fmt.Fprintf(c.w, c.text.Of("%s asks to run:")+"\n", c.show(c.Pending.Tool))
	for i, line := range c.Brief() {
		fmt.Fprintf(c.w, "%s%s\n", map[bool]string{true: "$ ", false: "  "}[i == 0], line)
	}
	for _, text := range c.Cautions() {
		fmt.Fprintln(c.w, text)
	}
	if claim, _ := c.Claim(); claim != "" {
		fmt.Fprintln(c.w, claim)
	}
	c.w.WriteString("\n")
}

// folderOfCall returns the call's working directory.
func (c *Card) folderOfCall() string {
	if dir, differs := c.Pending.Extra[umpire.ExtraDir]; differs {
		return c.valueText(dir)
	}
	return c.Session.Dir
}

// Cautions describe the kind of call: it runs a command, changes a file, sends something
// over the network.
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

// writeTitle writes the line with the risk and the reason for the question.
func (c *Card) writeTitle() {
	p := &c.Pending
	fmt.Fprintf(c.w, "%s  %s  %s\n", Verdict(umpire.Ask, c.text, c.colour), c.harm(), c.show(c.text.Reason(p.Reason)))
}

// harm returns the risk and the consequence, in red from [umpire.Outward] on.
func (c *Card) harm() string {
	p := &c.Pending
	words := Joined(c.text.Of("risk "+p.Risk), ", ", c.text.Of(consequenceTexts[p.Consequence]))
	if c.colour && p.Consequence.AtLeast(umpire.Outward) {
		return VerdictColour(umpire.Deny) + words + "\x1b[0m"
	}
	return words
}

// Row is a line with a named value.
func Row(name, value string) string {
	if name != "" {
		name = Joined(name, ":", "")
	}
	return fmt.Sprintf("  %s %s\n", Padded(name, 14), value)
}

func (c *Card) row(name, value string) { c.w.WriteString(Row(name, value)) }

// Expiry returns the time at which the question is withdrawn, or "" if it never is.
func (c *Card) Expiry() string {
	if c.Pending.ExpiresAt.IsZero() {
		return ""
	}
	return fmt.Sprintf(c.text.Of("expires in %s"), Age(c.Pending.ExpiresAt.Sub(c.now)))
}

// writeAsker writes the agent, its session and project, and how the question stands.
func (c *Card) writeAsker() {
	p, s := &c.Pending, &c.Session
	position := fmt.Sprintf(c.text.Of("%d of %d in this message"), p.Position, p.Total)
	c.row(c.text.Of("request"), Joined(c.show(string(p.Request)), ", ", position))
	c.row(c.text.Of("agent"), c.show(cmp.Or(p.Agent, "?")))
	c.row(c.text.Of("session"), Joined(c.show(string(p.Session)), ", ", fmt.Sprintf(c.text.Of("mode %s"), s.Mode)))
	c.row(c.text.Of("project"), fmt.Sprintf("%s  %s", c.show(p.Project.Short()), c.show(foldersOf(c).path(s.Root))))
	if dir := c.folderOfCall(); dir != s.Root && dir != "" {
		c.row(c.text.Of("folder"), c.show(foldersOf(c).path(dir)))
	}
	asked := fmt.Sprintf(c.text.Of("%s ago"), Age(c.now.Sub(p.AskedAt)))
	if expiry := c.Expiry(); expiry != "" {
		asked = Joined(asked, ", ", expiry)
	}
	c.row(c.text.Of("asked"), asked)
	for _, note := range c.notes {
		c.row(c.text.Of("meanwhile"), c.text.Text(note))
	}
	c.row(c.text.Of("tool"), fmt.Sprintf("%s (%s)", c.show(p.Tool), c.show(string(p.Call))))
}
