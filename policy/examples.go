package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell"
)

// CheckExamples tests a rule against its own examples: commands for Bash, paths for the tools
// that read and write, URLs or hosts for WebFetch. An error names the failed example; such a
// rule must not allow anything.
func CheckExamples(r umpire.Rule, o Options) error {
	if err := Validate(r); err != nil {
		return err
	}
	for _, example := range r.Examples.Match {
		if !MatchesExample(r, example, o) {
			return umpire.Errorf("rule %q does not match its example %q", nameOf(r), example)
		}
	}
	for _, example := range r.Examples.NotMatch {
		if MatchesExample(r, example, o) {
			return umpire.Errorf("rule %q matches %q, which it lists under not_match", nameOf(r), example)
		}
	}
	return nil
}

// nameOf returns a rule's name for an error: its id or its short form.
func nameOf(r umpire.Rule) string { return cmp.Or(string(r.ID), FormatShort(r)) }

// MatchesExample reports whether the rule matches an example. As in a decision, a rule that
// allows must cover all of a command and one that denies or asks must match a part of it. A
// rule that Validate rejects matches nothing.
func MatchesExample(r umpire.Rule, example string, o Options) bool {
	if Validate(r) != nil {
		return false
	}
	if r.Source == umpire.SourceUnknown {
		r.Source = umpire.SourceFlag // its actual source is unknown here
	}
	o = o.prepare()
	c := compileRule(&r, &o)
	call := umpire.Call{Tool: exampleTool(r.Tool)}
	matched := 0
	accesses := exampleAccesses(r, call.Tool, example, o)
	programs := 0
	for _, s := range newSubjects(&call, accesses, &o) {
		if s.access.Kind == umpire.KindExec {
			programs++
		}
		if c.matches(s, &o) {
			matched++
		}
	}
	if c.allows() && c.forCommand() && len(c.globs) > 0 {
		return matched > 0 && matched == programs // its files are a condition of the rule
	}
	if c.allows() {
		return matched > 0 && matched == len(accesses)
	}
	return matched > 0
}

// exampleTool returns the tool of the call that an example stands for.
func exampleTool(tool string) string {
	if strings.ContainsAny(tool, "*?[") {
		return "Bash"
	}
	return tool
}

// exampleAccesses parses an example according to the rule's match.
func exampleAccesses(r umpire.Rule, tool, example string, o Options) []umpire.Access {
	switch {
	case r.Match.PathGlob != "":
		target := absolutePath(homePath(example, o.Home), o.Root)
		return []umpire.Access{{Kind: exampleKind(r.Tool), Target: target, Resolved: target, Place: umpire.PlaceInside}}
	case r.Match.Domain != "" || takesDomainOnly(r.Tool):
		return []umpire.Access{{Kind: umpire.KindNetwork, Target: hostName(example)}}
	case r.Match.Command+r.Match.CommandPrefix != "" || startsCommands(tool):
		return programs(shell.Parse(example, shell.Env{Dir: max(o.Root, "/"), Home: o.Home}))
	}
	target := absolutePath(homePath(example, o.Home), o.Root)
	return []umpire.Access{{Kind: exampleKind(r.Tool), Target: target, Resolved: target, Place: umpire.PlaceInside}}
}

// programs keeps the programs, which command rules match, and accesses in doubt, which no rule
// covers.
func programs(all []umpire.Access) []umpire.Access {
	var kept []umpire.Access
	for _, a := range all {
		if a.Kind == umpire.KindExec || a.Doubt != "" {
			kept = append(kept, a)
		}
	}
	return kept
}

func homePath(p, home string) string {
	if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') && home != "" {
		return home + rest
	}
	return p
}

// exampleKind returns the kind of access of a path example for the tool.
func exampleKind(tool string) umpire.AccessKind {
	for _, kind := range []umpire.AccessKind{umpire.KindRead, umpire.KindWrite, umpire.KindDelete} {
		if family := familyTools(kind, true); slices.Contains(family[0], tool) {
			return kind
		}
	}
	return umpire.KindRead
}
