package shell

import (
	"slices"
	"strings"
)

// A given is one option as given on the line.
type given struct {
	option *option
	name   string // as the table spells it
	value  word   // set if the option takes a value and has one
	has    bool
}

// arguments are a program's parsed arguments.
type arguments struct {
	given    []given
	operands []word
	unknown  []string // options that the table does not accept
	strange  []given  // options that it does not list, with their possible values
	extra    bool     // options that it accepts without listing them
	// doubtful is set if a word may or may not be an option. A lax program, which asks with any
	// options, sets vague instead.
	doubtful, vague bool
	ended           bool // no options follow
}

// parseArguments parses arguments in the program's style.
func (p *program) parseArguments(args []word, leads bool) arguments {
	var out arguments
	for i := 0; i < len(args); i++ {
		arg := args[i]
		out.suspectSplit(p, arg)
		switch {
		case out.ended || p.style == bare:
			out.operands = append(out.operands, args[i:]...)
			return out
		case arg.text == "--" && !arg.open:
			out.ended = true
		case arg.maybeOption() && arg.text == "":
			if !p.refusesNumber(arg) {
				out.doubtOption(p)
			}
			out.operands = append(out.operands, arg)
		case arg.maybeOption():
			i += p.readOption(&out, arg, args[i+1:])
			out.suspectSplit(p, args[i])
			out.ended = len(out.given) > 0 && out.given[len(out.given)-1].option.does&ends != 0
		default:
			out.operands = append(out.operands, arg)
			out.ended = leads
		}
	}
	return out
}

// suspectSplit records a word that the shell may split into several words, including options,
// at a place where options are still parsed.
func (a *arguments) suspectSplit(p *program, arg word) {
	if a.ended || p.style == bare {
		return
	}
	if arg.glob && strings.ContainsAny(arg.text[:min(1, len(arg.text))], "*?[") && p.obeysOptions() {
		a.vague = true // a file may be named like an option
	}
	numbers := arg.shape != nil && (arg.dashless || arg.text != "")
	if arg.open && arg.split && !numbers || arg.under && arg.text == "" && !arg.dashless && p.obeysOptions() {
		a.doubtOption(p)
	}
}

// doubtOption records that a word may or may not be an option.
func (a *arguments) doubtOption(p *program) {
	a.doubtful = a.doubtful || !p.lax
	a.vague = a.vague || p.lax
}

// refusesNumber reports whether a word is a number that, as an option, the program does not
// have.
func (p *program) refusesNumber(arg word) bool {
	opt, _, _ := p.findOption("-1")
	return arg.shape != nil && strings.HasPrefix(*arg.shape, someNumber) && opt == nil
}

// obeysOptions reports whether a file named like an option of the program could make it do more
// than look.
func (p *program) obeysOptions() bool {
	for opt := range p.options {
		if opt.does&(runs|obeys|writes|deletes|edits|drops|harms) != 0 {
			return true
		}
	}
	return false
}

// readOption parses one option and returns the number of following arguments that it took as
// values.
func (p *program) readOption(out *arguments, arg word, rest []word) int {
	if p.style == words {
		return p.longOption(out, arg, rest)
	}
	if strings.HasPrefix(arg.text, "--") {
		return p.longOption(out, arg, rest)
	}
	return p.readCluster(out, arg, rest)
}

// longOption parses --name, --name=value, or -name in style words.
func (p *program) longOption(out *arguments, arg word, rest []word) int {
	name, value, attached := arg.after("=")
	if arg.open && !attached {
		out.doubtOption(p)
		return 0
	}
	opt, full, takes := p.findOption(name)
	if opt == nil {
		p.noteUnknown(out, name, value, rest)
		return 0
	}
	if !attached && takes == takesValue {
		return out.takeNext(p, given{option: opt, name: full}, rest)
	}
	out.given = append(out.given, given{option: opt, name: full, value: value, has: attached})
	return 0
}

// takeNext adds an option whose value is the next argument, and returns the number of arguments
// that it took.
func (a *arguments) takeNext(p *program, g given, rest []word) int {
	if len(rest) == 0 {
		a.given = append(a.given, g)
		return 0
	}
	g.value, g.has = rest[0], true
	a.checkSwallowed(p, rest[0])
	a.given = append(a.given, g)
	return 1
}

// maxCluster is the maximum number of letters of one word to parse as options.
const maxCluster = 64

// readCluster parses -abc, -ovalue and -o value.
func (p *program) readCluster(out *arguments, arg word, rest []word) int {
	text := arg.text[1:]
	for i := range len(text) {
		if i == maxCluster {
			out.doubtful = true
			return 0
		}
		name, tail := "-"+text[i:i+1], arg.cut(i+2)
		opt, _, takes := p.findOption(name)
		if opt == nil {
			// The rest of the word may be the value of the unknown letter.
			p.noteUnknown(out, name, tail, rest)
			return 0
		}
		g := given{option: opt, name: name}
		switch {
		case takes != takesNone && (tail.text != "" || tail.open):
			if takes == takesValue {
				tail.text = strings.TrimPrefix(tail.text, "=")
			}
			g.value, g.has = tail, true
			out.given = append(out.given, g)
			return 0
		case takes == takesValue:
			return out.takeNext(p, g, rest)
		}
		out.given = append(out.given, g)
	}
	if arg.open {
		out.doubtOption(p)
	}
	return 0
}

// checkSwallowed records a value that would do harm as an option: other versions of the program
// may take no value here, and obey it.
func (a *arguments) checkSwallowed(p *program, value word) {
	text := value.text
	if p.lax && !p.obeysOptions() || len(text) < 2 || text[0] != '-' || text[1] >= '0' && text[1] <= '9' ||
		text[1] == ' ' {
		return
	}
	var as arguments
	p.readOption(&as, value, nil)
	for _, g := range as.given {
		as.doubtful = as.doubtful || g.option.does&(runs|obeys|writes|deletes|edits|drops|asks|harms) != 0
	}
	if len(as.unknown) > 0 && text[1] == '-' || as.doubtful {
		a.doubtful = true
	}
}

func (p *program) noteUnknown(out *arguments, name string, value word, rest []word) {
	g := given{option: &option{}, name: name, value: value, has: value.text != "" || value.open}
	if !g.has && len(rest) > 0 {
		g.value = rest[0]
	}
	out.strange = append(out.strange, g)
	if p.lax {
		out.extra = true
		return
	}
	out.unknown = append(out.unknown, name)
}

// findOption finds an option by its name or, with two dashes, by an abbreviation, and returns
// the full name. An ambiguous abbreviation means the worst of the options, and of two that are
// alike the first.
func (p *program) findOption(name string) (found *option, full string, takes arity) {
	for opt := range p.options {
		for spelling, kind := range opt.spellings {
			if spelling == name {
				return opt, spelling, kind
			}
			abbreviates := p.style != words && len(name) > 2 && strings.HasPrefix(spelling, name) &&
				strings.HasPrefix(name, "--")
			if abbreviates && (found == nil || opt.does.outweighs(found.does)) {
				found, full, takes = opt, spelling, kind
			}
		}
	}
	return found, full, takes
}

// outweighs reports whether an effect is the worse one. An effect that only shows something
// never is, because it would hide the others.
func (e effect) outweighs(other effect) bool {
	const acts = runs | obeys | writes | deletes | edits | drops | asks | harms
	if e&acts != other&acts {
		return e&acts > other&acts
	}
	return e&^(shows|plain|sends) > other&^(shows|plain|sends)
}

// has reports whether an option with one of the effects was given.
func (a *arguments) has(does effect) bool {
	for _, g := range a.given {
		if g.option.does&does != 0 {
			return true
		}
	}
	return false
}

// got returns the option given under one of the names, or nil.
func (a *arguments) got(names ...string) *given {
	for i := range a.given {
		for _, name := range names {
			if a.given[i].name == name || a.given[i].option.hasName(name) {
				return &a.given[i]
			}
		}
	}
	return nil
}

// gave reports whether an option was given under exactly one of the names.
func (a *arguments) gave(names ...string) bool {
	for _, g := range a.given {
		if slices.Contains(names, g.name) {
			return true
		}
	}
	return false
}
