package userhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// An answer is what a program may write to its standard output. Other text there says
// nothing, but text that begins like an answer has to be one.
type answer struct {
	Decision string `json:"decision"` // ask or deny; "" and allow change nothing
	Reason   string `json:"reason"`
}

// hear reads the answer of a program that ended with 0.
func (r *Ran) hear(stdout *said) {
	text := bytes.TrimSpace(stdout.kept)
	if !bytes.HasPrefix(text, []byte("{")) {
		r.Outcome = Passed
		return
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || stdout.more {
		r.Reason = fmt.Sprintf(
			"Hook %q answered in JSON that cannot be read; want {\"decision\": \"ask\" or \"deny\", \"reason\": ...}",
			r.Hook.ID,
		)
		return
	}
	said := cutText(strings.TrimSpace(a.Reason), maxReason)
	switch a.Decision {
	case "", "allow":
		r.Outcome, r.Reason = Passed, said
	case "ask":
		r.Outcome, r.Reason = Asked, cmp.Or(said, fmt.Sprintf("Hook %q asks", r.Hook.ID))
	case "deny":
		r.Outcome, r.Reason = Denied, cmp.Or(said, fmt.Sprintf("Hook %q denies", r.Hook.ID))
	default:
		r.Reason = fmt.Sprintf("Hook %q answered %q; want ask or deny", r.Hook.ID, cutText(a.Decision, 100))
	}
}
