package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// An outcome is the result of one run of the program.
type outcome struct {
	code           int
	stdout, stderr string
}

// play runs the program in a new project, in this process.
func play(t testing.TB, stdin io.Reader, args ...string) outcome {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	env := map[string]string{"HOME": home}
	return playIn(t, dir, env, stdin, args...)
}

func playIn(t testing.TB, dir string, env map[string]string, stdin io.Reader, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := runProgram(t.Context(), app.Surroundings{
		Args: args, Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Dir: dir,
		Getenv: func(name string) string { return env[name] }, Now: time.Now,
	})
	return outcome{code, stdout.String(), stderr.String()}
}

// answersOf decodes the lines of a stream.
func answersOf(t testing.TB, out string) []map[string]any {
	t.Helper()
	var answers []map[string]any
	for line := range strings.Lines(out) {
		answer := map[string]any{}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("not a line of JSON: %v: %.200q", err, line)
		}
		answers = append(answers, answer)
	}
	return answers
}

func callWith(t testing.TB, command string) string {
	t.Helper()
	line, err := json.Marshal(map[string]string{"id": "x", "command": command})
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

// A line that is too long or not a call gets an answer, and so does the next line.
func TestStreamOutlivesBadLines(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", strictjson.MaxLine)
	tests := []struct {
		name, line, id, verdict, code, reason string
	}{
		{"a line over the limit", `{"id":"x","command":"` + huge + `"}` + "\n", "", "deny", "invalid", "longer than 10485760 bytes"},
		{"a payload at the limit", `{"id":"x","tool":"Write","input":{"path":"a","content":"` + huge[:strictjson.MaxLine-100] + `"}}` + "\n", "x", "ask", "mode", ""},
		{"a command of 100 KB", callWith(t, "echo "+huge[:100<<10]), "x", "ask", "unparsed", "not parsed"},
		{"a line of 1 MB", callWith(t, strings.Repeat("a ", 500<<10)), "x", "ask", "unparsed", "not parsed"},
		{"10,000 nested parentheses", callWith(t, strings.Repeat("(", 10_000)+"ls"+strings.Repeat(")", 10_000)), "x", "ask", "unparsed", "nested too deeply"},
		{"10,000 nested substitutions", callWith(t, strings.Repeat("$(", 10_000)), "x", "ask", "unparsed", ""},
		{"JSON nested deeply", `{"id":"x","tool":"Read","input":` + strings.Repeat("[", 20_000) + "\n", "", "deny", "invalid", ""},
		{"bytes that are no UTF-8", "{\"id\":\"x\",\"command\":\"echo \xff\"}\n", "", "deny", "invalid", "not valid UTF-8"},
		{"an empty line", "\n", "", "deny", "invalid", "got nothing"},
		{"half a JSON text", `{"id":"x","comm` + "\n", "", "deny", "invalid", "unexpected end"},
		{"two objects", `{"id":"x","command":"ls"}{}` + "\n", "", "deny", "invalid", "after top-level value"},
		{"a list", "[]\n", "", "deny", "invalid", "want a JSON object, got a list"},
		{"a command twice", `{"id":"x","command":"ls","command":"rm -rf ."}` + "\n", "x", "deny", "invalid", `"command" appears twice`},
		{"an input twice", `{"id":"x","tool":"Read","input":{"path":"a","path":"b"}}` + "\n", "x", "deny", "invalid", "input: "},
		{"an id that is an object", `{"id":{},"command":"ls"}` + "\n", "", "deny", "invalid", "id: want a string or a number"},
		{"a tool that is a number", `{"id":"x","tool":5}` + "\n", "x", "deny", "invalid", "tool: want a string"},
		{"a command and an input", `{"id":"x","command":"ls","input":{}}` + "\n", "x", "deny", "invalid", "command: "},
		{"a command for another tool", `{"id":"x","command":"ls","tool":"Read"}` + "\n", "x", "deny", "invalid", "command: "},
		{"an input that is a text", `{"id":"x","tool":"Read","input":"a"}` + "\n", "x", "deny", "invalid", "input: want an object, got a string"},
		{"a path that is a number", `{"id":"x","tool":"Read","input":{"path":5}}` + "\n", "x", "deny", "invalid", "input.path: want a string"},
		{"a NUL in a path", `{"id":"x","tool":"Read","input":{"path":"a\u0000"}}` + "\n", "x", "deny", "invalid", "input.path: contains a NUL byte"},
		{"no tool", `{"id":"x"}` + "\n", "x", "deny", "invalid", "tool: is missing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := play(t, strings.NewReader(test.line+callWith(t, "ls")), "check", "--stdin")
			answers := answersOf(t, out.stdout)
			if out.code != app.ExitDone || len(answers) != 2 {
				t.Fatalf("exit code %d, %d answers, %s", out.code, len(answers), out.stderr)
			}
			first := answers[0]
			reason, _ := first["reason"].(string)
			if first["id"] != test.id || first["verdict"] != test.verdict || first["reason_code"] != test.code || !strings.Contains(reason, test.reason) {
				t.Errorf("got %v %v %v %.200q", first["id"], first["verdict"], first["reason_code"], reason)
			}
			if answers[1]["verdict"] != "allow" {
				t.Errorf("the next line: %v", answers[1])
			}
		})
	}
}

// Invalid command lines end with exit code 4, without a decision.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		args   []string
		stderr string
	}{
		{"a flag that is not known", []string{"check", "--no-such", "--", "ls"}, "unknown flag: --no-such"},
		{"a mode that is not known", []string{"check", "--mode", "x", "--", "ls"}, `--mode: mode "x"`},
		{"a command that is no UTF-8", []string{"check", "--", "echo \xff"}, "command: not valid UTF-8"},
		{"an input that is no UTF-8", []string{"check", "--tool", "Read", "--input", "{\"path\":\"\xff\"}"}, "input: not valid UTF-8"},
		{"broken JSON", []string{"check", "--tool", "Read", "--input", `{"path":`}, `input: not JSON: unexpected end`},
		{"a missing folder", []string{"check", "--cwd", "/no/such", "--", "ls"}, "--cwd /no/such: no such folder"},
		{"a missing project", []string{"check", "--project", "/no/such", "--", "ls"}, "--project /no/such: no such folder"},
		{"a missing rule file", []string{"check", "--rules", "/no/such", "--", "ls"}, "--rules: /no/such: no such file"},
		{"a folder as a rule file", []string{"check", "--rules", "/", "--", "ls"}, "not a regular file"},
		{"no command", []string{"check"}, "nothing to decide"},
		{"escapes in an argument", []string{"check", "--mode", "\x1b[2J", "--", "ls"}, `\x1b[2J`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := play(t, strings.NewReader(""), test.args...)
			if out.code != app.ExitUsage || out.stdout != "" || !strings.Contains(out.stderr, test.stderr) {
				t.Errorf("exit code %d, stdout %q, stderr %q", out.code, out.stdout, out.stderr)
			}
			if !strings.HasPrefix(out.stderr, "umpire: ") || strings.Contains(out.stderr, "\x1b") {
				t.Errorf("stderr %q", out.stderr)
			}
		})
	}
}

// Without a home, the names of the user's files must not mean files in the
// working directory.
func TestNoHome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	allow := `{"version":1,"rules":[{"action":"allow","tool":"*"}]}`
	if err := os.WriteFile(filepath.Join(dir, "permissions.json"), []byte(allow), 0o600); err != nil {
		t.Fatal(err)
	}
	deny := `{"version":1,"rules":[{"action":"deny","tool":"Read"}]}`
	if err := os.MkdirAll(filepath.Join(dir, ".umpire"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".umpire", "permissions.json"), []byte(deny), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := playIn(t, dir, nil, nil, "check", "--tool", "Write", "--input", `{"path":"a"}`); out.code != app.ExitAsks {
		t.Errorf("a stray permissions.json: exit code %d, %s", out.code, out.stdout)
	}
	if out := playIn(t, dir, nil, nil, "check", "--tool", "Read", "--input", `{"path":"a"}`); out.code != app.ExitDenied {
		t.Errorf("the project's deny rule: exit code %d, %s", out.code, out.stdout)
	}
}

// FuzzStream: every input line gets one line of JSON with a verdict.
func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"id":"c1","command":"ls"}` + "\n" + `{"id":"c2","tool":"Write","input":{"path":"a"}}`))
	f.Add([]byte("\n\r\n{}\n[1]\n{\"id\":1e9,\"command\":\"(\"}\n\xff"))
	f.Add([]byte(`{"id":"x","tool":"Read","input":{"paths":["a",{"path":"b"},5]}}`))
	f.Add([]byte(`{"id":"x","tool":"WebFetch","input":{"url":"http://[::1"},"cwd":"../..","background":true}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		out := play(t, bytes.NewReader(text), "check", "--stdin")
		want := bytes.Count(text, []byte("\n"))
		if len(text) > 0 && text[len(text)-1] != '\n' {
			want++
		}
		answers := answersOf(t, out.stdout)
		if out.code != app.ExitDone || len(answers) != want {
			t.Fatalf("exit code %d, %d answers to %d lines: %s", out.code, len(answers), want, out.stderr)
		}
		for _, answer := range answers {
			switch answer["verdict"] {
			case "allow", "ask", "deny":
			default:
				t.Fatalf("no verdict: %v", answer)
			}
		}
	})
}

// A fullDisk fails every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A command whose output was lost has failed: even a safe call's exit code is not 0.
func TestOutputFails(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "--", "ls"}, {"check", "--json", "--", "ls"}, {"check", "--stdin"}, {"status"}, {"version"}} {
		var stderr strings.Builder
		env := map[string]string{"HOME": t.TempDir()}
		code := runProgram(t.Context(), app.Surroundings{
			Args: args, Stdin: strings.NewReader(callWith(t, "ls")), Stdout: fullDisk{}, Stderr: &stderr, Dir: t.TempDir(),
			Getenv: func(name string) string { return env[name] }, Now: time.Now,
		})
		if code != app.ExitError || !strings.Contains(stderr.String(), "closed pipe") {
			t.Errorf("%q: exit code %d, %q", args, code, stderr.String())
		}
	}
}
