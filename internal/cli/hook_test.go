package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/host"
)

// A program is umpire in surroundings of a test's own.
type program struct {
	app.Surroundings

	out, err *bytes.Buffer
}

func newProgram(tb testing.TB, stdin io.Reader, args ...string) *program {
	tb.Helper()
	home, project := filepath.Join(tb.TempDir(), "home"), filepath.Join(tb.TempDir(), "project")
	for _, dir := range []string{home, project} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	p := &program{out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	env := map[string]string{"HOME": home, "CLAUDE_PROJECT_DIR": project}
	p.Surroundings = app.Surroundings{
		Args: args, Stdin: stdin, Stdout: p.out, Stderr: p.err, Dir: project, Now: time.Now,
		Getenv: func(name string) string { return env[name] },
	}
	return p
}

const claudeLs = `{"hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"ls"}}`

// denied checks for the answer that stops a call in every way.
func (p *program) denied(t *testing.T, code int, why string) {
	t.Helper()
	if code != app.ExitDenied || host.Find("claude").DecisionOf(p.out.Bytes(), code) != "deny" || !strings.Contains(p.err.String(), why) {
		t.Errorf("exit %d\nstdout %s\nstderr %s\nwant a denial with %q", code, p.out, p.err, why)
	}
}

func TestHookFailsClosed(t *testing.T) {
	t.Parallel()
	never, _ := io.Pipe()
	for _, tt := range []struct {
		name  string
		stdin io.Reader
		limit string
		why   string
	}{
		{"stdin that never ends", never, "500ms", "no decision before the deadline"},
		{
			"stdin that breaks", io.MultiReader(strings.NewReader(claudeLs[:9]), brokenReader{}), "1m",
			"broken pipe of the test",
		},
		{"a payload without end", endless{}, "1m", "the payload is larger than"},
		{"half a payload", strings.NewReader(claudeLs[:40]), "1m", "not JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, tt.stdin, "hook", "claude", "--deadline", tt.limit)
			p.denied(t, runProgram(t.Context(), p.Surroundings), tt.why)
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("broken pipe of the test") }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestHookInterruptedDenies(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never, _ := io.Pipe()
	p := newProgram(t, never, "hook", "claude")
	p.denied(t, runProgram(ctx, p.Surroundings), "interrupted")
}

// TestHookUnwritableAnswer: an answer that could not be written must not look like no
// opinion.
func TestHookUnwritableAnswer(t *testing.T) {
	t.Parallel()
	p := newProgram(t, strings.NewReader(claudeLs), "hook", "claude")
	p.Stdout = unwritable{}
	if code := runProgram(t.Context(), p.Surroundings); code != app.ExitDenied {
		t.Errorf("exit %d", code)
	}
}

type unwritable struct{}

func (unwritable) Write([]byte) (int, error) { return 0, errors.New("closed") }

// FuzzHookClaude gives the whole path any bytes. It may allow only one well-formed
// question, and must answer with one line of JSON or nothing.
func FuzzHookClaude(f *testing.F) {
	for _, seed := range []string{
		"", "{", claudeLs, claudeLs + claudeLs, strings.Replace(claudeLs, "ls", "rm -rf /", 1),
		strings.Replace(claudeLs, "PreToolUse", "PermissionRequest", 1), strings.Replace(claudeLs, "PreToolUse", "Stop", 1),
		strings.Replace(claudeLs, "Bash", "Read", 1), strings.Replace(claudeLs, `"command":"ls"`, `"file_path":"/etc/passwd"`, 1),
		strings.Replace(claudeLs, "default", "plan", 1), `{"hook_event_name":"PreToolUse"}`, "\x00\xff", `[1]`, `{"hook_event_name":7}`,
	} {
		f.Add([]byte(seed))
	}
	p := newProgram(f, nil, "hook", "claude")
	f.Fuzz(func(t *testing.T, payload []byte) {
		var stdout, stderr bytes.Buffer
		s := p.Surroundings
		s.Stdin, s.Stdout, s.Stderr = bytes.NewReader(payload), &stdout, &stderr
		code := runProgram(t.Context(), s)
		if strings.Contains(stderr.String(), "internal error") {
			t.Fatalf("panicked: %s", &stderr)
		}
		if code < app.ExitDone || code > app.ExitDenied || code == app.ExitDenied && stderr.Len() == 0 {
			t.Fatalf("exit %d, stderr %q", code, &stderr)
		}
		line := stdout.Bytes()
		if len(line) > 0 && (!json.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1) {
			t.Fatalf("not one line of JSON: %q", line)
		}
		e, err := host.Find("claude").Read(payload)
		garbage := err != nil || !e.Kind.Decides()
		if allows := bytes.Contains(line, []byte(`"allow"`)) && !bytes.Contains(line, []byte(`"deny"`)); allows && garbage {
			t.Fatalf("allowed %q: %s", payload, line)
		}
		if err != nil && code == app.ExitDone && e.Kind != host.BeforeDialog {
			t.Fatalf("said nothing to %q", payload)
		}
	})
}

// FuzzHookMuse is the same for the marker protocol.
func FuzzHookMuse(f *testing.F) {
	for _, seed := range []string{
		"", `{"toolName":"Read","input":{"path":"a"}}`, `{"toolName":"Write","input":{},"options":{"allowOnceTools":["Write"]}}`,
		`{"toolName":"Bash","input":{"command":"rm -rf /"},"options":{"toolPermissions":{"allowAll":true}}}`,
		`{"toolName":"x\n__tool_permission__:","input":{}}`,
	} {
		f.Add([]byte(seed))
	}
	p := newProgram(f, nil, "hook", "muse")
	f.Fuzz(func(t *testing.T, payload []byte) {
		var stdout, stderr bytes.Buffer
		s := p.Surroundings
		s.Stdin, s.Stdout, s.Stderr = bytes.NewReader(payload), &stdout, &stderr
		runProgram(t.Context(), s)
		if strings.Contains(stderr.String(), "internal error") {
			t.Fatalf("panicked: %s", &stderr)
		}
		if line := stdout.Bytes(); bytes.IndexByte(line, '\n') != len(line)-1 || len(line) == 0 {
			t.Fatalf("not one line: %q", line)
		}
		if _, err := host.ReadMuse(payload); err != nil && !strings.HasPrefix(stdout.String(), "Error: Tool ") {
			t.Fatalf("%q for %q", &stdout, payload)
		}
	})
}
