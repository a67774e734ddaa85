package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/gate"
)

// A benchAnswer is what became of one line.
type benchAnswer struct {
	outcome benchOutcome
	verdict umpire.Verdict // when it is answered
}

// A benchOutcome says whether there is a verdict.
type benchOutcome uint8

// The zero value is no answer.
const (
	benchMissing  benchOutcome = iota // it ended without an answer
	benchAnswered                     // there is a verdict
	benchCrashed                      // it failed
	benchHung                         // it took too long
)

// A benchJudge judges one line.
type benchJudge func(context.Context, *benchLine) benchAnswer

// benchFormats are the ways to ask a hook; the first is the default.
var benchFormats = []string{formatClaude, formatUmpire, formatLines}

const (
	formatClaude = "claude"
	formatUmpire = "umpire"
	formatLines  = "jsonl"
)

func isBenchFormat(name string) bool { return slices.Contains(benchFormats, name) }

// newBenchJudge returns the judge that the flags name, and what to call when it
// is not needed any more.
func (a *app) newBenchJudge(f *benchFlags) (benchJudge, func(), error) {
	dir, home, done := f.cwd, a.userHome(), func() {}
	switch {
	case dir != "":
		dir = a.absolute(dir)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, nil, usage("", "--cwd %s: no such folder", dir)
		}
	case f.withRules:
		dir = a.dir
	default:
		var err error
		if dir, home, done, err = benchPlace(); err != nil {
			return nil, nil, err
		}
	}
	if f.hook != "" {
		h := &benchHook{command: f.hook, format: orText(f.format, formatClaude), dir: dir, stderr: a.stderr}
		return h.judge(), func() { h.stop(); done() }, nil
	}
	config, mode := gate.Config{UserHome: home}, umpire.ModeDefault
	if f.withRules {
		conf, err := a.config(dir)
		if err != nil {
			return nil, nil, err
		}
		config, mode = conf.gate(a), conf.mode
	}
	g := gate.New(config)
	return benchGate(g, dir, mode), func() { _ = g.Close(); done() }, nil
}

// benchGate judges in this process.
func benchGate(g *gate.Gate, dir string, mode umpire.Mode) benchJudge {
	return func(_ context.Context, l *benchLine) (answer benchAnswer) {
		// A crash is a result here, not the end.
		defer func() {
			if recover() != nil {
				answer = benchAnswer{outcome: benchCrashed}
			}
		}()
		call, err := commandCall(l.Command)
		if err != nil {
			return benchAnswer{}
		}
		call.Dir = dir
		return benchAnswer{benchAnswered, g.Check(gate.Request{Call: call, Mode: mode}).Verdict}
	}
}

// benchVerdict reads a verdict from what a hook wrote: the decision of Claude
// Code's protocol, or the first of the fields in which others put theirs.
func benchVerdict(text []byte) (umpire.Verdict, bool) {
	var top map[string]json.RawMessage
	if json.Unmarshal(text, &top) != nil {
		return umpire.Deny, false
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(top["hookSpecificOutput"], &inner) == nil {
		if v, ok := verdictIn(inner, "permissionDecision"); ok {
			return v, true
		}
	}
	if string(top["continue"]) == "false" {
		return umpire.Deny, true
	}
	return verdictIn(top, "verdict", "permissionDecision", "permission", "decision", "action")
}

func verdictIn(fields map[string]json.RawMessage, names ...string) (umpire.Verdict, bool) {
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
