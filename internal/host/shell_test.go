package host

import (
	"runtime"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// TestOtherShells: a line asks where its shell is not one that umpire reads.
func TestOtherShells(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ host, person, system, want string }{
		{"claude", "/usr/bin/fish", "linux", ""},
		{"claude", "", "windows", ""},
		{"codex", "/usr/bin/fish", "linux", ""},
		{"codex", "/bin/bash", "windows", "powershell"},
		{"gemini", "", "linux", ""},
		{"crush", "", "windows", ""},
		{"cursor", "/bin/zsh", "darwin", ""},
		{"cursor", "/opt/homebrew/bin/fish", "darwin", "fish"},
		{"cursor", "/usr/bin/pwsh", "linux", "pwsh"},
		{"cursor", "", "linux", "unknown"},
	} {
		if got := Find(tt.host).otherShell(tt.person, tt.system); got != tt.want {
			t.Errorf("%s, %q on %s: %q, want %q", tt.host, tt.person, tt.system, got, tt.want)
		}
	}
}

// TestKnownShell: a line is judged for the shell that runs it, if that can be told.
func TestKnownShell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there the shell is not the person's")
	}
	for _, tt := range []struct{ host, person, want string }{
		{"claude", "/bin/bash", "bash"}, {"claude", "/bin/zsh", "zsh"}, {"claude", "/bin/sh", ""}, {"claude", "/usr/bin/fish", ""},
		{"cursor", "/bin/sh", "sh"}, {"cursor", "/bin/dash", "dash"}, {"gemini", "/bin/zsh", "bash"}, {"crush", "", "bash"},
	} {
		e := Event{Host: Find(tt.host), Call: umpire.Call{Tool: "Bash", Input: []byte(`{"command":"ls"}`)}}
		e.nameShell(tt.person)
		if got := strings.Trim(string(e.Call.Extra[umpire.ExtraShell]), `"`); got != tt.want {
			t.Errorf("%s with SHELL=%s: judged for %q, want %q", tt.host, tt.person, got, tt.want)
		}
	}
}

// TestShellIsJudged: the judged call names the shell, and the call that the host runs stays unchanged.
func TestShellIsJudged(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there every shell is another one")
	}
	for shell, want := range map[string]bool{"/bin/bash": false, "/usr/bin/fish": true, "": true} {
		sent := strictjson.Object{"command": []byte(`"ls"`)}
		e := Event{Host: &cursor, Call: umpire.Call{Tool: "Bash", Input: []byte(`{"command":"ls"}`)}, sent: sent, input: sent}
		e.nameShell(shell)
		if got := strings.Contains(string(e.Call.Input), `"shell"`); got != want || len(e.sent) != 1 {
			t.Errorf("%q: judged as %s, run as %s", shell, e.Call.Input, e.sent)
		}
	}
	e := Event{Host: &cursor, Call: umpire.Call{Tool: "Read", Input: []byte(`{}`)}}
	if e.nameShell("/usr/bin/fish"); string(e.Call.Input) != "{}" {
		t.Errorf("a tool without a shell: %s", e.Call.Input)
	}
}
