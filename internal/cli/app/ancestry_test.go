package app

import (
	"os"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/hold/process"
)

// descendant is an app in a process that descends from others.
func descendant(env map[string]string, above ...ancestor) *App {
	return &App{Surroundings: Surroundings{
		Getenv:    func(name string) string { return env[name] },
		ancestors: func() []ancestor { return above },
	}}
}

func TestNeedPerson(t *testing.T) {
	t.Parallel()
	claude := &agentMarkers[0]
	for _, tt := range []struct {
		name string
		app  *App
		says string
	}{
		{"a person", descendant(nil, ancestor{pid: 9, runner: "h:9:1"}), ""},
		{"marked", descendant(map[string]string{"CLAUDECODE": "1"}), "Claude Code started this process"},
		{"not marked after all", descendant(map[string]string{"CLAUDECODE": "0", "GEMINI_CLI": "false"}), ""},
		{"below a marked one", descendant(nil, ancestor{pid: 9}, ancestor{pid: 8, marker: claude}), "Claude Code started process 8"},
		{"nothing known", &App{Surroundings: Surroundings{Getenv: func(string) string { return "" }}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.app.NeedPerson("this")
			if (err == nil) != (tt.says == "") || err != nil && (!strings.Contains(err.Error(), tt.says) || ExitCode(err) != ExitRefused) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
}

// TestNeedOutsider: a process that descends from a session's runner counts as its agent.
func TestNeedOutsider(t *testing.T) {
	t.Parallel()
	a := descendant(nil, ancestor{pid: 9, runner: "h:9:1"}, ancestor{pid: 8, runner: "h:8:7"}, ancestor{pid: 1})
	for runner, refuses := range map[string]bool{"h:8:7": true, "h:8:6": false, "other:8:7": false, "": false} {
		err := a.needOutsider("this", map[string]string{runner: "s1"})
		if (err != nil) != refuses {
			t.Errorf("runner %q: %v", runner, err)
		}
		if refuses && (ExitCode(err) != ExitRefused || !strings.Contains(err.Error(), "descends from 8, which runs session s1")) {
			t.Errorf("runner %q: %v", runner, err)
		}
	}
}

func TestAncestorsEndAtTheRoot(t *testing.T) {
	t.Parallel()
	if process.NameOf(os.Getpid()) == "" {
		t.Skip("processes cannot be looked at on this system")
	}
	if len(findAncestors(0)) == 0 || len(findAncestors(os.Getppid())) != 0 {
		t.Error("the walk to the root does not end where it should")
	}
}
