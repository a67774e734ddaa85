package host

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

// verdictOf reads the decision of a transcript.
func verdictOf(t *testing.T, text []byte) umpire.Decision {
	t.Helper()
	var in struct {
		Verdict    umpire.Verdict    `json:"verdict"`
		Risk       umpire.Risk       `json:"risk"`
		Reason     string            `json:"reason"`
		ReasonCode umpire.ReasonCode `json:"reason_code"`
		Warning    bool              `json:"warning"`
		Rule       *umpire.RuleRef   `json:"rule"`
		Reasons    []umpire.Reason   `json:"reasons"`
		Accesses   []umpire.Access   `json:"accesses"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatalf("decision: %v", err)
	}
	return umpire.Decision{Verdict: in.Verdict, Risk: in.Risk, Reason: umpire.Verbatim(in.Reason), ReasonCode: in.ReasonCode,
		Warning: in.Warning, Rule: in.Rule, Reasons: in.Reasons, Accesses: in.Accesses}
}

// TestTranscripts pins every byte of the answers: stdin and a decision in,
// stdout, stderr and the exit code out. Run with -update to rewrite them.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	for agent, answer := range map[string]func(*testing.T, map[string][]byte) Output{
		"claude": answerClaudeTranscript,
		"muse":   answerMuseTranscript,
	} {
		files, err := filepath.Glob(filepath.Join("testdata", agent, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no transcripts for %s: %v", agent, err)
		}
		for _, file := range files {
			t.Run(agent+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				checkTranscript(t, file, answer)
			})
		}
	}
}

func answerClaudeTranscript(t *testing.T, parts map[string][]byte) Output {
	e, err := claude.Read(parts["stdin"])
	if err != nil {
		return claude.Fail(e.Name, err)
	}
	d := verdictOf(t, parts["decision"])
	return e.Answer(d, e.Reply(d, Mode{}, string(parts["options"]) == "headless\n"))
}

func answerMuseTranscript(t *testing.T, parts map[string][]byte) Output {
	r, err := ReadMuse(parts["stdin"])
	if err != nil {
		return failMuse(r.Call.Tool, err)
	}
	return AnswerMuse(r.Call, verdictOf(t, parts["decision"]))
}

// A part is one file of a transcript in txtar form.
type part struct{ name, data string }

var partHeader = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// parseTranscript splits a txtar archive into its comment and its parts.
func parseTranscript(text string) (comment string, parts []part) {
	heads := partHeader.FindAllStringSubmatchIndex(text, -1)
	if len(heads) == 0 {
		return text, nil
	}
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		parts = append(parts, part{text[h[2]:h[3]], text[h[1]:end]})
	}
	return text[:heads[0][0]], parts
}

func checkTranscript(t *testing.T, file string, answer func(*testing.T, map[string][]byte) Output) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	comment, parts := parseTranscript(string(text))
	have := map[string][]byte{}
	var out strings.Builder
	out.WriteString(comment)
	for _, p := range parts {
		have[p.name] = []byte(p.data)
		if p.name != "stdout" && p.name != "stderr" && p.name != "exit" {
			fmt.Fprintf(&out, "-- %s --\n%s", p.name, p.data)
		}
	}
	got := answer(t, have)
	fmt.Fprintf(&out, "-- stdout --\n%s-- stderr --\n%s-- exit --\n%s\n", got.Stdout, got.Stderr, strconv.Itoa(got.Exit))
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), out.String()); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
}
