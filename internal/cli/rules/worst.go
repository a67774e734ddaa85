package rules

import (
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/policy"
	"github.com/umpirehq/umpire/shell"
)

// A worstCall is a call that a rule allows, and its decision.
type worstCall struct {
	call     umpire.Call
	decision umpire.Decision
}

// findWorst returns the worst call that a rule allows, or nil if the search finds none. decide decides a call with the
// rule, and reports whether it is the rule that allows it.
func findWorst(
	tool string, m umpire.Match, decide func(umpire.Call) (d umpire.Decision, byRule bool, err error),
) (worst *worstCall, err error) {
	for _, call := range candidatesOf(tool, m) {
		d, byRule, err := decide(call)
		if err != nil {
			return nil, err
		}
		if d.Verdict == umpire.Allow && byRule && (worst == nil || isWorse(&d, &worst.decision)) {
			worst = &worstCall{call, d}
		}
	}
	return worst, nil
}

func isWorse(d, than *umpire.Decision) bool {
	return d.Consequence < than.Consequence || d.Consequence == than.Consequence && d.Risk < than.Risk
}

// maxCandidates bounds the search for the worst call of a rule.
const maxCandidates = 2000

// candidatesOf returns calls that a rule might allow: its own command with each option that the tables know, or a call
// of each tool that its path or host concerns.
func candidatesOf(tool string, m umpire.Match) (calls []umpire.Call) {
	add := func(of string, input map[string]string) {
		data, err := json.Marshal(input)
		if err == nil && len(calls) < maxCandidates {
			calls = append(calls, umpire.Call{ID: "candidate", Tool: of, Input: data})
		}
	}
	switch {
	case m.Command != "":
		add("Bash", map[string]string{"command": m.Command})
	case m.CommandPrefix != "":
		for _, command := range commandsOf(m.CommandPrefix) {
			add("Bash", map[string]string{"command": command})
		}
	case m.PathGlob != "":
		file := strings.NewReplacer("**", "x", "*", "x", "?", "x").Replace(m.PathGlob)
		add(tool, map[string]string{"file_path": file, "path": file, "pattern": "x", "content": "", "old_string": "a",
			"new_string": "b"})
		add("Read", map[string]string{"file_path": file})
		add("Write", map[string]string{"file_path": file, "content": ""})
		add("Bash", map[string]string{"command": "rm -f " + shell.Quote(file)})
	case m.Domain != "":
		host := strings.TrimPrefix(m.Domain, "*.")
		add("WebFetch", map[string]string{"url": "https://" + host + "/", "prompt": "x"})
		add("Bash", map[string]string{"command": "curl -d x https://" + host + "/"})
	default:
		add(tool, map[string]string{})
	}
	return calls
}

// commandsOf returns a command with each option that the tables know, alone and with a value and an operand.
func commandsOf(prefix string) (lines []string) {
	words, err := policy.SplitPrefix(prefix)
	if err != nil || len(words) == 0 {
		return nil
	}
	lines = []string{prefix, prefix + " x", prefix + " -- x"}
	known, ok := shell.Describe(words[0], nil)
	for _, word := range words[1:] {
		for i := range known.Subs {
			if ok && known.Subs[i].Names[0] == word {
				lines = appendOptions(lines, prefix, known.Options)
				known = known.Subs[i]
				break
			}
		}
	}
	return appendOptions(lines, prefix, known.Options)
}

func appendOptions(lines []string, prefix string, options []shell.Option) []string {
	for i := range options {
		for _, name := range options[i].Names {
			lines = append(lines, prefix+" "+name, prefix+" "+name+" x", prefix+" "+name+"=x", prefix+" "+name+" x y")
		}
	}
	return lines
}
