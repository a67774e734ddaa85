package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// A part is one simple command of a line: its programs and their effects.
type part struct {
	programs    []*umpire.Access
	deletes     bool // removes a folder with everything in it, or files
	deletesAny  bool // whichever files a pattern matches, in a tree
	reaches     bool // names a host
	consequence umpire.Consequence
}

func (s *suggester) part(number int) part {
	p := part{consequence: umpire.Harmless}
	for i := range s.decision.Accesses {
		a := &s.decision.Accesses[i]
		if a.Part != number {
			continue
		}
		if a.Kind == umpire.KindExec {
			p.programs = append(p.programs, a)
		}
		p.deletes = p.deletes || a.Kind == umpire.KindDelete
		p.deletesAny = p.deletesAny || a.Kind == umpire.KindDelete && a.Tree && a.Glob
		p.reaches = p.reaches || a.Kind == umpire.KindNetwork
		p.consequence = umpire.WorseConsequence(p.consequence, a.Consequence)
	}
	return p
}

// commandRules returns the rules for the programs of a part: for those that need one, or for
// all if none needs one by itself.
func (s *suggester) commandRules(number int, width umpire.Width) []umpire.Suggestion {
	p := s.part(number)
	needed := slices.DeleteFunc(slices.Clone(p.programs), isUnremarkable)
	if len(needed) == 0 {
		needed = p.programs
	}
	var rules []umpire.Suggestion
	own := false
	for _, a := range needed {
		r, ok := commandRule(a, &p, width)
		own = own || ok
		if !ok && width != umpire.WidthExact {
			r, ok = commandRule(a, &p, umpire.WidthExact)
		}
		if !ok {
			return nil
		}
		rules = append(rules, r)
	}
	if !own {
		return nil
	}
	return rules
}

func commandRule(a *umpire.Access, p *part, width umpire.Width) (umpire.Suggestion, bool) {
	r := umpire.Suggestion{Action: umpire.Allow, Tool: "Bash", Scope: umpire.ScopeSession}
	switch {
	case !mayStand(a, p):
		return r, false
	case width == umpire.WidthExact:
		r.Match.Command = joinLine(a.Line)
	case width == umpire.WidthSubcommand:
		n := subcommandWords(a, p)
		if n == 0 {
			return r, false
		}
		r.Match.CommandPrefix = JoinPrefix(a.Words[:n])
		if n < 2 || !slices.Contains(installers[a.Words[0]], a.Words[1]) {
			r.Scope = umpire.ScopeProject
		}
		r.Cap = umpire.Cap{MaxConsequence: p.consequence, Options: umpire.OptionsShown}
	default:
		return r, false
	}
	return r, r.Match != umpire.Match{} && Validate(r.Rule()) == nil
}

// mayStand reports whether a rule may allow the command permanently. It may not for programs
// that run any given code, for deleting the trees that a pattern matches, and if an option makes a
// command other than a deletion dangerous, as --force does for a push: those are approved once or for a session.
func mayStand(a *umpire.Access, p *part) bool {
	forced := !p.deletes && len(a.Extras) > 0 && a.Risk.AtLeast(umpire.High) && a.Consequence.AtLeast(umpire.Outward)
	return a.Base > 0 && len(a.Line) > 0 && !p.deletesAny && !forced && !isInterpreter(a.Program)
}

// widenable are the commands with a useful wider rule: by program, the subcommands, or nil for
// a program without subcommands. The table only offers a rule; its cap limits the rule's reach.
var widenable = map[string][]string{
	"git":   {"add", "commit", "fetch", "pull", "push", "stash", "switch", "branch", "tag", "merge", "mv"},
	"go":    {"build", "test", "vet", "mod", "fmt", "list", "doc"},
	"cargo": {"build", "test", "check", "clippy", "fmt", "doc"},
	"npm":   {"test", "run"},
	"pnpm":  {"test", "run"},
	"yarn":  {"test", "run", "lint", "build"},
	"mkdir": nil, "touch": nil, "cp": nil, "mv": nil, "ln": nil, "tee": nil, "chmod": nil, "sed": nil, "patch": nil,
	"gofmt": nil, "goimports": nil, "gofumpt": nil, "prettier": nil, "black": nil, "isort": nil,
	"ruff":    {"format", "check"},
	"rustfmt": nil, "clang-format": nil, "shfmt": nil, "terraform": {"fmt"}, "eslint": nil, "tsc": nil, "pytest": nil,
}

// installers are the commands that fetch any package and run its code. A wider rule for them lasts for a session.
var installers = map[string][]string{
	"cargo": {"add"}, "npm": {"install"}, "pip": {"install"}, "pip3": {"install"}, "pnpm": {"add", "install"},
	"uv": {"add"}, "yarn": {"add"},
}

// scriptRunners take the name of a script after `run`: that name belongs to the subcommand.
var scriptRunners = []string{"npm", "pnpm", "yarn"}

// subcommandWords returns the number of words in a sensible wider rule, or 0. They name the
// program and its subcommand, the options that change its effects, and for commands that send
// data the first operand, the destination.
func subcommandWords(a *umpire.Access, p *part) int {
	subcommands, ok := widenable[a.Words[0]]
	if installs := installers[a.Words[0]]; installs != nil {
		subcommands, ok = slices.Concat(subcommands, installs), true
	}
	if !ok || p.deletes || p.reaches || p.consequence == umpire.Lost || a.Table == "" {
		return 0
	}
	n := 1
	if subcommands != nil {
		if len(a.Words) < 2 || !slices.Contains(subcommands, a.Words[1]) {
			return 0
		}
		n = max(a.Base, 2)
	}
	if n == 2 && a.Words[1] == "run" && slices.Contains(scriptRunners, a.Words[0]) {
		n++
	}
	for n < len(a.Words) && slices.Contains(a.Extras, a.Words[n]) {
		n++
	}
	for _, option := range a.Extras {
		if n > len(a.Words) || !slices.Contains(a.Words[:n], option) {
			return 0
		}
	}
	if p.consequence == umpire.Outward {
		n++
	}
	if n > len(a.Words) || n == len(a.Words) && len(a.Line) == n ||
		n > 1 && p.consequence == umpire.Outward && strings.HasPrefix(a.Words[n-1], "-") {
		return 0
	}
	return n
}
