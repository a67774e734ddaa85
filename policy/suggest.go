package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// maxSuggestions keeps an approval card short.
const maxSuggestions = 8

// suggestions returns rules that would settle the same question next time,
// narrowest first. Doubt, control files and people's ask rules get none: no allow
// rule settles those.
func suggestions(q *Query, d *umpire.Decision, root string) []umpire.Suggestion {
	var narrow, broad []umpire.Suggestion
	parts := partsOf(d.Accesses)
	row := -1
	for _, r := range d.Reasons {
		if r.Access < 0 || r.Access == row {
			continue
		}
		row = r.Access
		a := &d.Accesses[r.Access]
		if r.Verdict != umpire.Ask || a.Doubt != "" || r.Row != rowExternal && r.Row != rowMode && !asksForSecret(&r, a) {
			continue
		}
		n, b := suggest(q, a, r.Row, parts[a.Part], root)
		narrow, broad = append(narrow, n...), append(broad, b...)
	}
	return usable(append(narrow, broad...))
}

// asksForSecret reports whether a rule that names just this path would settle the
// question: a wildcard or a tree gets none, since its rule would name nothing.
func asksForSecret(r *umpire.Reason, a *umpire.Access) bool {
	return r.Row == rowAskRule && r.Rule != nil && r.Rule.Source == umpire.SourceBuiltin && !a.Glob && !a.Tree
}

// usable drops doubles and what would not be a valid rule.
func usable(all []umpire.Suggestion) []umpire.Suggestion {
	var kept []umpire.Suggestion
	for _, s := range all {
		r := umpire.Rule{Action: s.Action, Tool: s.Tool, Match: s.Match}
		if len(kept) < maxSuggestions && !slices.Contains(kept, s) && Validate(r) == nil {
			kept = append(kept, s)
		}
	}
	return kept
}

// suggest returns the narrow rules for one access, and the broader ones.
func suggest(q *Query, a *umpire.Access, row int, p partUse, root string) (narrow, broad []umpire.Suggestion) {
	switch {
	case a.Kind == umpire.KindExec:
		return suggestCommand(a, p)
	case a.Paths():
		return suggestPath(q, a, row, p, root)
	case a.Kind == umpire.KindNetwork:
		host := hostName(a.Target)
		return []umpire.Suggestion{allowRule("WebFetch", umpire.Match{Domain: host}, umpire.ScopeSession)}, nil
	case a.Kind == umpire.KindInvoke:
		return []umpire.Suggestion{allowRule(q.Call.Tool, umpire.Match{}, umpire.ScopeSession)}, nil
	}
	return nil, nil
}

func allowRule(tool string, m umpire.Match, scope umpire.Scope) umpire.Suggestion {
	return umpire.Suggestion{Action: umpire.Allow, Tool: tool, Match: m, Scope: scope}
}

// suggestCommand offers the exact words, and the program with its subcommand
// where that is a sensible unit.
func suggestCommand(a *umpire.Access, p partUse) (narrow, broad []umpire.Suggestion) {
	if len(a.Words) == 0 {
		return nil, nil
	}
	prefix := func(n int, scope umpire.Scope) umpire.Suggestion {
		return allowRule("Bash", umpire.Match{CommandPrefix: JoinPrefix(a.Words[:n])}, scope)
	}
	narrow = append(narrow, prefix(len(a.Words), umpire.ScopeSession))
	if n := subcommandWords(a.Words); n > 0 && n < len(a.Words) && !a.Risk.AtLeast(umpire.High) && !p.deletes {
		broad = append(broad, prefix(n, umpire.ScopeProject))
	}
	return narrow, broad
}

// A partUse says what one part of a command line does.
type partUse struct{ runs, deletes bool }

func partsOf(accesses []umpire.Access) map[int]partUse {
	parts := map[int]partUse{}
	for i := range accesses {
		p := parts[accesses[i].Part]
		p.runs = p.runs || accesses[i].Kind == umpire.KindExec
		p.deletes = p.deletes || accesses[i].Kind == umpire.KindDelete
		parts[accesses[i].Part] = p
	}
	return parts
}

// subcommands are the ones that name a piece of work by themselves. Those that
// run what follows, like `go run`, are not among them.
var subcommands = map[string][]string{
	"git":    {"add", "commit", "status", "log", "diff", "show", "fetch", "pull", "stash", "switch", "branch", "tag", "merge"},
	"go":     {"build", "test", "vet", "mod", "fmt", "list", "doc", "get"},
	"cargo":  {"build", "test", "check", "clippy", "fmt", "doc", "add"},
	"npm":    {"test", "install", "ci", "run", "ls", "outdated", "audit"},
	"pnpm":   {"test", "install", "run", "add", "ls", "outdated"},
	"yarn":   {"test", "install", "run", "add", "lint", "build"},
	"pip":    {"install", "list", "show", "freeze"},
	"pip3":   {"install", "list", "show", "freeze"},
	"docker": {"build", "ps", "images", "logs", "pull"},
	"gh":     {"pr", "issue", "repo", "release", "run"},
	"dotnet": {"build", "test", "restore", "format"},
	"mvn":    {"test", "compile", "package", "verify"},
	"gradle": {"test", "build", "check"},
}

// scriptRunners take the name of a script after `run`: that name is part of
// the unit.
var scriptRunners = []string{"npm", "pnpm", "yarn"}

// subcommandWords returns how many words make a sensible broader prefix; 0 is none.
func subcommandWords(words []string) int {
	if len(words) < 2 || !slices.Contains(subcommands[words[0]], words[1]) {
		return 0
	}
	if words[1] != "run" || !slices.Contains(scriptRunners, words[0]) {
		return 2
	}
	if len(words) > 2 && !strings.HasPrefix(words[2], "-") {
		return 3
	}
	return 0
}

// suggestPath offers the exact path, and the folder when it lies outside the
// project. What a program touches within the project is settled by a rule for
// the command, except for a redirection.
func suggestPath(q *Query, a *umpire.Access, row int, p partUse, root string) (narrow, broad []umpire.Suggestion) {
	if a.Target == "" || row == rowMode && !a.Redirect && p.runs && startsCommands(q.Call.Tool) {
		return nil, nil
	}
	tool := pathTool(q, a)
	narrow = append(narrow, allowRule(tool, umpire.Match{PathGlob: PathPattern(a, root)}, umpire.ScopeSession))
	if folder := path.Dir(path.Clean(a.Target)); row == rowExternal && a.Kind == umpire.KindRead && strings.Count(folder, "/") > 0 && folder != "/" && !a.Glob {
		broad = append(broad, allowRule(tool, umpire.Match{PathGlob: escapeGlob(folder) + "/**"}, umpire.ScopeProject))
	}
	return narrow, broad
}

// pathTool names the tool that the rule is about: the call's own if it is one
// for paths, else the plainest one of the kind.
func pathTool(q *Query, a *umpire.Access) string {
	family := familyTools(a.Kind, true)
	if slices.Contains(family[0], q.Call.Tool) {
		return q.Call.Tool
	}
	switch a.Kind {
	case umpire.KindRead:
		return "Read"
	case umpire.KindDelete:
		return "Delete"
	case umpire.KindWrite, umpire.KindExec, umpire.KindNetwork, umpire.KindInvoke, umpire.KindUnknown:
		return "Edit"
	}
	return "Edit"
}

// PathPattern writes the path of an access as a pattern that matches only it, or all that a
// target with wildcards can be; within the project it is relative.
func PathPattern(a *umpire.Access, root string) string {
	target := path.Clean(a.Target)
	if a.Glob {
		segs := segments(target, false)
		names := []string{""}
		for _, s := range segs[:literals(segs)] {
			names = append(names, s.text)
		}
		target = strings.Join(names, "/")
	}
	pattern := escapeGlob(target)
	if rest, ok := strings.CutPrefix(target, root+"/"); ok && root != "" && rest != "" {
		pattern = escapeGlob(rest)
	}
	if a.Glob || a.Tree {
		pattern += "/**"
	}
	return pattern
}
