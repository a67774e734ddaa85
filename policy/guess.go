package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
	"github.com/umpirehq/umpire/shell"
)

// What a tool of an MCP server does is not known. But one that is handed a command line
// or a path will hardly do something else with it, so that what nobody may do is refused
// there as well: destroying the system, reading a forbidden file, what a deny rule names.
// And what is asked about whichever tool does it asks here, too, although a rule allows
// the tool: a control file, which it may be about to change, and a file of secrets. A
// guess permits nothing.

// guessedPaths are the further fields in which tools of servers name paths.
var guessedPaths = []string{
	"file", "filepath", "filename", "file_name", "absolute_path", "relative_path", "target_file", "uri",
	"source", "destination", "from", "to", "old_path", "new_path", "dest", "dir", "directory", "folder",
}

// guessAccesses are what the input of such a tool seems to mean. What it cannot mean is no
// error: the tool may have other words than ours.
func guessAccesses(in strictjson.Object, env shell.Env) []umpire.Access {
	var all []umpire.Access
	for _, name := range []string{"command", "cmd"} {
		if line := guessedCommand(in, name); line != "" {
			accesses, guessed := shell.ParseCode(line, env)
			all = append(append(all, accesses...), guessed...)
		}
	}
	paths, err := pathsOf(in)
	if err != nil {
		paths = nil
	}
	for _, name := range guessedPaths {
		if text, err := textOf(in, name); err == nil && text != "" {
			paths = append(paths, strings.TrimPrefix(text, "file://"))
		}
	}
	for _, p := range paths {
		if target := fromDir(p, env); target != "" {
			all = append(all, umpire.Access{
				Kind: umpire.KindRead, Target: target, Risk: umpire.Low, Reason: "a path that a tool is given",
			})
		}
	}
	return all
}

// guessedCommand is the command line that a field holds, or the words of one.
func guessedCommand(in strictjson.Object, name string) string {
	if line, err := textOf(in, name); err == nil {
		return line
	}
	var words []string
	if json.Unmarshal(in[name], &words) != nil {
		return ""
	}
	for i, word := range words {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// guessed are the rows that speak about a guess. Control are the rules by which the
// same path is a control file for who would write it.
func (j *judge) guessed(control []*compiled) []umpire.Reason {
	if reasons := append(j.hardStop(), j.denyRuleByMatch()...); len(reasons) > 0 {
		return reasons
	}
	if len(control) > 0 &&
		len(j.granted(func(p *pass) bool { return p.exact && p.lifts() && p.grant.Scope == umpire.ScopeOnce })) == 0 {
		return j.asks(reasonsOf(control, rowControl, umpire.Ask))
	}
	var secrets []*compiled
	for _, c := range j.hits.rows[rowAskRule] {
		if c.secret && !j.secretAllowed(c) {
			secrets = append(secrets, c)
		}
	}
	if len(secrets) > 0 && len(j.granted(func(p *pass) bool { return p.exact && p.lifts() })) == 0 {
		return j.asks(reasonsOf(secrets, rowAskRule, umpire.Ask))
	}
	return nil
}

func (j *judge) asks(reasons []umpire.Reason) []umpire.Reason {
	refuseUnasked(j.given, &reasons[0])
	return reasons
}

// denyRuleByMatch: a rule without a match is about its tool, and this is another one.
func (j *judge) denyRuleByMatch() []umpire.Reason {
	rules := slices.DeleteFunc(
		slices.Clone(j.hits.rows[rowDenyRule]), func(c *compiled) bool { return c.rule.Match == umpire.Match{} },
	)
	return reasonsOf(rules, rowDenyRule, umpire.Deny)
}
