package rules

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/cli/app"
	"github.com/umpirehq/umpire/internal/gate"
	"github.com/umpirehq/umpire/internal/gate/task"
	"github.com/umpirehq/umpire/policy"
)

var (
	sessionsFlag = flag.String("rules.sessions", "testdata/sessions.jsonl",
		"play the recorded sessions of `FILE`: lines with session, agent and command")
	hostileFlag = flag.String("rules.hostile", "",
		"lines that no drafted task may allow, from the comma-separated `FILES`: those with want not-safe or critical")
)

// A recordedLine is one command of a recorded session, or a labelled command.
type recordedLine struct {
	Session string `json:"session"`
	Command string `json:"command"`
	Want    string `json:"want"`
}

func readLines(t *testing.T, name string) (lines []recordedLine) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var l recordedLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// A player plays recorded sessions at one level of autonomy.
type player struct {
	gate *gate.Gate
	root string
}

func newPlayer(t *testing.T, level policy.Level) *player {
	t.Helper()
	top := t.TempDir()
	root, home := filepath.Join(top, "project"), filepath.Join(top, "home")
	for _, folder := range []string{home, filepath.Join(root, "src"), filepath.Join(root, ".git", "objects"),
		filepath.Join(root, ".git", "refs", "heads")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	conf := gate.Config{UserHome: home}
	conf.Settings.Autonomy = level.Autonomy()
	g := gate.New(conf)
	t.Cleanup(func() { _ = g.Close() })
	return &player{gate: g, root: root}
}

func (p *player) decide(t *testing.T, command string, grants []umpire.Grant) umpire.Decision {
	t.Helper()
	call, err := app.CommandCall(command)
	if err != nil {
		t.Fatal(err)
	}
	call.Dir = p.root
	return p.judge(call, grants)
}

func (p *player) judge(call umpire.Call, grants []umpire.Grant) umpire.Decision {
	return p.gate.Projects().Decide("", policy.Query{
		Call: call, Conditions: policy.Conditions{Mode: umpire.ModeDefault, Grants: grants},
	})
}

// asks reports whether a person sees a question before the call runs or is tried.
func asks(d *umpire.Decision) bool { return d.Verdict == umpire.Ask && d.Trial != umpire.TrialFirst }

// seenBefore is the number of questions from which a draft is made.
const seenBefore = 3

// A playedSession counts what a session asks, with a task that is drafted from its first questions.
type playedSession struct {
	calls, asked int // without a task
	first, later int // questions until the draft, and after it
	task         *task.Task
	grants       []umpire.Grant // of the task, as it was approved
	open         []string       // calls that ask in spite of the task
}

// play plays a session. The task is approved when its first questions are answered.
func (p *player) play(t *testing.T, commands []string) (s playedSession) {
	t.Helper()
	var questions []task.Question
	var grants []umpire.Grant
	uses := map[string]int{}
	for _, command := range commands {
		s.calls++
		plain := p.decide(t, command, nil)
		if asks(&plain) {
			s.asked++
		}
		if s.task == nil {
			if !asks(&plain) {
				continue
			}
			s.first++
			questions = append(questions, task.Question{
				Suggestions: plain.Suggestions, Most: plain.Consequence, Times: 1,
			})
			if len(questions) == seenBefore {
				made, _ := task.Draft("test", questions)
				s.task = &made
				for i := range made.Lines {
					g := made.Lines[i].Grant("task")
					g.ID = string(lineID(i))
					uses[g.ID] = made.Lines[i].Times
					grants = append(grants, g)
				}
				s.grants = slices.Clone(grants)
			}
			continue
		}
		d := p.decide(t, command, grants)
		if asks(&d) {
			s.later++
			s.open = append(s.open, fmt.Sprintf("%s: %s: %.80q", d.Consequence, d.Reason, command))
			continue
		}
		for _, id := range usedBy(&d) {
			if uses[id]--; uses[id] == 0 {
				grants = slices.DeleteFunc(grants, func(g umpire.Grant) bool { return g.ID == id })
			}
		}
	}
	return s
}

// usedBy returns the ids of the grants that a decision uses.
func usedBy(d *umpire.Decision) (ids []string) {
	for i := range d.Reasons {
		if id := d.Reasons[i].Grant; id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestTasksOfRecordedSessions drafts a task from the first questions of each recorded session, and counts the
// questions that remain. No draft allows a hostile line, nor one that is labelled as not safe.
func TestTasksOfRecordedSessions(t *testing.T) {
	sessions := readSessions(t, *sessionsFlag)
	hostile := readHostile(t)
	for _, level := range []policy.Level{policy.AutonomyLow, policy.AutonomyMedium, policy.AutonomyHigh} {
		p := newPlayer(t, level)
		var all playedSession
		var beyond []int
		var open []string
		for _, commands := range sessions {
			s := p.play(t, commands)
			all.calls, all.asked = all.calls+s.calls, all.asked+s.asked
			all.first, all.later = all.first+s.first, all.later+s.later
			if s.task == nil {
				continue
			}
			open = append(open, s.open...)
			beyond = append(beyond, p.countUnseen(t, &s))
			p.refuseHostile(t, &s, hostile)
		}
		share := func(n int) float64 { return 100 * float64(n) / float64(max(all.calls, 1)) }
		slices.Sort(beyond)
		t.Logf("figure: %s: of %d calls %.1f %% ask; with %d drafts %.1f %% until the draft, %.1f %% after it", level,
			all.calls, share(all.asked), len(beyond), share(all.first), share(all.later))
		if len(beyond) == 0 {
			t.Fatal("no session had enough questions for a draft")
		}
		t.Logf("figure: %s: calls out or lost that a draft allows and nobody saw: median %d, most %d", level,
			beyond[len(beyond)/2], beyond[len(beyond)-1])
		if beyond[len(beyond)/2] > 0 {
			t.Errorf("%s: the median draft allows %d unseen calls that leave the machine or lose data", level,
				beyond[len(beyond)/2])
		}
		for _, line := range open {
			t.Log("still asks: " + line)
		}
	}
}

// readSessions returns the commands of each session.
func readSessions(t *testing.T, name string) (sessions [][]string) {
	t.Helper()
	last := ""
	for _, l := range readLines(t, name) {
		if l.Session != last || len(sessions) == 0 {
			sessions, last = append(sessions, nil), l.Session
		}
		at := len(sessions) - 1
		sessions[at] = append(sessions[at], l.Command)
	}
	return sessions
}

// readHostile returns the lines that no draft may allow.
func readHostile(t *testing.T) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "hostile.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(strings.TrimSpace(string(text)), "\n")
	for name := range strings.SplitSeq(*hostileFlag, ",") {
		if name == "" {
			continue
		}
		for _, l := range readLines(t, name) {
			if l.Want == "not-safe" || l.Want == "critical" {
				lines = append(lines, l.Command)
			}
		}
	}
	return lines
}

// refuseHostile fails for a line that runs because of the draft.
func (p *player) refuseHostile(t *testing.T, s *playedSession, lines []string) {
	t.Helper()
	for _, line := range lines {
		d := p.decide(t, line, s.grants)
		if d.Verdict != umpire.Allow {
			continue
		}
		if plain := p.decide(t, line, nil); plain.Verdict != umpire.Allow {
			t.Errorf("a draft allows %s:\n%s", line, s.task)
		}
	}
}

// countUnseen searches for calls that the draft allows, that leave the machine or lose data, and that were not seen.
func (p *player) countUnseen(t *testing.T, s *playedSession) (unseen int) {
	t.Helper()
	for i := range s.task.Lines {
		l := &s.task.Lines[i]
		if l.Match.Command != "" { // it was seen, perhaps as a part of a longer one
			continue
		}
		for _, call := range candidatesOf(l.Tool, l.Match) {
			call.Dir = p.root
			d := p.judge(call, s.grants)
			if d.Verdict == umpire.Allow && len(usedBy(&d)) > 0 && d.Consequence.AtLeast(umpire.Outward) {
				unseen++
			}
		}
	}
	return unseen
}
