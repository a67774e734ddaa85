//go:build unix

package userhook

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

func pre(command string) *rulefile.Hook {
	return &rulefile.Hook{ID: "h1", Event: rulefile.PreToolUse, Command: command}
}

func occasion(t *testing.T, input string) *Occasion {
	t.Helper()
	return &Occasion{
		Call: umpire.Call{ID: "c1", Tool: "Bash", Input: json.RawMessage(input), Session: "s1"},
		Root: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")},
	}
}

// MP-26, MP-27, MP-28: the exit code is the answer, and standard error the reason.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	skipped := pre("echo nope >&2; exit 1")
	skipped.Skip = true
	for name, test := range map[string]struct {
		hook    *rulefile.Hook
		outcome Outcome
		exit    int
		verdict umpire.Verdict
		reason  string
	}{
		"no objection":      {pre("echo fine"), Passed, 0, umpire.Allow, ""},
		"fails and blocks":  {pre("echo nope >&2; exit 1"), Failed, 1, umpire.Deny, "nope"},
		"fails and skips":   {skipped, Failed, 1, umpire.Allow, "nope"},
		"fails in silence":  {pre("exit 3"), Failed, 3, umpire.Deny, `Hook "h1" failed with exit code 3`},
		"kills itself":      {pre("kill -9 $$"), Failed, -1, umpire.Deny, `Hook "h1" could not be run: signal: killed`},
		"is not there":      {pre("./none 2>/dev/null"), Failed, 127, umpire.Deny, `Hook "h1" failed with exit code 127`},
		"reads nothing":     {pre("exec <&-; true"), Passed, 0, umpire.Allow, ""},
		"leaves a child":    {pre("sleep 100 & echo $! >left"), Passed, 0, umpire.Allow, ""},
		"asks":              {pre(`echo '{"decision": "ask", "reason": "look"}'`), Asked, 0, umpire.Ask, "look"},
		"denies":            {pre(`echo '{"decision": "deny"}'`), Denied, 0, umpire.Deny, `Hook "h1" denies`},
		"allows, vainly":    {pre(`echo '{"decision": "allow", "reason": "ok"}'`), Passed, 0, umpire.Allow, "ok"},
		"says another word": {pre(`echo '{"decision": "approve"}'`), Failed, 0, umpire.Deny, `Hook "h1" answered "approve"; want ask or deny`},
		"says half an answer": {
			pre(`echo '{"decision": "den'`), Failed, 0, umpire.Deny,
			`Hook "h1" answered in JSON that cannot be read; want {"decision": "ask" or "deny", "reason": ...}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := occasion(t, `{"command": "ls"}`)
			got := Run(t.Context(), test.hook, o)
			if got.Outcome != test.outcome || got.Exit != test.exit || got.Verdict() != test.verdict || catalogue.English.Text(got.Reason) != test.reason {
				t.Errorf("got %+v, verdict %s; want %+v", got, got.Verdict(), test)
			}
			endLeft(t, o.Root)
		})
	}
}

// endLeft ends the processes that a hook left in the background.
func endLeft(t *testing.T, dir string) {
	t.Helper()
	if pid, err := os.ReadFile(filepath.Join(dir, "left")); err == nil {
		Run(t.Context(), pre("kill "+string(pid)), &Occasion{Root: dir})
	}
}

// A hook that cannot be run asks, under any on_failure setting.
func TestFaultyHookAsks(t *testing.T) {
	t.Parallel()
	h := &rulefile.Hook{ID: "h1", Event: rulefile.PreToolUse, Command: "touch ran", Skip: true, Fault: "timeout: want more"}
	o := occasion(t, `{}`)
	got := Run(t.Context(), h, o)
	if got.Verdict() != umpire.Ask || !strings.Contains(catalogue.English.Text(got.Reason), "timeout: want more") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(filepath.Join(o.Root, "ran")); err == nil {
		t.Error("it was run")
	}
}

// MP-30: a hook that is late is killed with all that it started, and has failed.
func TestLateHookIsKilled(t *testing.T) {
	t.Parallel()
	h := pre("exec 9>alive; sleep 1000 & sleep 1000")
	h.Timeout = 300 * time.Millisecond
	o := occasion(t, `{}`)
	dead := waitForEnd(t, filepath.Join(o.Root, "alive"))
	got := Run(t.Context(), h, o)
	if got.Outcome != Failed || got.Exit != -1 ||
		got.Reason != umpire.Say("Hook %q took longer than %s and was killed", "h1", "300ms") {
		t.Errorf("got %+v", got)
	}
	select {
	case <-dead:
	case <-time.After(time.Minute):
		t.Fatal("something that it started lives on")
	}
	h.Skip, h.Command = true, "sleep 1000"
	if got := Run(t.Context(), h, o); got.Verdict() != umpire.Allow {
		t.Errorf("skip: got %+v", got)
	}
}

// waitForEnd makes a pipe, and signals when all its writers have ended.
func waitForEnd(t *testing.T, pipe string) <-chan struct{} {
	t.Helper()
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	dead := make(chan struct{})
	go func() {
		defer close(dead)
		f, err := os.Open(pipe)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if _, err := io.ReadAll(f); err != nil {
			t.Error(err)
		}
	}()
	return dead
}

// A hook whose caller goes away is ended.
func TestHookEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	o := occasion(t, `{}`)
	ready := waitForEnd(t, filepath.Join(o.Root, "ready"))
	go func() {
		<-ready // the hook has opened it, and closed it again
		cancel()
	}()
	h := pre("echo x >ready; sleep 1000")
	h.Timeout = time.Minute
	if got := Run(ctx, h, o); got.Verdict() != umpire.Deny || !strings.Contains(catalogue.English.Text(got.Reason), "was stopped") {
		t.Errorf("got %+v", got)
	}
}

// MP-31: the variables that a hook gets in its environment, and those that it does not get.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	o := occasion(t, `{"command": "rm x", "file_path": "a b.txt"}`)
	o.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/h", "LC_ALL=C", "ANTHROPIC_API_KEY=sk-1", "OPENAI_API_KEY=sk-2",
		"UMPIRE_TOKEN=t", "AWS_SECRET_ACCESS_KEY=s", "LD_PRELOAD=./x.so", "BASH_ENV=./x",
	}
	o.Output = "done\x00\n"
	for event, output := range map[rulefile.HookEvent]string{rulefile.PreToolUse: "", rulefile.PostToolUse: "TOOL_OUTPUT=done\n"} {
		h := &rulefile.Hook{ID: "h1", Event: event, Command: "env"}
		env := strings.Join(environOf(o.Env, h, o), "\n") + "\n"
		for _, want := range []string{
			"TOOL_NAME=Bash\n", "TOOL_CALL_ID=c1\n", `TOOL_INPUT_JSON={"command": "rm x", "file_path": "a b.txt"}` + "\n",
			"TOOL_INPUT_COMMAND=rm x\n", "TOOL_INPUT_PATH=a b.txt\n", "WORKSPACE_PATH=" + o.Root + "\n", "HOOK_ID=h1\n",
			"HOME=/h\n", "LC_ALL=C\n", "UMPIRE_AGENT=1\n", output,
		} {
			if !strings.Contains(env, want) {
				t.Errorf("%s: %q is missing in\n%s", event, want, env)
			}
		}
		for _, secret := range []string{"sk-", "UMPIRE_TOKEN", "AWS_", "LD_PRELOAD", "BASH_ENV"} {
			if strings.Contains(env, secret) {
				t.Errorf("%s: %q is given away", event, secret)
			}
		}
		if output == "" && strings.Contains(env, "TOOL_OUTPUT") {
			t.Error("there is an output before the call")
		}
	}
}

// A call that is too large for an environment is cut there, and whole on standard input.
func TestLargeCalls(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("é", 300_000)
	o := occasion(t, `{"command": "`+large+`"}`)
	o.Output = large
	h := &rulefile.Hook{
		ID: "h1", Event: rulefile.PostToolUse,
		Command: `printf %s "$TOOL_OUTPUT" | wc -c; printf %s "$TOOL_INPUT_COMMAND" | wc -c; cat >stdin`,
	}
	stdout := Run(t.Context(), h, o)
	if stdout.Outcome != Passed {
		t.Fatalf("got %+v", stdout)
	}
	for _, pair := range environOf(o.Env, h, o) {
		name, value, _ := strings.Cut(pair, "=")
		if len(value) > maxValue || !strings.HasSuffix(value, "é") && strings.HasSuffix(name, "_OUTPUT") {
			t.Errorf("%s has %d bytes", name, len(value))
		}
	}
	text, err := os.ReadFile(filepath.Join(o.Root, "stdin"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Event string `json:"event"`
		Input struct {
			Command string `json:"command"`
		} `json:"tool_input"`
		Output string `json:"tool_output"`
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Event != "PostToolUse" || m.Input.Command != large || m.Output != large {
		t.Errorf("standard input has %d bytes: %v", len(text), err)
	}
}

// Output of a hook beyond a limit is dropped, and a truncated answer is not an answer.
func TestBabble(t *testing.T) {
	t.Parallel()
	got := Run(t.Context(), pre("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1"), occasion(t, `{}`))
	if len(catalogue.English.Text(got.Reason)) != maxReason {
		t.Errorf("the reason has %d bytes", len(got.Reason))
	}
	got = Run(t.Context(), pre(`echo '{"decision": "allow"}'; head -c 1000000 /dev/zero | tr '\0' ' '`), occasion(t, `{}`))
	if got.Verdict() != umpire.Deny {
		t.Errorf("got %+v", got)
	}
}
