package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A program describes one program, or one of its subcommands. Entries are data, one family of
// programs per file; they cost nothing until the program occurs. Only accepted uses are
// harmless: an unlisted option or subcommand makes a use ask.
type program struct {
	// names are the program's names, separated by spaces; rules and explanations use the first
	// one. each says that they are several similar programs instead of one, so a subcommand
	// keeps its name as given.
	names string
	each  bool
	// risk is the risk of a use with accepted options only, and why its reason. The zero value
	// is Critical, so an entry without a risk is refused.
	risk umpire.Risk
	why  umpire.Phrase
	// consequence is the consequence of such a use; an entry that is safe or low may omit it.
	consequence stated
	// style is the way options are written.
	style style
	// opts are the accepted options; also are groups of them that entries share. about are the
	// spellings of one that makes the program print something about itself and do nothing else.
	opts  []option
	also  []*[]option
	about string
	// args lists the kinds of the operands, one word each:
	//
	//	data     text that is neither a path nor code
	//	read     a file or folder that is looked at; tree: with all below it
	//	write    a file or folder that is created or changed
	//	delete   a file or folder that is removed
	//	dir      a folder that later relative paths start from
	//	host     a host or URL that is reached
	//	command  a program and its arguments, options end here
	//	shell    the rest, joined, is code for the shell
	//	script   a file whose code runs
	//	code     text that runs as code of the program's language
	//	env      NAME=VALUE pairs, then as the word after it
	//	none     there must be none
	//
	// A trailing … repeats the word; words after it are taken from the end.
	// The empty string is "data…".
	args string
	// subs are the subcommands; the first operand names one. more are further tables of them.
	subs []program
	more []*[]program
	// lax says that no option of the program is harmful. Options that are unlisted or unknown
	// before run time are then accepted.
	lax bool
	// peeks says that it looks at the names and attributes of its operands, but not at their
	// contents.
	peeks bool
	// check adds judgements that a table cannot express.
	check func(*use)
	// manifests are the names of files in the folder that define the commands it runs.
	manifests string
	// every is like check, but also for the uses of its subcommands.
	every func(*use)
	// formats are the extensions of the files that a formatter changes in the given folders,
	// separated by spaces.
	formats string
	// out returns its output, if that matters to a program that reads it.
	out func(*use, flow) flow
}

// An option is a group of spellings with the same effect, separated by spaces.
type option struct {
	// flags take no value: "-v --verbose". values take one: "-o --output" accepts -oFILE, -o FILE,
	// --output=FILE and --output FILE. attached take one only in the same word: --color=auto.
	flags, values, attached string

	does effect
	// consequence is the consequence of the option. An option that asks or harms states it; one
	// that obeys or runs has that of the code it starts.
	consequence stated
	why         umpire.Phrase
	limits      *limits // nil if the option always has its effect
}

// Limits are the values with which an option has its effect.
type limits struct {
	// except are space-separated values without the effect. A value that ends in = or . matches
	// any value with that prefix; case does not matter.
	except string
	// when are space-separated parts of a value; without one of them there is no effect.
	when string
}

// An arity says whether a spelling of an option takes a value.
type arity uint8

const (
	takesNone     arity = iota
	takesAttached       // only in the same word
	takesValue
)

// spellings yields the spellings of the option.
func (o *option) spellings(yield func(string, arity) bool) {
	for takes, names := range [...]string{takesNone: o.flags, takesAttached: o.attached, takesValue: o.values} {
		for name := range strings.FieldsSeq(names) {
			if !yield(name, arity(takes)) {
				return
			}
		}
	}
}

// hasName reports whether the option may be spelled as name.
func (o *option) hasName(name string) bool {
	return scan.HasField(o.flags, name) || scan.HasField(o.values, name) || scan.HasField(o.attached, name)
}

// An effect is a set of effects of an option, as bits. The zero value adds nothing to the
// program's own effects.
type effect uint32

// The effects. Those above the blank line classify the option's value.
const (
	reads   effect = 1 << iota // a path that is read
	writes                     // a path that is written
	deletes                    // a path that is deleted
	enters                     // a folder that relative paths start from
	reaches                    // a host or URL
	runs                       // code for the shell, or a program: it is walked
	obeys                      // configuration or code that we cannot judge: asks

	lead  // the first operand kind does not apply (grep -e)
	last  // the last operand kind does not apply (cp -t)
	edits // operands are changed, not read (sed -i)
	drops // operands are deleted
	walks // operands are taken with everything below them
	asks  // the use is of medium risk
	harms // the use is of high risk
	shows // prints something about the program and does nothing else
	ends  // the words after its value are for the code that it names (python -m)

	plain  // the value is neither a path nor sent, or the program's check judges it
	sends  // the value is sent: text as it stands, or the file behind an @
	routes // another way to the host than its name says: a proxy, a resolver, a redirect
)

// typed are the effects that classify an option's value. A value without one of them asks if it
// may be a path.
const typed = ofValue | routes | obeys | shows

// A style is a way of writing options.
type style uint8

const (
	// short: GNU's. Single letters cluster, values attach, long options may be abbreviated,
	// options and operands mix, -- ends options.
	short style = iota
	// leading: as short, but the first operand ends the options: wrappers,
	// shells, programs with subcommands.
	leading
	// words: long options with one dash, values after a space or =: find, go,
	// java, terraform. Options and operands mix.
	words
	// bare: no options at all, every argument is an operand.
	bare
)

// findSubcommand returns the subcommand of that name, or nil.
func (p *program) findSubcommand(name string) *program {
	for sub := range p.subcommands {
		if scan.HasField(sub.names, name) {
			return sub
		}
	}
	return nil
}

// hasSubcommands reports whether the program has subcommands.
func (p *program) hasSubcommands() bool { return len(p.subs)+len(p.more) > 0 }

// findNamed returns the entry of a table with that name, or nil.
func findNamed(table []program, name string) *program {
	for i := range table {
		if scan.HasField(table[i].names, name) {
			return &table[i]
		}
	}
	return nil
}

// options yields the accepted options, including those of shared groups and about.
func (p *program) options(yield func(*option) bool) {
	for i := range p.opts {
		if !yield(&p.opts[i]) {
			return
		}
	}
	for _, group := range p.also {
		for i := range *group {
			if !yield(&(*group)[i]) {
				return
			}
		}
	}
	if p.about != "" {
		yield(&option{flags: p.about, does: shows})
	}
}

// spares reports whether the option does not have its effect here.
func (g *given) spares() bool {
	l := g.option.limits
	return l != nil && (l.when != "" && (!g.has || !holdsAny(g.value.text, l.when)) || g.has && l.excepts(g.value))
}

// holdsAny reports whether text contains one of the words of a list.
func holdsAny(text, list string) bool {
	for part := range strings.FieldsSeq(list) {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// excepts reports whether the option has no effect with that value.
func (l *limits) excepts(value word) bool {
	for entry := range strings.FieldsSeq(l.except) {
		begins := len(entry) > 1 && (strings.HasSuffix(entry, "=") || strings.HasSuffix(entry, "."))
		switch {
		case strings.EqualFold(value.text, entry) && value.known():
			return true
		case begins && len(value.text) >= len(entry) && strings.EqualFold(value.text[:len(entry)], entry):
			return true
		}
	}
	return false
}

// name is the program's first name.
func (p *program) name() string {
	first, _, _ := strings.Cut(p.names, " ")
	return first
}

// families are the tables, one per file. Their order does not matter, because a test ensures
// that names are unique.
var families = [...]*[]program{
	&builtins, &viewing, &comparing, &searching, &textTools, &fileTools, &systemTools,
	&wrappers, &interpreters, &gitTools, &packageManagers, &buildTools,
	&networkTools, &containerTools, &diskTools, &scriptPackages,
	&pythonPackages, &languagePackages, &goTools, &codeChecks, &transferTools, &remoteTools,
	&ownerTools, &syncTools, &archivers, &editors, &controlTools, &desktopTools, &privileges, &tracers, &terminals,
	&cryptoTools, &clusterTools, &databases, &cloudTools, &testRunners, &languageRunners, &styleChecks, &fileChecks,
	&formatViewers, &reckoners,
}

// findProgram returns the entry of a program, or nil. It reaches the tables through the walker,
// because they refer to functions that walk.
func (w *walker) findProgram(name string) *program {
	found, met := w.met[name]
	if met {
		return found
	}
	for _, family := range w.tables {
		if found = findNamed(*family, name); found != nil {
			break
		}
	}
	if w.met == nil {
		w.met = map[string]*program{}
	}
	w.met[name] = found
	return found
}
