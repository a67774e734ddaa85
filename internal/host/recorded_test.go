package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestRecordedPayloads reads what the real Claude Code sent, and what it made of the
// answers: the recordings are those that the tests in interop compare it with.
func TestRecordedPayloads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "lab", "interop", "testdata", "contract", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	seen := map[EventKind]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		comment, parts := parseTranscript(string(text))
		if !strings.Contains(comment, "Claude Code "+ClaudeVersion+".") {
			t.Errorf("%s: recorded from %q, want %s", file, comment, ClaudeVersion)
		}
		payloads := ""
		for _, p := range parts {
			if p.name == "payloads" {
				payloads = p.data
			}
		}
		for payload := range strings.Lines(payloads) {
			seen[checkRecorded(t, file, payload)] = true
		}
	}
	for _, kind := range []EventKind{BeforeTool, BeforeDialog, AfterTool} {
		if !seen[kind] {
			t.Errorf("no %s was recorded", kind)
		}
	}
}

// checkRecorded wants a payload to be understood: its call, its mode, and an answer that
// stops it.
func checkRecorded(t *testing.T, file, payload string) EventKind {
	t.Helper()
	e, err := claude.Read([]byte(payload))
	if err != nil {
		t.Errorf("%s: %v\n%s", file, err, payload)
		return OtherEvent
	}
	if !e.Kind.AboutTool() {
		return e.Kind
	}
	if e.Call.Tool == "" || e.Dir == "" || e.Session == "" || e.permission() == Unknown {
		t.Errorf("%s: %s is not understood: %+v", file, e.Name, e)
	}
	if !e.Kind.Decides() {
		return e.Kind
	}
	d := umpire.Decision{Verdict: umpire.Deny, Reason: "the recorded call is denied"}
	out := string(e.Answer(d, e.Reply(d, Mode{}, false)).Stdout)
	if !strings.Contains(out, `"`+e.Name+`"`) || !strings.Contains(out, `"deny"`) || !strings.Contains(out, catalogue.English.Text(d.Reason)) {
		t.Errorf("%s: %s is not denied: %s", file, e.Name, out)
	}
	return e.Kind
}
