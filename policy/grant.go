package policy

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// Exact returns the canonical form of a call for grants: the command of a Bash call without
// surrounding blanks, and the input of any other call with sorted keys. If the input cannot be
// read it returns "", which no grant can cover.
func Exact(call umpire.Call) string {
	if call.Tool == "Bash" {
		return Command(call.Input)
	}
	text, err := strictjson.Canonical(call.Input)
	if err != nil || len(call.Input) == 0 || text[0] != '{' {
		return ""
	}
	return string(text)
}

// Command returns the command in the input of a Bash call without surrounding blanks, or "" if it cannot be read.
func Command(input json.RawMessage) string { return strings.TrimSpace(commandOf(input)) }

// commandOf returns the command in a call's input. It matches field names exactly, like the
// facts: if the two disagreed, a grant for one command would cover another. It returns "" for
// an input with two commands.
func commandOf(input json.RawMessage) string {
	in, err := readInput(input)
	if err != nil {
		return ""
	}
	_, long := in["command"]
	if _, short := in["cmd"]; long && short {
		return ""
	}
	line, err := textOf(in, "command", "cmd")
	if err != nil {
		return ""
	}
	return line
}

// A pass is a grant in force for this call. A tool-wide pass covers the tool's calls, an exact
// one this very call, and one with a rule the same accesses as an allow rule.
type pass struct {
	grant *umpire.Grant
	exact bool
	rule  *compiled
}

// passesFor returns the grants that apply to the query.
func passesFor(q *Query, o *Options) []pass {
	exact, known := "", false
	var all []pass
	for i := range q.Grants {
		g := &q.Grants[i]
		if !grantInForce(g, q) || g.Task != "" && g.Task != q.task {
			continue
		}
		switch {
		case g.Match != (umpire.Match{}) || g.Standing:
			if rule := grantRule(g, o); rule != nil {
				all = append(all, pass{grant: g, rule: rule})
			}
		case g.Tool != q.Call.Tool:
		case g.Exact == "":
			all = append(all, pass{grant: g})
		default:
			if !known {
				if exact, known = Exact(q.Call), true; q.ShortForm != nil {
					exact = q.ShortForm(exact)
				}
			}
			if g.Exact == exact {
				all = append(all, pass{grant: g, exact: true})
			}
		}
	}
	return all
}

// grantInForce reports whether a grant is in force. Remembered answers apply only in auto mode,
// and one about the network alone allows nothing by itself.
func grantInForce(g *umpire.Grant, q *Query) bool {
	return g.Tool != "" && !g.Network && (!g.Remembered || q.Mode == umpire.ModeAuto) && !hasExpired(g.ExpiresAt, q.Now)
}

func hasExpired(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// grantRule returns the allow rule for a grant with a pattern, or nil if the pattern is
// invalid, because such a grant covers nothing.
func grantRule(g *umpire.Grant, o *Options) *compiled {
	r := umpire.Rule{Action: umpire.Allow, Tool: g.Tool, Match: g.Match, Cap: g.Cap, Source: umpire.SourceSession}
	if g.Exact != "" || Validate(r) != nil {
		return nil
	}
	return compileRule(&r, o)
}

// covers reports whether the pass covers an access. Only the exact call covers doubt. A path
// outside the project needs the exact call, a path pattern, or a once grant: approving a whole
// tool does not approve the whole disk.
func (p *pass) covers(j *judge, outside bool) bool {
	switch {
	case p.exact:
		return true
	case j.subject.access.Doubt != "" || !p.namesSecrets(j):
		return false
	case p.rule != nil && len(p.rule.globs) > 0:
		return j.coversSearch(p.rule) && (p.rule.matches(j.subject, &j.policy.opts) || p.coversReading(j))
	case p.rule != nil:
		return !outside && j.ruleCovers(p.rule)
	}
	return !outside || p.grant.Scope == umpire.ScopeOnce && !p.grant.Remembered
}

// namesSecrets reports whether the pass covers the secrets that the access reads, if any:
// approving a folder or a tool does not approve the keys in it.
func (p *pass) namesSecrets(j *judge) bool {
	if p.rule == nil && p.grant.Scope == umpire.ScopeOnce && !p.grant.Remembered {
		return true
	}
	for _, c := range j.hits.rows[rowAskRule] {
		if c.secret && !(p.rule != nil && p.rule.spellsOut(c)) {
			return false
		}
	}
	return true
}

// coversReading reports whether the pass permits writing the file, which implies reading it. This
// applies to the file's place; approving a write does not answer an ask rule about reading.
func (p *pass) coversReading(j *judge) bool {
	a := j.subject.access
	return a.Kind == umpire.KindRead && canBeAllowed(a) && len(j.asking()) == 0 &&
		toolJudges(p.rule.rule.Tool, "", umpire.KindWrite, true) && p.rule.matchesPath(j.subject, &j.policy.opts)
}

// reason returns the reason of a grant that settles the access.
func (p *pass) reason() umpire.Reason {
	r := umpire.Reason{Row: rowGrant, Verdict: umpire.Allow, Grant: p.grant.ID}
	switch {
	case p.grant.Task != "":
		r.Text, r.Code = "Allowed for this task", umpire.CodeSession
	case p.grant.Remembered:
		r.Text, r.Code = "Allowed before, remembered for auto mode", umpire.CodeRemembered
	case p.grant.Scope == umpire.ScopeOnce:
		r.Text, r.Code = "Allowed once by user", umpire.CodeOnce
	case p.grant.Scope == umpire.ScopeSession:
		r.Text, r.Code = "Allowed for this session", umpire.CodeSession
	case p.grant.Scope == umpire.ScopeGlobal:
		r.Text, r.Code = "Allowed before for every project", umpire.CodeRemembered
	default:
		r.Text, r.Code = "Allowed before for this project", umpire.CodeRemembered
	}
	return r
}

// lifts reports whether the grant comes before rows 7, 9 and 14: a person gave it once or for
// this session, for just this call. A task's approval never does.
func (p *pass) lifts() bool {
	return !p.grant.Remembered && !p.grant.Standing && p.grant.Task == "" &&
		(p.grant.Scope == umpire.ScopeOnce || p.grant.Scope == umpire.ScopeSession)
}
