package umpire

// A Consequence says what cannot be undone once a call has run. It is independent of Risk: `git
// commit` is of high risk and reversible. As with Risk, the zero value is the worst, Lost.
type Consequence uint8

// The four consequences, worst first.
const (
	Lost       Consequence = iota // destroys data that exists nowhere else
	Outward                       // leaves the machine: pushes, publishes, sends
	Reversible                    // makes changes that can be undone
	Harmless                      // changes nothing
)

var consequenceNames = [...]string{Lost: "lost", Outward: "outward", Reversible: "reversible", Harmless: "none"}

// String returns the consequence's name; a value out of range is "lost".
func (c Consequence) String() string {
	if int(c) < len(consequenceNames) {
		return consequenceNames[c]
	}
	return consequenceNames[Lost]
}

// MarshalText writes the consequence's name.
func (c Consequence) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a consequence's name and refuses any other word.
func (c *Consequence) UnmarshalText(text []byte) error {
	for i, name := range consequenceNames {
		if string(text) == name {
			*c = Consequence(i)
			return nil
		}
	}
	return Errorf("consequence %q: want none, reversible, outward or lost", text)
}

// AtLeast reports whether c is as bad as other, or worse.
func (c Consequence) AtLeast(other Consequence) bool { return c <= other }

// WorseConsequence returns the worse of two consequences.
func WorseConsequence(a, b Consequence) Consequence { return min(a, b) }
