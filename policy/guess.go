package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/shell"
)

// The effects of an MCP server's tool are unknown. But a tool that receives a command line or a
// path will most likely use it as such. So refusals apply to it too: destroying the system,
// reading a forbidden file, or matching a deny rule. Questions that apply to every tool also
// apply here, even if a rule allows the tool: about control files, which the tool may change,
// and files of secrets. A guess never permits anything.

// guessedPaths are further fields in which servers' tools name paths.
var guessedPaths = []string{
	"file", "filepath", "filename", "file_name", "absolute_path", "relative_path", "target_file", "uri",
	"source", "destination", "from", "to", "old_path", "new_path", "dest", "dir", "directory", "folder",
}

// guessAccesses returns the probable accesses of such a tool's input. Malformed fields are not
// errors, because the tool may use our field names differently.
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

// guessedCommand returns the command line in a field, given as text or as a list of words.
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

// guessed returns the reasons of the rows that apply to a guess. control are the rules that
// make the same path a control file if it is written.
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

// denyRuleByMatch leaves out rules without a match, because those only apply to their own tool.
func (j *judge) denyRuleByMatch() []umpire.Reason {
	rules := slices.DeleteFunc(
		slices.Clone(j.hits.rows[rowDenyRule]), func(c *compiled) bool { return c.rule.Match == umpire.Match{} },
	)
	return reasonsOf(rules, rowDenyRule, umpire.Deny)
}
