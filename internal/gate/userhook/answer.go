package userhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// An answer may be written by a program to its standard output. Other text there is ignored, but
// text that begins like an answer must be a valid one.
type answer struct {
	Decision string `json:"decision"` // ask or deny; "" and allow change nothing
	Reason   string `json:"reason"`
}

// readAnswer reads the answer of a program that ended with 0.
func (r *Ran) readAnswer(stdout *said) {
	text := bytes.TrimSpace(stdout.kept)
	if !bytes.HasPrefix(text, []byte("{")) {
		r.Outcome = Passed
		return
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil || stdout.more {
		r.Reason = umpire.Say(`Hook %q answered in JSON that cannot be read; `+
			`want {"decision": "ask" or "deny", "reason": ...}`, r.Hook.ID)
		return
	}
	said := files.ClipTo(strings.TrimSpace(a.Reason), maxReason, "")
	switch a.Decision {
	case "", "allow":
		r.Outcome, r.Reason = Passed, umpire.Verbatim(said)
	case "ask":
		r.Outcome, r.Reason = Asked, cmp.Or(umpire.Verbatim(said), umpire.Say("Hook %q asks", r.Hook.ID))
	case "deny":
		r.Outcome, r.Reason = Denied, cmp.Or(umpire.Verbatim(said), umpire.Say("Hook %q denies", r.Hook.ID))
	default:
		r.Reason = umpire.Say("Hook %q answered %q; want ask or deny", r.Hook.ID, files.ClipTo(a.Decision, 100, ""))
	}
}
