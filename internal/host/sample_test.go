package host

import (
	"errors"
	"testing"
)

// TestSample: every host reads its own sample as a command, and understands its own refusal.
func TestSample(t *testing.T) {
	t.Parallel()
	for _, h := range Hosts {
		payload := h.Sample("s-1", "c-1", "/w", "ls -la")
		if h.own != nil {
			if payload != nil {
				t.Errorf("%s: %s", h.Name, payload)
			}
			continue
		}
		e, err := h.Read(payload)
		if err != nil || e.Kind != BeforeTool || e.Call.Tool != "Bash" || string(e.Session) != "s-1" {
			t.Errorf("%s: %+v, %v in\n%s", h.Name, e, err, payload)
		}
		out := h.Fail(e.Name, errors.New("no"))
		if got := h.DecisionOf(out.Stdout, out.Exit); got != "deny" {
			t.Errorf("%s: a refusal is read as %q", h.Name, got)
		}
		if got := h.DecisionOf([]byte("{}"), 0); got != "" {
			t.Errorf("%s: an empty answer is read as %q", h.Name, got)
		}
	}
}
