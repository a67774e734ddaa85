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
		if !isInstalling(a.Words) {
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

// widenable are programs and their subcommands with a useful wider rule, and widenableWhole the programs without
// subcommands. The tables only offer a rule; its cap limits the rule's reach.
const (
	widenable = "git add commit fetch pull push stash switch branch tag merge mv, " +
		"go build test vet mod fmt list doc, cargo build test check clippy fmt doc, npm test run install, " +
		"pnpm test run add install, yarn test run lint build add, pip install, pip3 install, uv add, " +
		"ruff format check, terraform fmt"
	widenableWhole = "mkdir touch cp mv ln tee chmod sed patch gofmt goimports gofumpt prettier black isort rustfmt " +
		"clang-format shfmt eslint tsc pytest"
)

// installers fetch any package by install or add, and run its code. A wider rule for that lasts for a session.
const installers = "npm pip pip3 pnpm uv yarn"

func isInstalling(words []string) bool {
	return len(words) > 1 && (words[1] == "install" || words[1] == "add") &&
		slices.Contains(strings.Fields(installers), words[0])
}

// widenableSubcommands returns the subcommands of a program with a useful wider rule; known is false for another.
func widenableSubcommands(program string) (subcommands []string, known bool) {
	for line := range strings.SplitSeq(widenable, ", ") {
		if words := strings.Fields(line); words[0] == program {
			return words[1:], true
		}
	}
	return nil, slices.Contains(strings.Fields(widenableWhole), program)
}

// scriptRunners take the name of a script after `run`: that name belongs to the subcommand.
var scriptRunners = []string{"npm", "pnpm", "yarn"}

// subcommandWords returns the number of words in a sensible wider rule, or 0. They name the
// program and its subcommand, the options that change its effects, and for commands that send
// data the first operand, the destination.
func subcommandWords(a *umpire.Access, p *part) int {
	subcommands, ok := widenableSubcommands(a.Words[0])
	if !ok || p.deletes || p.reaches || p.consequence == umpire.Lost || a.Table == "" {
		return 0
	}
	n := 1
	if len(subcommands) > 0 {
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
