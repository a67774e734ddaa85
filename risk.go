package umpire

// A Risk says how much harm an access can do. Like Verdict it is ordered with the worst value,
// Critical, as zero: an access without an assigned risk is refused.
type Risk uint8

// The five risks, worst first.
const (
	Critical Risk = iota // destroys a system, a home, a disk: denied in every mode
	High                 // loses data, publishes, raises privileges, runs downloaded code
	Medium               // changes the project, or runs unknown code
	Low                  // changes little that matters, and nothing that cannot be undone
	Safe                 // only looks
)

var riskNames = [...]string{Critical: "critical", High: "high", Medium: "medium", Low: "low", Safe: "safe"}

// String returns the risk's name; a value out of range is "critical".
func (r Risk) String() string {
	if int(r) < len(riskNames) {
		return riskNames[r]
	}
	return riskNames[Critical]
}

// MarshalText writes the risk's name.
func (r Risk) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a risk's name and refuses any other word.
func (r *Risk) UnmarshalText(text []byte) error {
	for i, name := range riskNames {
		if string(text) == name {
			*r = Risk(i)
			return nil
		}
	}
	return Errorf("risk %q: want safe, low, medium, high or critical", text)
}

// AtLeast reports whether r is as bad as other, or worse.
func (r Risk) AtLeast(other Risk) bool { return r <= other }

// Worse returns the worse of two risks.
func Worse(a, b Risk) Risk { return min(a, b) }

// A Class is the three-level view of a risk that people and older clients see.
type Class string

// The three classes.
const (
	ClassSafe      Class = "safe"      // safe and low
	ClassModerate  Class = "moderate"  // medium
	ClassDangerous Class = "dangerous" // high and critical
)

// Class returns the three-level view of r.
func (r Risk) Class() Class {
	switch r {
	case Safe, Low:
		return ClassSafe
	case Medium:
		return ClassModerate
	case High, Critical:
		return ClassDangerous
	}
	return ClassDangerous
}

// Level returns the risk in the four levels that clients see: low, medium, high
// and critical. Safe is reported as low.
func (r Risk) Level() string {
	if r == Safe {
		return Low.String()
	}
	return r.String()
}
