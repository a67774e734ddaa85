package rules

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/umpirehq/umpire"
)

// TestCorpusIsWellMade: ids are unique, and every line has its class and reason.
func TestCorpusIsWellMade(t *testing.T) {
	t.Parallel()
	set, err := Corpus()
	if err != nil || set.Bad > 0 {
		t.Fatal(err, set.Bad)
	}
	ids, commands := map[string]bool{}, map[string]bool{}
	for _, l := range set.Lines {
		if ids[l.ID] || commands[l.Command] || l.Class == "" || l.Why == "" {
			t.Errorf("%+v", l)
		}
		ids[l.ID], commands[l.Command] = true, true
	}
}

// TestNoAnswer: a failure is counted, and the next line is still judged.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("no /bin/sh to start hooks with")
	}
	for _, tt := range []struct {
		name, hook string
		format     Format
		want       Outcome
	}{
		{"crashes", "exit 1", FormatClaude, Crashed},
		{"is killed", "kill -9 $$", FormatClaude, Crashed},
		{"hangs", "exec sleep 60", FormatClaude, Hung},
		{"lines: crashes", "read x; exit 7", FormatLines, Crashed},
		{"lines: ends early", "read x; exit 0", FormatLines, Missing},
		{"lines: hangs", "exec sleep 60", FormatLines, Hung},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := &hookJudge{Command: tt.hook, Format: tt.format, Dir: t.TempDir(), Timeout: 20 * time.Second}
			if tt.want == Hung {
				h.Timeout = 200 * time.Millisecond
			}
			defer h.Close()
			for range 2 {
				if got := h.askFor(t.Context(), &Line{ID: "1", Command: "ls"}); got.Outcome != tt.want {
					t.Errorf("%+v, want %s", got, tt.want)
				}
			}
		})
	}
}

func TestVerdictOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]umpire.Verdict{
		`{"verdict":"ask"}`: umpire.Ask, `{"action":"Approve"}`: umpire.Allow, `{"permission":"block"}`: umpire.Deny,
		`{"continue":false}`: umpire.Deny, `{"decision":"approve"}`: umpire.Allow,
		`{"hookSpecificOutput":{"permissionDecision":"deny"},"decision":"approve"}`: umpire.Deny,
	} {
		if got, ok := verdictIn([]byte(text)); !ok || got != want {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "hello", "[]", `{"verdict":7}`, `{"verdict":"perhaps"}`, `null`} {
		if got, ok := verdictIn([]byte(text)); ok {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestRun checks that Run counts by the wanted verdict, reports a panic as a crash and
// an error as a missing answer.
func TestRun(t *testing.T) {
	t.Parallel()
	judge := inProcess(func(command string) (Answer, error) {
		switch command {
		case "panic":
			panic("a judge that crashes")
		case "error":
			return Answer{}, errors.New("a judge that cannot say")
		}
		a := Answer{Outcome: Answered}
		return a, a.Verdict.UnmarshalText([]byte(command))
	})
	set := LineSet{Name: "f", Bad: 1, Lines: []Line{
		{ID: "1", Command: "allow", Want: NotSafe, Class: "x", Count: 3}, {ID: "2", Command: "ask", Want: Safe, Count: 1},
		{ID: "3", Command: "ask", Want: Critical, Class: "x", Count: 1}, {ID: "4", Command: "deny", Want: Any, Count: 1},
		{ID: "5", Command: "panic", Want: NotSafe, Count: 1}, {ID: "6", Command: "error", Want: Safe, Count: 1},
	}}
	var seen []int
	s, err := scoreLines(t.Context(), set, judge, func(done int) { seen = append(seen, done) })
	if err != nil || len(seen) != 6 || seen[5] != 5 {
		t.Fatalf("%v, progress %v", err, seen)
	}
	if s.Lines != 6 || s.BadLines != 1 || s.Crashed != 1 || s.Missing != 1 || s.Unanswered() != 2 {
		t.Errorf("%+v", s)
	}
	if (s.FalseAllows != Rate{1, 3}) || (s.NeedlessAsks != Rate{2, 2}) || (s.CriticalRefusals != Rate{0, 1}) ||
		(s.OverRefusals != Rate{1, 3}) || (s.Unasked != Rate{3, 8}) {
		t.Errorf("%+v", s)
	}
	var of []Class
	for _, c := range s.Classes() {
		if c.Name == "x" {
			of = append(of, c)
		}
	}
	if len(of) != 2 || of[0] != (Class{notRefused, "x", Rate{1, 1}}) || of[1] != (Class{falseAllow, "x", Rate{1, 2}}) {
		t.Errorf("%+v", of)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := scoreLines(ended, set, judge, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestRecordedCalls checks that recorded calls, which have no label, are counted by outcome for each agent.
func TestRecordedCalls(t *testing.T) {
	t.Parallel()
	set, err := readLineSet("sessions", strings.NewReader(`{"session":"s","agent":"a","seq":1,"command":"allow"}
{"session":"s","agent":"a","seq":2,"command":"ask"}
{"session":"s","agent":"a","seq":3,"command":"try"}
{"session":"s","agent":"b","seq":1,"command":"deny"}
{"session":"s","agent":"a","seq":4,"command":"ask"}
`), nil)
	if err != nil || set.Bad > 0 {
		t.Fatalf("%v, %d bad", err, set.Bad)
	}
	judge := inProcess(func(command string) (Answer, error) {
		a := Answer{Outcome: Answered, Tried: command == "try", Reason: "why"}
		if command == "try" {
			command = "ask"
		}
		return a, a.Verdict.UnmarshalText([]byte(command))
	})
	s, err := scoreLines(t.Context(), set, judge, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []AgentScore{
		{Agent: "a", Calls: 4, Runs: 1, Tried: 1, Asks: 2, Reasons: []ReasonCount{{"why", 2}}},
		{Agent: "b", Calls: 1, Other: 1, Reasons: []ReasonCount{}},
	}
	if diff := cmp.Diff(want, s.Agents); diff != "" || s.FalseAllows.Of+s.NeedlessAsks.Of > 0 {
		t.Errorf("%+v (-want +got):\n%s", s, diff)
	}
}
