package shell

import (
	"errors"
	"slices"

	"github.com/umpirehq/umpire"
)

// A stated consequence is what a table says cannot be taken back after a program or
// an option was used. The zero value says nothing; an entry or option that is riskier
// than low has to say something, which a test holds.
type stated uint8

// The consequences that tables state, worst first.
//
// Code that nobody can judge is lost: a script, an unknown program, a task runner can
// do anything. The tests, builds and linters that umpire knows are reversible: they
// are code of the project as well, but what they are for is to be run again and again,
// and whether they run unasked is settled by the row about project code, not by this.
// Changes outside the project, such as those to packages of the system, are lost like
// every write outside: nothing keeps what was there. A download into the project
// is reversible, and a program that gives another host something to read is sent.
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

// of is the consequence of a use of that risk: the stated one, or by default none for
// what is safe, reversible for what is low, and lost beyond.
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

// statedAs reads the name of a consequence that a person states for a use of that risk.
// A use that runs unasked must not do anything that cannot be taken back.
func statedAs(name string, risk umpire.Risk) (stated, error) {
	if name == "" {
		return unstated, nil
	}
	var c umpire.Consequence
	if err := c.UnmarshalText([]byte(name)); err != nil {
		return unstated, umpire.Errorf("consequence: %q is not one of none, reversible, outward, lost", name)
	}
	if umpire.Low.AtLeast(risk) && c.AtLeast(umpire.Outward) {
		return unstated, umpire.Errorf("consequence: a use that is %s is not of risk %s, since it would run unasked",
			name,
			risk)
	}
	return stated(slices.Index(statedConsequences[lost:], c)) + lost, nil
}

func (o *Option) statedAs(does effect) (stated, error) {
	if o.Consequence != "" && does&(asks|harms) == 0 {
		return unstated, errors.New("consequence: goes with asks or harms")
	}
	return statedAs(o.Consequence, umpire.Medium)
}

// StatedConsequence is what cannot be taken back after a use with nothing but listed
// options: the one that the entry states, else the one of its risk.
func (p *Program) StatedConsequence() umpire.Consequence {
	s, _ := statedAs(p.Consequence, umpire.High) // a wrong name has been refused
	return s.of(p.Risk)
}

// A conclusion is what is said of a use so far.
type conclusion struct {
	risk        umpire.Risk
	why         umpire.Phrase
	consequence umpire.Consequence // the worst of what was said
	spoke       string             // the option that set the risk
	doubt       umpire.Phrase
	secret      bool // may print a secret
}

// adoptRisk takes over the risk of an entry.
func (c *conclusion) adoptRisk(p *program) {
	c.risk, c.why, c.consequence = p.risk, p.why, p.consequence.of(p.risk)
	c.secret = slices.Contains(secretWhys, p.why)
}

// become judges the use anew, whatever was said of it before.
func (c *conclusion) become(risk umpire.Risk, why umpire.Phrase) {
	c.risk, c.why, c.consequence, c.secret = risk, why, unstated.of(risk), false
}

// raise makes the use at least as risky as risk, with the reason for it. The consequence is
// then unknown.
func (c *conclusion) raise(risk umpire.Risk, why umpire.Phrase) { c.raiseTo(risk, unstated, why) }

// raiseTo is raise where it is known what can be taken back.
func (c *conclusion) raiseTo(risk umpire.Risk, after stated, why umpire.Phrase) {
	c.consequence = umpire.WorseConsequence(c.consequence, after.of(risk))
	c.secret = c.secret || slices.Contains(secretWhys, why)
	if risk < c.risk {
		c.risk, c.why = risk, why
	}
}

// ownConsequence is that of the program's own access.
func (c *conclusion) ownConsequence(a *umpire.Access) umpire.Consequence {
	switch {
	case a.Risk == umpire.Critical || a.Doubt != "":
		return umpire.Lost
	case a.Code:
		return umpire.WorseConsequence(c.consequence, umpire.Reversible)
	}
	return c.consequence
}
