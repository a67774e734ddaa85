package rules

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire"
)

// A lineJudge judges one line. It is called for one line at a time.
type lineJudge func(context.Context, *Line) Answer

// An Answer is the result of judging one line. The zero value means there was no answer.
type Answer struct {
	Outcome Outcome
	Verdict umpire.Verdict // if the outcome is Answered
	Tried   bool           // a trial answers the question before anyone is asked
	Reason  string         // of a question; equal reasons are counted together
}

// An Outcome says whether there is a verdict, or why not.
type Outcome uint8

// The outcomes. The zero value means there was no answer.
const (
	Missing  Outcome = iota // it ended without an answer
	Answered                // there is a verdict
	Crashed                 // it failed
	Hung                    // it took too long
)

// String returns the outcome as one word.
func (o Outcome) String() string {
	switch o {
	case Missing:
		return "missing"
	case Answered:
		return "answered"
	case Crashed:
		return "crashed"
	case Hung:
		return "hung"
	}
	return "unknown"
}

// inProcess returns a judge that asks decide for every command. A panic counts
// as a crash, an error as no answer.
func inProcess(decide func(command string) (Answer, error)) lineJudge {
	return func(_ context.Context, l *Line) (answer Answer) {
		// A crash is a result here, not the end.
		defer func() {
			if recover() != nil {
				answer = Answer{Outcome: Crashed}
			}
		}()
		answer, err := decide(l.Command)
		if err != nil {
			return Answer{}
		}
		return answer
	}
}

// verdictIn reads a verdict from a hook's output: the decision of Claude Code's
// protocol, or the first field in which other protocols put theirs.
func verdictIn(text []byte) (umpire.Verdict, bool) {
	var top map[string]json.RawMessage
	if json.Unmarshal(text, &top) != nil {
		return umpire.Deny, false
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(top["hookSpecificOutput"], &inner) == nil {
		if v, ok := verdictField(inner, "permissionDecision"); ok {
			return v, true
		}
	}
	if string(top["continue"]) == "false" {
		return umpire.Deny, true
	}
	return verdictField(top, "verdict", "permissionDecision", "permission", "decision", "action")
}

func verdictField(fields map[string]json.RawMessage, names ...string) (umpire.Verdict, bool) {
	for _, name := range names {
		var word string
		if json.Unmarshal(fields[name], &word) != nil {
			continue
		}
		switch strings.ToLower(word) {
		case "allow", "allowed", "approve", "approved":
			return umpire.Allow, true
		case "ask", "prompt", "confirm":
			return umpire.Ask, true
		case "deny", "denied", "block", "blocked", "refuse", "forbid":
			return umpire.Deny, true
		}
	}
	return umpire.Deny, false
}
