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
	opt, _ := p.findLetter('1')
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
	opt, spelled := p.findLong(name)
	if opt == nil {
		p.noteUnknown(out, name, value, rest)
		return 0
	}
	g := given{option: opt, name: strings.TrimRight(spelled, "=?")}
	took := 0
	switch spelled[len(spelled)-1] {
	case '=':
		switch {
		case attached:
			g.value, g.has = value, true
		case len(rest) > 0:
			g.value, g.has, took = rest[0], true, 1
			out.checkSwallowed(p, rest[0])
		}
	default:
		if attached {
			g.value, g.has = value, true
		}
	}
	out.given = append(out.given, g)
	return took
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
		opt, kind := p.findLetter(text[i])
		if opt == nil {
			// The rest of the word may be the value of the unknown letter.
			p.noteUnknown(out, "-"+text[i:i+1], arg.cut(i+2), rest)
			return 0
		}
		g := given{option: opt, name: "-" + text[i:i+1]}
		tail := arg.cut(i + 2)
		switch {
		case kind == '=' && (tail.text != "" || tail.open):
			g.value, g.has = tail, true
			g.value.text = strings.TrimPrefix(g.value.text, "=")
			out.given = append(out.given, g)
			return 0
		case kind == '=' && len(rest) > 0:
			g.value, g.has = rest[0], true
			out.checkSwallowed(p, rest[0])
			out.given = append(out.given, g)
			return 1
		case kind == '?' && (tail.text != "" || tail.open):
			g.value, g.has = tail, true
			out.given = append(out.given, g)
			return 0
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

// findLong finds a long option by its name or, with two dashes, by an abbreviation. An
// ambiguous abbreviation means the worst of the options.
func (p *program) findLong(name string) (*option, string) {
	var found *option
	var spelling string
	for opt := range p.options {
		for field := range strings.FieldsSeq(opt.names) {
			bare := strings.TrimRight(field, "=?")
			if bare == name {
				return opt, field
			}
			abbreviates := p.style != words && len(name) > 2 && strings.HasPrefix(bare, name) &&
				strings.HasPrefix(name, "--")
			if abbreviates && (found == nil || opt.does.outweighs(found.does)) {
				found, spelling = opt, field
			}
		}
	}
	return found, spelling
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

// findLetter finds a one-letter option, and whether it takes a value.
func (p *program) findLetter(c byte) (*option, byte) {
	for opt := range p.options {
		for field := range strings.FieldsSeq(opt.names) {
			if len(field) < 2 || field[0] != '-' || field[1] == '-' {
				continue
			}
			if kind, ok := letterKind(field[1:], c); ok {
				return opt, kind
			}
		}
	}
	return nil, 0
}

// letterKind looks for c in "abc", or in the single letters "o=" and "i?".
func letterKind(letters string, c byte) (byte, bool) {
	if n := len(letters); letters[n-1] == '=' || letters[n-1] == '?' {
		return letters[n-1], n == 2 && letters[0] == c
	}
	return 0, strings.IndexByte(letters, c) >= 0
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
			if a.given[i].name == name || hasSpelling(a.given[i].option.names, name) {
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

// hasSpelling reports whether an option may be spelled as name.
func hasSpelling(names, name string) bool {
	for field := range strings.FieldsSeq(names) {
		if strings.TrimRight(field, "=?") == name {
			return true
		}
	}
	return false
}
