package view

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// The card shows the effects of a call with the worst first, regardless of their order
// on the command line. A part that asks is above all allowed parts, and equal parts
// share a line. A long command line can therefore hide nothing.

// An act is an access of the call, with how often the call makes it.
type act struct {
	*umpire.Access
	times int
}

// acts returns the effects of the call, those that need a person's attention first.
func (c *Card) acts() []act {
	var all []act
	seen := map[string]int{}
	for i := range c.Pending.Accesses {
		a := &c.Pending.Accesses[i]
		key := fmt.Sprintf("%d %d %d %q %q %q",
			a.Verdict, a.Consequence, a.Risk, AccessText(a, c.text), a.Reason, a.Doubt)
		if at, known := seen[key]; known {
			all[at].times++
			continue
		}
		seen[key] = len(all)
		all = append(all, act{a, 1})
	}
	slices.SortStableFunc(all, func(a, b act) int {
		return cmp.Or(
			cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Consequence, b.Consequence), cmp.Compare(a.Risk, b.Risk),
		)
	})
	return all
}

// maxAllowed is how many parts that are allowed a card shows one by one.
const maxAllowed = 20

// writeAsking shows the parts that ask or are denied. An answer is about these.
func (c *Card) writeAsking() {
	all := c.acts()
	if !slices.ContainsFunc(all, func(a act) bool { return a.Verdict != umpire.Allow }) {
		return
	}
	if c.Pending.Trial != nil { // shown above
		fmt.Fprintf(c.w, "\n  %s\n", c.text.Of("what it would do"))
	}
	for _, a := range all {
		if a.Verdict != umpire.Allow {
			c.writeAct(a)
		}
	}
}

// writeAllowed shows the other parts, below those that ask.
func (c *Card) writeAllowed() {
	shown, left := 0, 0
	for _, a := range c.acts() {
		switch {
		case a.Verdict != umpire.Allow:
		case shown == maxAllowed && !c.whole:
			left += a.times
		default:
			shown++
			c.writeAct(a)
		}
	}
	if left > 0 {
		fmt.Fprintf(c.w, "    %s  "+c.text.Of("... and %d more")+"\n", Verdict(umpire.Allow, c.text, c.colour), left)
	}
}

func (c *Card) writeAct(a act) {
	part := partOf(c, a)
	risk := Padded(c.text.Word("of risk", part.Risk.String()), 8)
	times := ""
	if part.Times > 1 {
		times = fmt.Sprintf(" ×%d", part.Times)
	}
	fmt.Fprintf(c.w, "    %s  %s  %s%s\n", Verdict(part.Verdict, c.text, c.colour), risk, part.Text, times)
	if part.Why != "" {
		fmt.Fprintf(c.w, "                     %s\n", part.Why)
	}
}

// A Part is one thing that a call would do, in texts that are safe to show.
type Part struct {
	Verdict umpire.Verdict
	Risk    umpire.Risk
	Text    string // the effect and its target
	Times   int    // how often
	Why     string // the reason for the verdict, or ""
}

// PartsOf lists the effects of a card's call, those that need a person's attention first.
func PartsOf(c *Card) []Part {
	var parts []Part
	for _, a := range c.acts() {
		parts = append(parts, partOf(c, a))
	}
	return parts
}

func partOf(c *Card, a act) Part {
	var why []string
	if a.Reason != "" {
		why = append(why, c.text.Reason(a.Reason))
	}
	if a.Doubt != "" && a.Doubt != a.Reason {
		why = append(why, Joined(c.text.Of("in doubt"), ": ", c.text.Reason(a.Doubt)))
	}
	return Part{
		Verdict: a.Verdict, Risk: a.Risk, Times: a.times, Why: c.show(List(why, "; ")),
		Text: c.show(middleOut(cardAccess(c, a.Access))),
	}
}

// cardAccess describes an access in a few words, with its path relative to the project's root.
func cardAccess(c *Card, a *umpire.Access) string {
	short := *a
	short.Target = foldersOf(c).Target(a)
	return AccessText(&short, c.text)
}

// writeCode shows the code of the files that the call runs.
func writeCode(c *Card) {
	for _, f := range c.Pending.CodeFiles {
		name := fmt.Sprintf(c.text.Of("runs %s"), c.show(c.relative(f.Path)))
		switch {
		case f.Text == "":
			c.left = append(c.left, name)
			c.row(name, c.text.Of("its contents are not shown"))
		case f.Cut:
			c.left = append(c.left, name)
			c.block(name, f.Text+"\n"+fmt.Sprintf(c.text.Of("[... cut, %d bytes in all ...]"), f.Size))
		default:
			c.block(name, f.Text)
		}
	}
}

// relative returns a path relative to the session's folder if it is below it, and else as [Folders] show it.
func (c *Card) relative(path string) string {
	rest, err := filepath.Rel(c.Session.Root, path)
	if c.Session.Root != "" && err == nil && filepath.IsLocal(rest) && !strings.HasPrefix(rest, "~") {
		return rest
	}
	return foldersOf(c).path(path)
}

// Object returns the subject of the call in one line that is safe to show: its command,
// the file that it changes, or else its first effect.
func (c *Card) Object() string {
	if command := c.Command(); len(command) > 0 {
		return command[0]
	}
	for _, a := range c.acts() {
		if a.Paths() && a.Target != "" {
			return c.show(foldersOf(c).Target(a.Access))
		}
	}
	for _, a := range c.acts() {
		return c.show(a.Target)
	}
	return ""
}

// consequenceTexts say how far effects can be undone. The texts hedge: data that looks
// lost may still be recoverable, and the effects of unknown code cannot be known.
var consequenceTexts = map[umpire.Consequence]string{
	umpire.Harmless: "changes nothing", umpire.Reversible: "can be undone",
	umpire.Outward: "leaves this machine", umpire.Lost: "may be impossible to undo",
}
