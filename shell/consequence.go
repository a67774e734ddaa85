package shell

import (
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
)

// A stated consequence is the consequence of a program or an option according to a table. The
// zero value is unstated; a test ensures that an entry or option riskier than low states one.
type stated uint8

// The consequences that tables state, worst first.
//
// Unpredictable code is lost: a script, an unknown program, a task runner can do anything. The
// tests, builds and linters that umpire knows are reversible: they are code of the project as
// well, but they are meant to run again and again, and the row about project code decides
// whether they run unasked. Changes outside the project, such as those to system packages, are
// lost like every write outside, because no copy of the old state is kept. A download into the
// project is reversible, and a program that sends data to another host is sent.
const (
	unstated stated = iota
	lost
	sent
	reversible
	harmless
)

var statedConsequences = [...]umpire.Consequence{
	lost: umpire.Lost, sent: umpire.Outward, reversible: umpire.Reversible, harmless: umpire.Harmless,
}

// of returns the consequence of a use of that risk: the stated one, or by default harmless for
// safe, reversible for low, and lost beyond.
func (s stated) of(risk umpire.Risk) umpire.Consequence {
	switch {
	case s != unstated:
		return statedConsequences[s]
	case risk == umpire.Safe:
		return umpire.Harmless
	case risk == umpire.Low:
		return umpire.Reversible
	}
	return umpire.Lost
}

// statedAs parses the name of a consequence that a person states for a use of that risk. A use
// that runs unasked must be reversible.
func statedAs(name string, risk umpire.Risk) (stated, error) {
	if name == "" {
		return unstated, nil
	}
	var c umpire.Consequence
	if err := c.UnmarshalText([]byte(name)); err != nil {
		return unstated, umpire.Errorf("consequence: %q is not one of none, reversible, outward, lost", name)
	}
	if umpire.Low.AtLeast(risk) && c.AtLeast(umpire.Outward) {
		return unstated, umpire.Errorf("consequence: a use that is %s cannot have risk %s, because it would run "+
			"unasked",
			name,
			risk)
	}
	return stated(slices.Index(statedConsequences[lost:], c)) + lost, nil
}

func (o *Option) statedAs(does effect) (stated, error) {
	if o.Consequence != "" && does&(asks|harms) == 0 {
		return unstated, errors.New("consequence: can be used only with asks or harms")
	}
	return statedAs(o.Consequence, umpire.Medium)
}

// StatedConsequence returns the consequence of a use with only listed options: the one that the
// entry states, else the default for its risk.
func (p *Program) StatedConsequence() umpire.Consequence {
	s, _ := statedAs(p.Consequence, umpire.High) // NewKnowledge has rejected a wrong name
	return s.of(p.Risk)
}

// adoptRisk adopts the risk of an entry.
func (c *conclusion) adoptRisk(p *program) {
	c.risk, c.why, c.consequence = p.risk, p.why, p.consequence.of(p.risk)
	c.secret = slices.Contains(secretWhys, p.why)
}

// become replaces the judgement of the use.
func (c *conclusion) become(risk umpire.Risk, why umpire.Phrase) {
	c.risk, c.why, c.consequence, c.secret = risk, why, unstated.of(risk), false
}

// raise raises the risk of the use to at least risk, with the reason. The consequence is then
// unknown.
func (c *conclusion) raise(risk umpire.Risk, why umpire.Phrase) { c.raiseTo(risk, unstated, why) }

// raiseTo is raise with a known consequence.
func (c *conclusion) raiseTo(risk umpire.Risk, after stated, why umpire.Phrase) {
	c.consequence = umpire.WorseConsequence(c.consequence, after.of(risk))
	c.secret = c.secret || slices.Contains(secretWhys, why)
	if risk < c.risk {
		c.risk, c.why = risk, why
	}
}

// ownConsequence returns the consequence of the program's own access.
func (c *conclusion) ownConsequence(a *umpire.Access) umpire.Consequence {
	switch {
	case a.Risk == umpire.Critical || a.Doubt != "":
		return umpire.Lost
	case a.Code:
		return umpire.WorseConsequence(c.consequence, umpire.Reversible)
	}
	return c.consequence
}
