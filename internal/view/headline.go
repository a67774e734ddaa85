package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// headlineColumns is the greatest width of a headline.
const headlineColumns = 90

// Headline says what the parts of a call that led to its verdict would do: the consequence first, in one line
// of at most 90 columns that is safe to show. It is "" if the decision names no part.
func Headline(d *umpire.Decision, in Folders, text *catalogue.Language) string {
	said, _ := Explain(d, in, text)
	return said
}

// Explain returns the headline of a decision, and the reason without what the headline says already: "" if nothing is
// left of it. Both are safe to show.
func Explain(d *umpire.Decision, in Folders, text *catalogue.Language) (said, why string) {
	s := sentence{text: text, in: in, code: d.ReasonCode, verdict: d.Verdict}
	if d.ReasonCode == umpire.CodeCritical { // its reason is the consequence
		said = s.reason(d.Reason)
	} else {
		said = s.compose(d.Accesses)
	}
	return said, s.whyBeside(said, d.Reason)
}

// Headline says what the card's call would do, or what its trial did, as [Headline] does.
func (c *Card) Headline() string {
	p := &c.Pending
	if t := p.Trial; t != nil && t.State == umpire.TrialWaiting {
		if done := countChanges(c); done != "" {
			return fmt.Sprintf(c.text.Of("in a trial it %s; nothing is real yet"), done)
		}
	}
	if p.Tool == umpire.ConnectTool {
		if said := sayConnecting(c); said != "" {
			return said
		}
	}
	said, _ := explainCard(c)
	if p.Indeterminate {
		return Joined(c.text.Of("may have run already"), ": ", said)
	}
	return said
}

// sayConnecting says which command waits for which host. It returns "" if the question is about no command.
func sayConnecting(c *Card) string {
	var in struct {
		Command string `json:"command"`
		URL     string `json:"url"`
	}
	if json.Unmarshal(c.Pending.Input, &in) != nil || in.Command == "" {
		return ""
	}
	host := strings.TrimSuffix(strings.TrimPrefix(in.URL, "https://"), "/")
	return fmt.Sprintf(c.text.Of("%s waits to connect to %s"),
		cutObject(Visible(in.Command), maxObject), cutObject(Visible(host), maxObject))
}

// explainCard says what the card's call would do, and why that asks.
func explainCard(c *Card) (said, why string) {
	p := &c.Pending
	s := sentence{text: c.text, in: foldersOf(c), code: p.Code, verdict: umpire.Ask}
	said = cmp.Or(s.compose(p.Accesses), s.reason(p.Reason))
	return said, s.whyBeside(said, p.Reason)
}

// HeadlineTellsAll reports whether the headline says all that a card's call would do and asks for: one thing, whose
// object it names whole.
func HeadlineTellsAll(c *Card) bool {
	asking := slices.DeleteFunc(c.acts(), func(a act) bool { return a.Verdict == umpire.Allow })
	if c.Pending.Trial != nil || len(asking) != 1 || asking[0].Doubt != "" || asking[0].Verdict != umpire.Ask {
		return false
	}
	a := asking[0]
	if a.Kind == umpire.KindExec {
		return len(c.Command()) > 0
	}
	return a.Target != "" && strings.Contains(c.Headline(), c.show(foldersOf(c).Target(a.Access)))
}

// WhyAsked says in one line why a card's call asks, or "" if its consequence is the whole reason.
func WhyAsked(c *Card) string {
	_, why := explainCard(c)
	return why
}

// whyBeside returns a reason without what the headline says already.
func (s *sentence) whyBeside(headline string, reason umpire.Phrase) string {
	why := s.reason(reason)
	switch {
	case s.code == umpire.CodeMode, s.code == umpire.CodeSafe, reason.Is(policy.OutsideProject) && s.saidOutside:
		return ""
	case why == headline:
		return ""
	}
	for _, mark := range []string{": ", "："} {
		if head, rest, found := strings.Cut(why, mark); found && strings.Contains(headline, rest) {
			return head
		}
	}
	return why
}

// A sentence describes the accesses with a verdict.
type sentence struct {
	text    *catalogue.Language
	in      Folders
	code    umpire.ReasonCode
	verdict umpire.Verdict

	saidOutside bool // the headline says that something lies outside the project
}

// reason returns a reason, safe to show.
func (s *sentence) reason(p umpire.Phrase) string { return Visible(s.in.shorten(s.text.Reason(p))) }

// A deed is something that a call does, and the objects it does it to.
type deed struct {
	worst   *umpire.Access
	words   string   // a format with one %s for the objects, or a text without objects
	objects []string // safe to show
	sent    []string // the files that it sends to the objects
	outside bool
}

func (s *sentence) compose(accesses []umpire.Access) string {
	deeds := s.deeds(accesses)
	var sent []string
	for _, d := range deeds {
		sent = append(sent, d.sent...)
	}
	deeds = slices.DeleteFunc(deeds, func(d deed) bool { // it reads only to send
		return d.worst.Kind == umpire.KindRead && len(d.objects) == 1 && slices.Contains(sent, d.objects[0])
	})
	startsLines := func(d deed) bool { return d.worst.Reason.Is(shell.RunsRecipe) }
	if rest := slices.DeleteFunc(slices.Clone(deeds), startsLines); len(rest) > 0 {
		deeds = rest // the lines say more than the recipe that starts them
	}
	var said string
	more := s.text.Of(", and more")
	for first := true; len(deeds) > 0; first = false {
		at := worstOf(deeds)
		d := deeds[at]
		if deeds = slices.Delete(deeds, at, at+1); first {
			width := headlineColumns
			if len(deeds) > 0 {
				width -= Columns(more)
			}
			said, s.saidOutside = cutColumns(s.clause(d, width), width), d.outside
			continue
		}
		longer := fmt.Sprintf(s.text.Of("%s, and %s"), said, s.clause(d, headlineColumns-Columns(said)))
		if len(deeds) > 0 && Columns(longer)+Columns(more) > headlineColumns || Columns(longer) > headlineColumns {
			return said + more
		}
		said, s.saidOutside = longer, s.saidOutside || d.outside
	}
	return said
}

// worstOf returns the index of the worst deed, and of equally bad ones the first.
func worstOf(deeds []deed) int {
	worst := 0
	for i := range deeds {
		a, b := &deeds[i], &deeds[worst]
		if cmp.Or(cmp.Compare(a.worst.Consequence, b.worst.Consequence), cmp.Compare(a.rank(), b.rank()),
			cmp.Compare(a.worst.Risk, b.worst.Risk)) < 0 {
			worst = i
		}
	}
	return worst
}

// rank puts the files that a call only looks at before the programs that look at them.
func (d *deed) rank() int {
	if d.worst.Consequence == umpire.Harmless && d.worst.Kind == umpire.KindExec {
		return 1
	}
	return 0
}

// deeds returns what the accesses with the verdict do, in the order of the command.
func (s *sentence) deeds(accesses []umpire.Access) (deeds []deed) {
	for begin := 0; begin < len(accesses); {
		end := begin + 1
		for end < len(accesses) && accesses[end].Kind != umpire.KindExec {
			end++
		}
		deeds = s.addGroup(deeds, accesses[begin:end], accesses[:begin])
		begin = end
	}
	return deeds
}

// addGroup adds the deeds of a program and of the accesses that follow it. A program that only deletes or reads is
// described by its files.
func (s *sentence) addGroup(deeds []deed, group, before []umpire.Access) []deed {
	program := &group[0]
	if program.Kind != umpire.KindExec {
		return s.addPaths(deeds, group)
	}
	paths := s.ofVerdict(group[1:])
	for i := range paths {
		if isRedirected(paths[i]) {
			deeds = s.addPaths(deeds, paths[i:i+1])
		}
	}
	paths = slices.DeleteFunc(slices.Clone(paths), isRedirected)
	if program.Verdict != s.verdict {
		return s.addPaths(deeds, paths)
	}
	own := deed{worst: program, words: s.reason(cmp.Or(program.Reason, program.Doubt))}
	switch changes := s.changes(paths); {
	case program.Reason.Is(shell.UnjudgedCode):
		if script := scriptOf(program, group[1:]); script != nil {
			own.words, own.objects = s.text.Of("runs %s, which umpire can't judge"), s.names([]umpire.Access{*script})
		}
	case program.Consequence == umpire.Outward && hasKind(group, umpire.KindNetwork):
		own = s.sending(own, group, before)
		paths = changes
	case hasKind(changes, umpire.KindDelete) && !hasKind(changes, umpire.KindWrite):
		return s.addPaths(deeds, paths) // a program that only deletes
	case len(changes) > 0:
		own.words, own.objects = withObjects(own.words), s.names(changes)
		own.outside = slices.ContainsFunc(changes, liesOutside)
		paths = slices.DeleteFunc(paths, isChange)
	}
	return s.addPaths(addDeed(deeds, own), paths)
}

func isChange(a umpire.Access) bool {
	return (a.Kind == umpire.KindWrite || a.Kind == umpire.KindDelete) && isNamed(&a)
}

// isRedirected reports whether a redirection writes the file: one of this command, or of the next.
func isRedirected(a umpire.Access) bool { return a.Reason.Is(shell.RedirectWrites) }

// isNamed reports whether anything is known of an access's object before the call runs.
func isNamed(a *umpire.Access) bool { return strings.Trim(a.Target, "…") != "" }

func liesOutside(a umpire.Access) bool { return a.Paths() && a.Place == umpire.PlaceOutside }

// withObjects returns the format of a text that names the objects at its end.
func withObjects(text string) string { return Joined(strings.ReplaceAll(text, "%", "%%"), ": ", "%s") }

// changes are the accesses that write or delete named files.
func (s *sentence) changes(accesses []umpire.Access) []umpire.Access {
	return slices.DeleteFunc(slices.Clone(accesses), func(a umpire.Access) bool { return !isChange(a) })
}

// scriptOf returns the file whose code a program runs: the first operand of its line. After an
// option that may hold code itself, it is unknown.
func scriptOf(program *umpire.Access, accesses []umpire.Access) *umpire.Access {
	for _, word := range program.Args {
		if strings.HasPrefix(word, "-") {
			if strings.ContainsAny(word, "ecEmpr") {
				return nil
			}
			continue
		}
		at := slices.IndexFunc(accesses, func(a umpire.Access) bool {
			return a.Kind == umpire.KindRead && a.Target != "" && path.Base(a.Target) == path.Base(word)
		})
		if at < 0 {
			return nil
		}
		return &accesses[at]
	}
	return nil
}

// sending describes a program that reaches a host: with the files that it sends, as far as they are known.
func (s *sentence) sending(own deed, group, before []umpire.Access) deed {
	own.objects = s.names(slices.DeleteFunc(slices.Clone(group), func(a umpire.Access) bool {
		return a.Kind != umpire.KindNetwork
	}))
	sent, reason := s.ofVerdict(group[1:]), group[0].Reason
	if reason.Is(shell.SendsOutput) {
		sent = append(sent, s.ofVerdict(before)...)
	}
	sent = slices.DeleteFunc(sent, func(a umpire.Access) bool { return a.Kind != umpire.KindRead || a.Target == "" })
	what := s.text.Of("data")
	if own.sent = s.names(sent); len(sent) > 0 {
		what = s.listNames(own.sent, headlineColumns/2)
	} else if !reason.Is(shell.SendsData) {
		own.words = withObjects(own.words)
		return own
	}
	own.words = fmt.Sprintf(s.text.Of("sends %s to %s"), strings.ReplaceAll(what, "%", "%%"), "%s")
	return own
}

func (s *sentence) ofVerdict(accesses []umpire.Access) []umpire.Access {
	return slices.DeleteFunc(slices.Clone(accesses), func(a umpire.Access) bool { return a.Verdict != s.verdict })
}

func hasKind(accesses []umpire.Access, kind umpire.AccessKind) bool {
	return slices.ContainsFunc(accesses, func(a umpire.Access) bool { return a.Kind == kind && a.Target != "" })
}

// addPaths adds the deeds of accesses to files and hosts, and joins equal ones.
func (s *sentence) addPaths(deeds []deed, accesses []umpire.Access) []deed {
	for i := range accesses {
		if a := &accesses[i]; a.Verdict == s.verdict {
			deeds = addDeed(deeds, s.deedOf(a))
		}
	}
	return deeds
}

// addDeed adds a deed to an equal one, or else to the end.
func addDeed(deeds []deed, d deed) []deed {
	for i := range deeds {
		if same := &deeds[i]; same.words == d.words && same.outside == d.outside {
			for _, object := range d.objects {
				same.objects = addObject(same.objects, object)
			}
			return deeds
		}
	}
	return append(deeds, d)
}

// unnamed are the texts for accesses of files that cannot be named before the call runs.
var unnamed = map[umpire.AccessKind]string{
	umpire.KindDelete: "deletes a file whose name isn't known yet",
	umpire.KindWrite:  "writes a file whose name isn't known yet",
	umpire.KindRead:   "reads a file whose name isn't known yet",
}

// deedOf describes one access.
func (s *sentence) deedOf(a *umpire.Access) deed {
	d := deed{worst: a, outside: liesOutside(*a)}
	if !isNamed(a) {
		d.words = cmp.Or(s.text.Of(unnamed[a.Kind]), s.reason(cmp.Or(a.Reason, a.Doubt)))
		return d
	}
	d.objects = []string{s.objectOf(a)}
	switch a.Kind {
	case umpire.KindDelete:
		d.words = s.text.Of("deletes %s")
		if a.Consequence == umpire.Lost {
			d.words = s.text.Of("deletes %s for good")
		}
	case umpire.KindWrite:
		d.words = s.text.Of("writes %s")
	case umpire.KindRead:
		d.words = s.text.Of("reads %s")
		if s.code == umpire.CodeSecret && !d.outside {
			d.words = s.text.Of("reads %s, which may hold secrets")
		}
	case umpire.KindNetwork:
		d.words = s.text.Of("reaches %s")
	case umpire.KindInvoke, umpire.KindExec, umpire.KindUnknown:
		d.words = withObjects(s.reason(cmp.Or(a.Reason, a.Doubt)))
	}
	return d
}

// objectOf names the object of an access: a path that leads elsewhere by the place that it reaches.
func (s *sentence) objectOf(a *umpire.Access) string {
	shown := a
	if a.Paths() && a.Resolved != "" && a.TargetIn(s.in.Root) == a.Target {
		resolved := *a
		resolved.Target = a.Resolved
		shown = &resolved
	}
	return cutObject(Visible(s.in.Target(shown)), maxObject)
}

// maxObject is the greatest width of an object in a headline.
const maxObject = 50

// addObject adds the name of an object once. A file that may lie in one of two folders counts once.
func addObject(names []string, name string) []string {
	for i, known := range names {
		if known == name || strings.HasSuffix(known, "/"+name) || strings.HasSuffix(name, "/"+known) {
			if len(name) > len(known) {
				names[i] = name
			}
			return names
		}
	}
	return append(names, name)
}

func (s *sentence) names(accesses []umpire.Access) (names []string) {
	for i := range accesses {
		names = addObject(names, s.objectOf(&accesses[i]))
	}
	return names
}

// clause writes a deed within a width if its objects can be shortened to it.
func (s *sentence) clause(d deed, width int) string {
	outside := s.text.Of("%s, outside the project")
	if d.outside {
		width -= Columns(outside) - len("%s")
	}
	said := d.words
	if len(d.objects) > 0 {
		said = fmt.Sprintf(d.words, s.listNames(d.objects, width-Columns(d.words)+len("%s")))
	}
	if d.outside {
		said = fmt.Sprintf(outside, cutColumns(said, width))
	}
	return said
}

// listNames writes names within a width: the first ones, and how many more there are.
func (s *sentence) listNames(names []string, width int) string {
	for n := len(names); n > 1; n-- {
		if said := s.listFirst(names, n); Columns(said) <= width {
			return said
		}
	}
	said := s.listFirst(names, 1)
	if over := Columns(said) - max(width, minObject); over > 0 {
		said = s.listFirst(append([]string{cutObject(names[0], Columns(names[0])-over)}, names[1:]...), 1)
	}
	return said
}

// minObject is the least width of an object: less would not name it.
const minObject = 12

// cutObject cuts the name of an object to a width. A path says most at its end, and an address at its beginning.
func cutObject(name string, width int) string {
	if strings.Contains(name, "://") {
		return cutColumns(name, width)
	}
	return cutHead(name, width)
}

func (s *sentence) listFirst(names []string, n int) string {
	said := List(names[:n], ", ")
	if left := len(names) - n; left > 0 {
		return fmt.Sprintf(s.text.Of("%s and %d more"), said, left)
	}
	return said
}

// cutHead cuts the beginning of a text off that is wider than a width: a path says most at its end.
func cutHead(text string, width int) string {
	for i := range text {
		if rest := text[i:]; Columns(rest) < width || i == 0 && Columns(rest) <= width {
			if i > 0 {
				return "…" + rest
			}
			return rest
		}
	}
	return text
}
