package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCodexSilence: calls that never ask are confined by the sandbox in the turn's own record, no
// matter what else the record contains.
func TestCodexSilence(t *testing.T) {
	t.Parallel()
	turn := func(id, sandbox string) string {
		return `{"ordinal":7,"type":"turn_context","payload":{"turn_id":"` + id + `","sandbox_policy":{"type":"` + sandbox +
			`"}}}` + "\n"
	}
	long := `{"type":"response_item","payload":{"text":"` + strings.Repeat("x", firstWindow) + `"}}` + "\n"
	quoted := `{"type":"response_item","payload":{"text":"{\"type\":\"turn_context\"}","type":"turn_context",` +
		`"turn_id":"now","sandbox_policy":{"type":"read-only"}}}` + "\n"
	for _, tt := range []struct {
		name, record string
		bypass, asks Silence
	}{
		{"workspace", turn("now", "workspace-write"), SilenceChecks, SilenceChecks},
		{"reads only", turn("now", "read-only"), SilenceChecks, SilenceChecks},
		{"none", turn("now", "danger-full-access"), SilenceRuns, SilenceRuns},
		{"somebody else's", turn("now", "external-sandbox"), SilenceRuns, SilenceRuns},
		{"another turn's", turn("before", "workspace-write"), SilenceRuns, SilenceChecks},
		{"changed", turn("before", "workspace-write") + turn("now", "danger-full-access"), SilenceRuns, SilenceRuns},
		{"described twice", turn("now", "workspace-write") + turn("now", "danger-full-access"), SilenceRuns, SilenceRuns},
		{"far back", turn("now", "workspace-write") + long, SilenceChecks, SilenceChecks},
		{"what a tool said", quoted, SilenceRuns, SilenceChecks},
		{"cut off", turn("now", "workspace-write")[:60], SilenceRuns, SilenceChecks},
		{"without a sandbox", `{"type":"turn_context","payload":{"turn_id":"now"}}`, SilenceRuns, SilenceChecks},
		{"empty", "", SilenceRuns, SilenceChecks},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			record := filepath.Join(t.TempDir(), "rollout.jsonl")
			if err := os.WriteFile(record, []byte(tt.record), 0o600); err != nil {
				t.Fatal(err)
			}
			e := &Event{Host: &codex, turn: "now", transcript: record}
			if got := codexSilence(e, SilenceRuns); got != tt.bypass {
				t.Errorf("where nothing is asked: %d, want %d", got, tt.bypass)
			}
			if got := codexSilence(e, SilenceChecks); got != tt.asks {
				t.Errorf("where Codex asks: %d, want %d", got, tt.asks)
			}
		})
	}
	for _, e := range []Event{{turn: "now"}, {turn: "now", transcript: "rollout.jsonl"}, {transcript: t.TempDir()}} {
		if got := codexSilence(&e, SilenceRuns); got != SilenceRuns {
			t.Errorf("%+v: %d", e, got)
		}
	}
}
