package umpire

// A Verdict is the outcome of a decision. The zero value is Deny, so an unset verdict refuses.
// Verdicts are ordered by permissiveness, and the combination of several is the least
// permissive one.
type Verdict uint8

// The three verdicts.
const (
	Deny  Verdict = iota // the call does not run
	Ask                  // a person decides
	Allow                // the call runs
)

var verdictNames = [...]string{Deny: "deny", Ask: "ask", Allow: "allow"}

// String returns "deny", "ask" or "allow"; a value out of range is "deny".
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return verdictNames[Deny]
}

// MarshalText writes the verdict's name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a verdict's name and refuses any other word.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if string(text) == name {
			*v = Verdict(i)
			return nil
		}
	}
	return Errorf("verdict %q: want allow, ask or deny", text)
}
