package view

import (
	"fmt"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// maxTrialRows is how many paths that a trial changed a card lists.
const maxTrialRows = 20

// DescribeOffer describes the trial that a card offers, or returns "" if it offers no trial.
func DescribeOffer(offer umpire.TrialOffer, text *catalogue.Language) string {
	switch offer {
	case umpire.TrialOffered, umpire.TrialFirst:
		return text.Of("try it first: run it in a trial and show its changes")
	case umpire.TrialNetwork:
		return text.Of("run it again in a trial that reaches these hosts: you cannot undo what it sends")
	case umpire.TrialAgain:
		return text.Of("let it reach these hosts once, in a trial, when the agent runs it again: you cannot undo " +
			"what it sends")
	case umpire.NoTrial:
	}
	return ""
}

// NameOffer returns the label of the key or button that accepts an offer, or "" for NoTrial.
func NameOffer(offer umpire.TrialOffer, text *catalogue.Language) string {
	switch offer {
	case umpire.TrialOffered, umpire.TrialFirst:
		return text.Of("try it first")
	case umpire.TrialNetwork:
		return text.Of("run again, reaching these hosts")
	case umpire.TrialAgain:
		return text.Of("allow these hosts once")
	case umpire.NoTrial:
	}
	return ""
}

// writeTrial shows the effects of a call's trial, and what approving does with them. If the
// effects wait, it lists the paths with their verdicts.
func writeTrial(c *Card) {
	t := c.Pending.Trial
	if t == nil {
		return
	}
	fmt.Fprintf(c.w, "\n  %s\n", c.text.Of("its changes in a trial, where nothing is real"))
	done := countChanges(c)
	if done == "" {
		done = c.text.Of("It changed nothing.")
	}
	fmt.Fprintf(c.w, "    %s\n", done)
	if t.State != umpire.TrialWaiting {
		writeTrialRows(c, t.Effects.List)
	}
	for i := range t.Effects.Reached {
		fmt.Fprintf(c.w, "    %s\n", Joined(c.text.Of("Reached"), ": ", TrafficText(&t.Effects.Reached[i], c.text)))
	}
	var wanted []string
	for _, a := range t.Effects.Refused {
		if a.Kind == umpire.AttemptPlain {
			continue
		}
		if a.Kind == umpire.AttemptNetwork && OffersNetwork(c.Pending.TrialOffer) {
			wanted = append(wanted, c.show(middleOut(a.Target)))
			continue
		}
		fmt.Fprintf(c.w, "    %s\n", Joined(c.text.Of("Refused"), ": ", c.show(middleOut(a.Target))))
	}
	if len(wanted) > 0 {
		fmt.Fprintf(c.w, "    "+c.text.Of("It wants %s, which a trial does not reach.")+"\n", List(wanted, ", "))
	}
	if t.Exit != 0 {
		fmt.Fprintf(c.w, "    "+c.text.Of("exit code %d")+"\n", t.Exit)
	}
	if t.Output != "" {
		c.block(c.text.Of("it printed"), t.Output)
	}
	said := "Approving keeps exactly this, and the command is not run again."
	if t.Network {
		said = "It could reach hosts that you approved, and you cannot undo what it sent. Approving keeps exactly " +
			"these changes."
	}
	switch {
	case c.Pending.TrialOffer == umpire.TrialAgain:
		said = "This was discarded. Approving lets exactly this command reach these hosts once, again in a trial, " +
			"when the agent runs it again within 15 minutes."
	case t.State != umpire.TrialWaiting:
		said = "This was discarded, because a real run would do something else. Approving runs the command."
	}
	fmt.Fprintf(c.w, "    %s\n", c.text.Of(said))
	if t.State == umpire.TrialWaiting && t.UndoSeconds > 0 && len(t.Effects.List) > 0 {
		writeExpiry(c, time.Duration(t.UndoSeconds)*time.Second)
	}
}

// writeExpiry says how long undo can restore the replaced files.
func writeExpiry(c *Card, age time.Duration) {
	said := "You can undo this for up to %s, and for at least a day unless git ignores the files."
	if age <= umpire.UndoProtected {
		said = "You can undo this for up to %s."
	}
	fmt.Fprintf(c.w, "    "+c.text.Of(said)+"\n", Age(age))
}

// OffersNetwork reports whether an offer runs a call again with the destinations that it wanted.
func OffersNetwork(offer umpire.TrialOffer) bool {
	return offer == umpire.TrialNetwork || offer == umpire.TrialAgain
}

// countChanges counts the files that a trial of the call changed, by kind. It returns "" if no files changed.
func countChanges(c *Card) string {
	t, counts := c.Pending.Trial, map[umpire.EffectKind]int{}
	for i := range t.Effects.List {
		counts[t.Effects.List[i].Kind]++
	}
	parts := CountEffects(counts, c.text)
	if t.More > 0 {
		c.left = append(c.left, c.text.Of("its changes in a trial, where nothing is real"))
		parts = append(parts, fmt.Sprintf(c.text.Of("... and %d more"), t.More))
	}
	return List(parts, ", ")
}

func writeTrialRows(c *Card, list []umpire.TrialEffect) {
	for i := range list[:most(c, len(list), maxTrialRows)] {
		kind := Padded(c.text.Word("effect", string(list[i].Kind)), 8)
		fmt.Fprintf(c.w, "    %s  %s\n", kind, c.show(middleOut(c.relative(list[i].Path))))
	}
	if left := len(list) - most(c, len(list), maxTrialRows); left > 0 {
		fmt.Fprintf(c.w, "    "+c.text.Of("... and %d more")+"\n", left)
	}
}
