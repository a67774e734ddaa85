package shell

import (
	"slices"
	"strings"
)

// Covers reports whether a command contains all words of a rule: the same program and
// subcommands, every option in any spelling, cluster or order, and the rule's operands before
// others. Both begin with the program, and are as in [umpire.Access.Words]. It is for rules
// that deny or ask: if the tables do not tell whether two spellings are one option, they count
// as one.
func Covers(rule, words []string) bool {
	if len(rule) == 0 || len(words) == 0 {
		return false
	}
	p, _ := builtIn(baseName(rule[0]))
	if p == nil {
		p = &program{lax: true}
	}
	rule, words = rule[1:], words[1:]
	for p.hasSubcommands() && len(rule) > 0 && len(words) > 0 {
		sub := p.findSubcommand(rule[0])
		if sub == nil {
			break
		}
		if p.findSubcommand(words[0]) != sub || sub.each && rule[0] != words[0] {
			return false
		}
		p, rule, words = sub, rule[1:], words[1:]
	}
	wanted, wantedOperands := p.spelled(rule)
	named, operands := p.spelled(words)
	if len(operands) < len(wantedOperands) || !slices.Equal(operands[:len(wantedOperands)], wantedOperands) {
		return false
	}
	return !slices.ContainsFunc(wanted, func(want spelling) bool {
		return !slices.ContainsFunc(named, want.equals)
	})
}

// A spelling is one option as written: its name with dashes, and its value.
type spelling struct {
	option *option // nil if the table does not list it
	takes  arity
	name   string
	value  string
	valued bool
}

// spelled parses words as options and operands.
func (p *program) spelled(args []string) (options []spelling, operands []string) {
	leads := p.style == leading && !p.hasSubcommands()
	for i := 0; i < len(args); i++ {
		text := args[i]
		if p.style == bare {
			return nil, args
		}
		if text == "--" {
			return options, append(operands, args[i+1:]...)
		}
		if len(text) < 2 || text[0] != '-' {
			operands = append(operands, text)
			if leads {
				return options, append(operands, args[i+1:]...)
			}
			continue
		}
		found := p.spellings(text)
		if last := &found[len(found)-1]; !last.valued && last.takes == takesValue && i+1 < len(args) {
			i++
			last.value, last.valued = args[i], true
		}
		options = append(options, found...)
	}
	return options, operands
}

// spellings returns the options of one word: several if letters are clustered.
func (p *program) spellings(text string) []spelling {
	if p.style == words || strings.HasPrefix(text, "--") {
		name, value, valued := strings.Cut(text, "=")
		opt, full, takes := p.findOption(name)
		if opt != nil {
			name = full
		}
		return []spelling{{option: opt, takes: takes, name: name, value: value, valued: valued}}
	}
	var found []spelling
	for i := 1; i < len(text); i++ {
		s := spelling{name: "-" + text[i:i+1]}
		s.option, _, s.takes = p.findOption(s.name)
		if rest := text[i+1:]; rest != "" && s.takes != takesNone {
			s.value, s.valued = strings.TrimPrefix(rest, "="), true
			return append(found, s)
		}
		found = append(found, s)
	}
	return found
}

// equals reports whether another spelling is the same option, with the same value if the rule
// names one.
func (s spelling) equals(other spelling) bool {
	if s.valued && s.value != other.value {
		return false
	}
	return s.name == other.name || s.option != nil && s.option == other.option && s.option.synonyms(s.name, other.name)
}

// synonyms reports whether two names of a group are one option: a letter and the word that
// begins with it, the only letter and the only word of their group, or both cases of the letter
// for recursion.
func (o *option) synonyms(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) != 2 {
		return false
	}
	if len(b) == 2 {
		return o.does&walks != 0 && strings.EqualFold(a, b)
	}
	initial := strings.TrimLeft(b, "-")[:1]
	if a[1:] == initial || o.does&walks != 0 && strings.EqualFold(a[1:], initial) {
		return true
	}
	letters, long := 0, 0
	for name := range o.spellings {
		if strings.HasPrefix(name, "--") {
			long++
		} else {
			letters += len(name) - 1
		}
	}
	return letters == 1 && long == 1
}
