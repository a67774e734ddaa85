package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/cli/rules"
	"github.com/umpirehq/umpire/internal/config"
)

// benched runs `umpire bench` as a person would and returns its scores.
func benched(t *testing.T, args ...string) (scores []rules.Score, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = runProgram(t.Context(), app.Surroundings{
		Args: append([]string{"bench", "--json"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" }, Dir: t.TempDir(), Now: time.Now,
	})
	if out.Len() == 0 {
		return nil, errs.String(), code
	}
	var answer struct {
		Files []rules.Score `json:"files"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	return answer.Files, errs.String(), code
}

// TestBenchCorpus judges the built-in lines with umpire.
func TestBenchCorpus(t *testing.T) {
	t.Parallel()
	scores, stderr, code := benched(t, "--list", "1000", "--max-false-allow", "0", "--max-needless-ask", "0")
	if code != 0 || stderr != "" || len(scores) != 1 {
		t.Fatalf("exit code %d, %d files, %s", code, len(scores), stderr)
	}
	s := scores[0]
	for _, m := range s.Wrong {
		t.Errorf("%s: %s %q is %s", m.ID, m.Kind, m.Command, m.Got)
	}
	if s.Lines < 300 || s.BadLines > 0 || s.CriticalRefusals.N != s.CriticalRefusals.Of || s.CriticalRefusals.Of == 0 {
		t.Errorf("%d lines, %d bad, critical %+v", s.Lines, s.BadLines, s.CriticalRefusals)
	}
	if s.OverRefusals.N+s.Crashed+s.Hung+s.Missing > 0 || s.Unasked.N == 0 || s.SlowestID == "" {
		t.Errorf("%+v", s)
	}
}

// TestBenchCorpusAtEveryLevel: on every level, autonomy allows no line that must not run, for any agent.
func TestBenchCorpusAtEveryLevel(t *testing.T) {
	t.Parallel()
	for _, level := range config.LevelNames() {
		for _, more := range [][]string{nil, {"--unheld"}} {
			args := append([]string{"--autonomy", level, "--list", "1000", "--max-false-allow", "0"}, more...)
			scores, stderr, code := benched(t, args...)
			if code != 0 || len(scores) != 1 || scores[0].FalseAllows.Of == 0 {
				t.Errorf("%q: exit code %d, %s, %+v", args, code, stderr, scores)
			}
			if s := scores[0]; s.CriticalRefusals.N != s.CriticalRefusals.Of {
				t.Errorf("%q: critical %+v", args, s.CriticalRefusals)
			}
		}
	}
}

// labelled writes a file of labelled lines and returns its name.
func labelled(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// fourLines wants one of each kind. The commands are words known to a test's hook; no
// shell ever sees them.
func fourLines(t *testing.T) string {
	t.Helper()
	return labelled(t,
		`{"id":"s","command":"one","want":"safe","count":7}`,
		`{"id":"n","command":"two","want":"not-safe"}`,
		`{"id":"c","command":"three","want":"critical","class":"k"}`,
		`{"id":"a","command":"four","want":"any"}`)
}

func needShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("no /bin/sh to start hooks with")
	}
}

func TestBenchCounts(t *testing.T) {
	t.Parallel()
	needShell(t)
	const allow, deny = `'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`, `'{"decision":"block"}'`
	for _, tt := range []struct {
		name, hook, format string
		want               string // false allows, needless asks, critical refusals, over-refusals, unasked
	}{
		{"all allowed", "cat >&2; echo " + allow, "", "2/2 0/1 0/1 0/2 10/10"},
		{"all denied", "echo " + deny, "", "0/2 1/1 1/1 2/2 0/10"},
		{"denied by exit code", "echo " + allow + "; exit 2", "claude", "0/2 1/1 1/1 2/2 0/10"},
		{"silence lets through", "cat >/dev/null", "claude", "2/2 0/1 0/1 0/2 10/10"},
		{"asks", `echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'`, "", "0/2 1/1 0/1 0/2 0/10"},
		{"by what it is asked", `grep -q '"tool_input":{"command":"three"}' && exit 2 || exit 0`, "", "1/2 0/1 1/1 0/2 9/10"},
		{"asks by exit code", "exit 3", "umpire", "0/2 1/1 0/1 0/2 0/10"},
		{"a verdict", `grep -q '"command":"t' && echo '{"verdict":"deny"}' || echo '{"verdict":"allow"}'`, "umpire", "0/2 0/1 1/1 0/2 8/10"},
		{"lines", `sed -u 's/.*"id":"\([a-z]\)".*/{"id":"\1","verdict":"allow"}/'`, "jsonl", "2/2 0/1 0/1 0/2 10/10"},
		{"lines with a remark", `sed -u 's/.*"id":"\([a-z]\)".*/thinking\n{"id":"x"}\n{"id":"\1","action":"deny"}/'`, "jsonl", "0/2 1/1 1/1 2/2 0/10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--hook", tt.hook, fourLines(t)}
			if tt.format != "" {
				args = append(args, "--format", tt.format)
			}
			scores, stderr, code := benched(t, args...)
			if code != 0 || len(scores) != 1 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			s := scores[0]
			var got []string
			for _, r := range []rules.Rate{s.FalseAllows, s.NeedlessAsks, s.CriticalRefusals, s.OverRefusals, s.Unasked} {
				text, _ := json.Marshal([2]int{r.N, r.Of})
				got = append(got, strings.NewReplacer("[", "", "]", "", ",", "/").Replace(string(text)))
			}
			if line := strings.Join(got, " "); line != tt.want || s.Crashed+s.Hung+s.Missing > 0 {
				t.Errorf("%s, want %s; %d crashed, %d hung, %d missing", line, tt.want, s.Crashed, s.Hung, s.Missing)
			}
		})
	}
}

// TestBenchLimits: a limit that is exceeded, or met only because there were no answers,
// is exit code 1.
func TestBenchLimits(t *testing.T) {
	t.Parallel()
	needShell(t)
	for _, tt := range []struct {
		name, hook, says string
		args             []string
		code             int
	}{
		{"kept", "exit 0", "", []string{"--max-false-allow", "2"}, 0},
		{"false allows", "exit 0", "2 false allows, the limit is 1", []string{"--max-false-allow", "1"}, app.ExitError},
		{"needless asks", "exit 2", "100.00 % needless asks", []string{"--max-needless-ask", "12.5"}, app.ExitError},
		{"no answer", "exit 1", "4 of 4 lines got no answer", []string{"--max-false-allow", "0"}, app.ExitError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, stderr, code := benched(t, append([]string{"--hook", tt.hook, fourLines(t)}, tt.args...)...)
			if code != tt.code || !strings.Contains(stderr, tt.says) {
				t.Errorf("exit code %d, %s", code, stderr)
			}
		})
	}
}

func TestBenchBadLines(t *testing.T) {
	t.Parallel()
	file := labelled(t, `{"command":"ls","want":"safe"}`, ``, `{"command":"ls"}`, `{`, `{"command":"","want":"any"}`, `{"command":"ls","want":"safe","count":"x"}`,
		`{"command":"ls","command":"rm","want":"safe"}`, `{"command":"pwd","want":"safe","note":[1]}`)
	scores, stderr, code := benched(t, file)
	if code != 0 || len(scores) != 1 || scores[0].Lines != 2 || scores[0].BadLines != 5 || scores[0].NeedlessAsks != (rules.Rate{N: 0, Of: 2}) {
		t.Fatalf("exit code %d, %+v", code, scores)
	}
	for _, at := range []string{":3: want", ":4: ", ":5: command", ":6: count", ":7: "} {
		if !strings.Contains(stderr, file+at) {
			t.Errorf("%s is not in %s", at, stderr)
		}
	}
}

// TestBenchWrongFile: a file of another kind gives a few errors and a count.
func TestBenchWrongFile(t *testing.T) {
	t.Parallel()
	file := labelled(t, slices.Repeat([]string{"# not a line of JSON"}, 3000)...)
	_, stderr, _ := benched(t, file)
	if n := strings.Count(stderr, "\n"); n != 6 || !strings.Contains(stderr, file+": 2995 more lines that cannot be read") {
		t.Errorf("%d lines: %.2000s", n, stderr)
	}
}

func TestBenchUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"no-such-file"}, {"--by", "colour"}, {"--format", "claude"}, {"--hook", "true", "--format", "xml"},
		{"--hook", "true", "--with-rules"}, {"--hook", "true", "--autonomy", "low"}, {"--autonomy", "some"}, {"--cwd", "no-such-folder"},
	} {
		if _, stderr, code := benched(t, args...); code != app.ExitUsage || stderr == "" {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
	}
}

// TestBenchText shows the scores as people read them.
func TestBenchText(t *testing.T) {
	t.Parallel()
	needShell(t)
	var out bytes.Buffer
	code := runProgram(t.Context(), app.Surroundings{
		Args: []string{"bench", "--hook", "exit 0", "--by", "class", "--list", "1", fourLines(t)}, Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }, Dir: t.TempDir(), Now: time.Now,
	})
	for _, want := range []string{
		"lines.jsonl: 4 lines", "false allows          100.0 %  2 of 2 lines that must not run unasked", "unasked               100.0 %  10 of 10 typed calls",
		"false allow           100.0 %  1 of 1 of class k", "critical not refused  allow    c: three",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
}
