package host

import (
	"bytes"
	"errors"
	"testing"

	"github.com/umpirehq/umpire"
)

// FuzzHooks starts every host's hook with arbitrary bytes and decisions: the answer must be
// documented by the host, on standard output and with one of the host's exit codes, and unreadable
// input must be denied.
func FuzzHooks(f *testing.F) {
	for i, h := range Hosts {
		for _, payload := range payloadsOf(f, h) {
			for j := range sampleDecisions {
				f.Add(uint8(i), uint8(j), payload)
			}
		}
	}
	f.Fuzz(func(t *testing.T, i, j uint8, payload []byte) {
		h, decision := Hosts[int(i)%len(Hosts)], sampleDecisions[int(j)%len(sampleDecisions)].d
		out := answerAlone(t, h, payload, decision)
		asked := h
		err := h.checkPayload(payload)
		if sender := senderOf(err); h == &claude && sender != nil && sender.StartsClaude {
			asked, err = sender, nil // it starts Claude Code's hooks, and is answered in its own words
		}
		if problem := documentedAnswer(asked, out); problem != nil || bytes.Contains(out.Stderr, []byte("internal error")) {
			t.Fatalf("%s: %v: %s", asked.Name, problem, describeOutput(out))
		}
		if mustDeny(asked, payload, err, decision) && !denies(asked, out) {
			t.Fatalf("%s: a denial does not deny: %s", asked.Name, describeOutput(out))
		}
	})
}

// mustDeny reports whether a payload is to be denied: it cannot be read, is another host's, or asks about
// a call that umpire denies.
func mustDeny(h *Host, payload []byte, foreign error, d umpire.Decision) bool {
	if _, is := errors.AsType[*foreignError](foreign); is {
		return true
	}
	if h.own != nil {
		_, err := ReadMuse(payload)
		return err != nil || d.Verdict == umpire.Deny
	}
	e, err := h.Read(payload)
	row, known := h.Event(e.Name)
	switch {
	case err != nil:
		return !known || row.Kind.Decides()
	case e.Kind.Decides():
		return d.Verdict == umpire.Deny
	}
	return false
}
