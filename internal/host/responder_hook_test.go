package host

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
)

// A heldGate holds one call until the test lets it go on.
type heldGate struct {
	umpire.Gate

	decision umpire.Decision
	silent   bool // until the deadline
	left     bool
	batch    umpire.Batch
	answered umpire.CallState // the outcome of the waiting call, or ""
	byPerson bool
}

func (g *heldGate) admit(_ context.Context, s umpire.Submission, _ string, choose func(*umpire.Decision) umpire.Admission) (umpire.Started, error) {
	if g.left = choose(&g.decision) == umpire.AdmitLeave; g.left {
		return umpire.Started{Decision: g.decision}, nil
	}
	g.batch = umpire.Batch{ID: s.Batch, State: umpire.BatchWaiting, Calls: []umpire.BatchCall{{ID: s.Calls[0].ID, State: umpire.CallAsked}}}
	return umpire.Started{Batch: g.batch}, nil
}

func (g *heldGate) Await(ctx context.Context, _ umpire.SessionID, _ umpire.BatchID, _ time.Duration) (umpire.Batch, error) {
	if g.silent {
		<-ctx.Done()
	}
	if g.answered != "" {
		g.batch.State, g.batch.Calls[0].State = umpire.BatchRunning, g.answered
	}
	return g.batch, ctx.Err()
}

func (g *heldGate) Finish(_ context.Context, r umpire.Result) (umpire.Batch, error) {
	g.batch.State, g.batch.Calls[0].State, g.batch.Calls[0].Result = umpire.BatchFinished, umpire.CallDone, &r
	return g.batch, nil
}

// TestQuestionsGoWhereSomebodyLooks: nothing is held in an unwatched inbox, and an inbox that
// closes gives the question back to Claude Code, with a message.
func TestQuestionsGoWhereSomebodyLooks(t *testing.T) {
	t.Parallel()
	push := umpire.Decision{
		Verdict: umpire.Ask, Reason: "publishes commits", ReasonCode: umpire.CodeMode,
		Accesses: []umpire.Access{{Kind: umpire.KindExec, Program: "git", Verdict: umpire.Ask, Consequence: umpire.Outward}},
		Reasons:  []umpire.Reason{{Verdict: umpire.Ask, Code: umpire.CodeMode, Text: "publishes commits"}},
	}
	edit := umpire.Decision{
		Verdict: umpire.Ask, Reason: "changes a file", ReasonCode: umpire.CodeMode,
		Accesses: []umpire.Access{{Kind: umpire.KindWrite, Place: umpire.PlaceInside, Verdict: umpire.Ask, Consequence: umpire.Reversible}},
		Reasons:  []umpire.Reason{{Verdict: umpire.Ask, Code: umpire.CodeMode, Text: "changes a file"}},
	}
	for _, tt := range []struct {
		name     string
		decision umpire.Decision
		asked    policy.WhenAsked
		terminal bool
		looks    []bool // whether somebody looks, each time that it is asked
		left     bool
		want     string
	}{
		{"auto, nobody looks", push, policy.AskedAuto, true, []bool{false}, true, `"ask"`},
		{"auto, nobody looks, an edit", edit, policy.AskedAuto, true, []bool{false}, true, ""},
		{"native, somebody looks", push, policy.AskedNative, true, []bool{true}, true, `"ask"`},
		{"auto, the inbox closes", push, policy.AskedAuto, true, []bool{true, true, false}, true, `"systemMessage":"umpire's inbox was closed`},
		{"auto, the inbox closes, an edit", edit, policy.AskedAuto, true, []bool{true, false}, true, `"systemMessage":"umpire's inbox was closed`},
		{"auto, no terminal", push, policy.AskedAuto, false, []bool{false}, false, "Nobody answered"},
		{"hold, nobody looks", push, policy.AskedHold, true, []bool{false}, false, "Nobody answered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			looks := tt.looks
			g := &heldGate{decision: tt.decision, silent: strings.HasPrefix(tt.want, "Nobody")}
			attended := func(context.Context, umpire.SessionID) bool {
				now := looks[0]
				looks = looks[min(1, len(looks)-1):]
				return now
			}
			d := &Responder{Admit: g.admit, Hash: func(string, json.RawMessage) (string, error) { return "", nil },
				Config: func(string) (Config, error) {
					return Config{Settings: policy.Settings{Mode: umpire.ModeDefault, Hook: policy.HookSettings{WhenAsked: tt.asked}}, Decide: func(context.Context, string, policy.Query) umpire.Decision { return tt.decision }}, nil
				}}
			d.UseGate(g, attended)
			dir := t.TempDir()
			payload := fmt.Appendf(nil, `{"hook_event_name":"PreToolUse","session_id":"s","permission_mode":"default",`+
				`"tool_name":"Bash","tool_input":{"command":"x"},"tool_use_id":"t","cwd":%q}`, dir)
			question := Question{Agent: "claude", Payload: payload, Project: dir, Dir: dir, Attended: tt.terminal, Deadline: time.Minute}
			if g.silent { // there is no answer before this
				question.Deadline = 2 * time.Second
			}
			out, err := d.Answer(t.Context(), question)
			if err != nil || g.left != tt.left || !strings.Contains(string(out.Stdout), tt.want) || tt.want == "" && len(out.Stdout) > 0 {
				t.Errorf("left %t, %v, answer %s; want left %t and %s", g.left, err, out.Stdout, tt.left, tt.want)
			}
		})
	}
}

// Start lets the call run that was held.
func (g *heldGate) Start(context.Context, umpire.Start) (umpire.Started, error) {
	d := umpire.Decision{Verdict: umpire.Allow, Reason: "Approved", ReasonCode: umpire.CodeSession}
	return umpire.Started{Go: true, Decision: d, ByPerson: g.byPerson, Batch: g.batch}, nil
}

// TestApprovedByAPerson: umpire's plugin of opencode is told that a person approved the call, and nothing of
// the kind about what umpire lets run by itself. No other host is told.
func TestApprovedByAPerson(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		agent  string
		person bool
		want   string
	}{
		{"opencode", true, `{"decision":"allow","approved":true}` + "\n"},
		{"opencode", false, ""},
		{"amp", true, `{"decision":"allow","reason":"Approved"}` + "\n"},
	} {
		d := umpire.Decision{
			Verdict: umpire.Ask, Reason: "publishes commits", ReasonCode: umpire.CodeMode,
			Accesses: []umpire.Access{{Kind: umpire.KindExec, Program: "git", Verdict: umpire.Ask, Consequence: umpire.Outward}},
			Reasons:  []umpire.Reason{{Verdict: umpire.Ask, Code: umpire.CodeMode, Text: "publishes commits"}},
		}
		g := &heldGate{decision: d, byPerson: tt.person, answered: umpire.CallApproved}
		p := &Responder{Admit: g.admit, Hash: func(string, json.RawMessage) (string, error) { return "", nil },
			Config: func(string) (Config, error) {
				hook := policy.HookSettings{WhenAsked: policy.AskedHold}
				return Config{Settings: policy.Settings{Mode: umpire.ModeDefault, Hook: hook}}, nil
			}}
		p.UseGate(g, func(context.Context, umpire.SessionID) bool { return true })
		dir := t.TempDir()
		q := Question{Agent: tt.agent, Payload: Find(tt.agent).Sample("s", "c", dir, "git push"), Project: dir, Dir: dir, Deadline: time.Minute}
		out, err := p.Answer(t.Context(), q)
		if err != nil || string(out.Stdout) != tt.want {
			t.Errorf("%s, by a person %t: %v, %s; want %s", tt.agent, tt.person, err, out.Stdout, tt.want)
		}
	}
}

// TestTurnLine: hosts that can show a message at the end of a turn get the line, and the others nothing.
func TestTurnLine(t *testing.T) {
	t.Parallel()
	const payload = `{"session_id":"s","cwd":%q,"hook_event_name":%q%s}`
	for agent, want := range map[string]string{
		"claude": `{"systemMessage":"kept"}` + "\n", "codex": `{"systemMessage":"kept"}` + "\n",
		"gemini": `{"systemMessage":"kept"}` + "\n", "qwen": "",
	} {
		dir, event, more := t.TempDir(), "Stop", ""
		switch agent {
		case "codex":
			more = `,"turn_id":"t","model":"m"`
		case "gemini":
			event = "AfterAgent"
		}
		p := &Responder{
			TurnLine: func(*Question, *Event) string { return "kept" },
			Config:   func(string) (Config, error) { return Config{}, nil },
		}
		q := Question{Agent: agent, Payload: fmt.Appendf(nil, payload, dir, event, more), Project: dir, Dir: dir,
			Deadline: time.Minute}
		out, err := p.Answer(t.Context(), q)
		if err != nil || string(out.Stdout) != want || out.Exit != 0 {
			t.Errorf("%s: %v, exit %d, %s; want %s", agent, err, out.Exit, out.Stdout, want)
		}
	}
}
