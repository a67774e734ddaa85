package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/judge"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/policy"
)

// decider returns what answers by 10,000 rules, and the folder of its project.
func decider(tb testing.TB) (r *Responder, dir string) {
	tb.Helper()
	dir = tb.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		tb.Fatal(err)
	}
	bounds, err := place.Open(dir, place.Options{Home: dir + "/home"})
	if err != nil {
		tb.Fatal(err)
	}
	rules := make([]umpire.Rule, 10_000)
	for i := range rules {
		rules[i] = umpire.Rule{ID: umpire.RuleID(fmt.Sprint("r", i)), Action: umpire.Allow, Tool: "Bash", Source: umpire.SourceUser}
		rules[i].Match.CommandPrefix = fmt.Sprintf("cmd%d sub%d", i, i%7)
		if i%2 == 1 {
			rules[i].Tool, rules[i].Match = "Edit", umpire.Match{PathGlob: fmt.Sprintf("/home/u/proj/pkg%d/src%d/**/*.go", i%97, i)}
		}
		if i%5 == 4 {
			rules[i].Action = umpire.Deny
		}
	}
	made, err := policy.New(rules, policy.Options{Root: bounds.Root, Home: bounds.Home})
	if err != nil {
		tb.Fatal(err)
	}
	find := func() (*judge.Judge, error) {
		return &judge.Judge{Bounds: bounds, Policy: made, Home: bounds.Home}, tb.Context().Err()
	}
	decide := func(_ context.Context, _ string, q policy.Query) umpire.Decision {
		return judge.Decide(find, q, time.Now)
	}
	return &Responder{Config: func(string) (Config, error) { return Config{Decide: decide}, nil }}, dir
}

// decidedLines are the judged command lines, by their names in the table of figures.
var decidedLines = map[string]string{
	"git": "git status", "rule": "cmd9998 sub2 --flag x", "pipeline": "cat a.txt | sort | uniq -c > /dev/null",
}

func payloadOf(dir, line string) []byte {
	return fmt.Appendf(nil, `{"session_id":"bench","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",`+
		`"tool_use_id":"t","tool_input":{"command":%q}}`, dir, line)
}

func mustAllow(tb testing.TB, r *Responder, dir string, payload []byte) {
	tb.Helper()
	out, err := r.Answer(tb.Context(), Question{Agent: "claude", Payload: payload, Project: dir, Dir: dir, Runner: "r", Deadline: time.Minute})
	if err != nil || !bytes.Contains(out.Stdout, []byte(`"permissionDecision":"allow"`)) {
		tb.Fatalf("%v: %s", err, out.Stdout)
	}
}

// TestDecisionAllocatesLittle: a look at the file system that is made twice, or a table that is split
// for each word, shows here.
func TestDecisionAllocatesLittle(t *testing.T) {
	r, dir := decider(t)
	for name, most := range map[string]float64{"git": 170, "rule": 135, "pipeline": 215} {
		payload := payloadOf(dir, decidedLines[name])
		allocs := testing.AllocsPerRun(100, func() { mustAllow(t, r, dir, payload) })
		if t.Logf("%s: %g allocations", name, allocs); allocs > most {
			t.Errorf("%s: %g allocations, want at most %g", name, allocs, most)
		}
	}
}

// BenchmarkDecision measures a whole decision by 10,000 rules, from the bytes of a payload to those of the
// answer, and for comparison the unavoidable work: decoding, parsing, a walk over the tree, encoding.
func BenchmarkDecision(b *testing.B) {
	r, dir := decider(b)
	for name, line := range decidedLines {
		payload := payloadOf(dir, line)
		b.Run(name+"/whole", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustAllow(b, r, dir, payload)
			}
		})
		b.Run(name+"/floor", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				floor(b, payload)
			}
		})
	}
}

func floor(b *testing.B, payload []byte) {
	var asked struct {
		Dir   string `json:"cwd"`
		Tool  string `json:"tool_name"`
		Input struct {
			Command string `json:"command"`
		} `json:"tool_input"`
	}
	if err := json.Unmarshal(payload, &asked); err != nil {
		b.Fatal(err)
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(asked.Input.Command), "")
	if err != nil {
		b.Fatal(err)
	}
	words := 0
	syntax.Walk(file, func(node syntax.Node) bool {
		if _, ok := node.(*syntax.Word); ok {
			words++
		}
		return true
	})
	answer := map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": fmt.Sprint(words),
	}}
	if _, err := json.Marshal(answer); err != nil {
		b.Fatal(err)
	}
}
