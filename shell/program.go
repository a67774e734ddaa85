package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A program is what umpire knows of one program, or of one of its subcommands.
// Entries are data, one family of programs a file; they cost nothing until the
// program is met. Only what an entry accepts is harmless: an option that it does
// not list, or a subcommand, makes the use one that asks.
type program struct {
	// names are the program's names, separated by spaces; the first is the one
	// that rules and explanations use. each says that they are not one program
	// but several alike, so that a subcommand keeps the name it was given by.
	names string
	each  bool
	// risk of a use with accepted options only, and why. The zero value is
	// Critical, so an entry that forgets it is refused.
	risk umpire.Risk
	why  umpire.Phrase
	// consequence is what cannot be taken back after such a use; an entry that is
	// safe or low may leave it out.
	consequence stated
	// style tells how options are written.
	style style
	// opts are the accepted options; also are groups of them that entries share.
	opts []option
	also []*[]option
	// args says what the operands are, one word each:
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
	// subs are the subcommands; the first operand names one. more are further
	// tables of them.
	subs []program
	more []*[]program
	// lax says that no option of the program does harm, so that one that is not
	// listed, or not known before it runs, is accepted.
	lax bool
	// peeks says that it looks at the names and attributes of its operands, and
	// not at what is in them.
	peeks bool
	// check adds what a table cannot say.
	check func(*use)
	// manifests are files of the folder, by name, that say what its uses run.
	manifests string
	// every is as check, for the uses of its subcommands too.
	every func(*use)
	// formats are the extensions of the files that a formatter changes in the folders it is
	// given, separated by spaces.
	formats string
	// out tells what it prints, where that matters to a reader of its output.
	out func(*use, flow) flow
}

// An option is a group of spellings that mean the same, such as
// "-o= --output=". A spelling that ends in = takes a value, one that ends in ?
// takes it only when attached. In style short, "-abc" lists three options.
type option struct {
	names string
	does  effect
	why   umpire.Phrase
	// consequence is what cannot be taken back when the option is given; one that
	// asks or harms states it, and one that obeys or runs is worth what it starts.
	consequence stated
	// except are values with which the option does nothing of the kind, separated by spaces.
	// A value that ends in = or . stands for all that begin so; capitals do not matter.
	except string
	// when are parts of a value, separated by spaces, without which the option does not have
	// the effect.
	when string
}

// An effect is what an option does, as a set of bits. The zero value is: nothing
// beyond what the program does anyway.
type effect uint32

// The effects. Those above the line say what the option's value is.
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
	ends  // what follows its value is for the code that it names (python -m)

	plain  // the value is neither a path nor sent, or the program's check judges it
	sends  // the value is sent: text as it stands, or the file behind an @
	routes // another way to the host than its name says: a proxy, a resolver, a redirect
)

// typed are the effects that say what an option does with its value. A value without one of
// them asks where it may be a path.
const typed = ofValue | routes | obeys | shows

// A style is a way of writing options.
type style uint8

const (
	// short: GNU's. Single letters cluster, values attach, long options may be
	// abbreviated, options and operands mix, -- ends options.
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
	if found := findNamed(p.subs, name); found != nil {
		return found
	}
	for _, table := range p.more {
		if found := findNamed(*table, name); found != nil {
			return found
		}
	}
	return nil
}

// hasSubcommands reports whether the program has subcommands.
func (p *program) hasSubcommands() bool { return len(p.subs)+len(p.more) > 0 }

// findNamed returns the entry of a table that bears the name, or nil.
func findNamed(table []program, name string) *program {
	for i := range table {
		if scan.HasField(table[i].names, name) {
			return &table[i]
		}
	}
	return nil
}

// options yields the accepted options, those of shared groups too.
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
}

// spares reports whether the option does not have its effect here.
func (g *given) spares() bool {
	if g.option.when != "" && (!g.has || !holdsAny(g.value.text, g.option.when)) {
		return true
	}
	return g.has && g.option.excepts(g.value)
}

// holdsAny reports whether text holds one of the words of a list.
func holdsAny(text, list string) bool {
	for part := range strings.FieldsSeq(list) {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// excepts reports whether the option does nothing with that value.
func (o *option) excepts(value word) bool {
	for entry := range strings.FieldsSeq(o.except) {
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
	for i := range len(p.names) {
		if p.names[i] == ' ' {
			return p.names[:i]
		}
	}
	return p.names
}

// families are the tables, one a file. Their order does not matter: a test holds
// that no name occurs twice.
var families = [...]*[]program{
	&builtins, &viewing, &comparing, &searching, &textTools, &fileTools, &systemTools,
	&wrappers, &interpreters, &gitTools, &packageManagers, &buildTools,
	&networkTools, &containerTools, &diskTools, &scriptPackages,
	&pythonPackages, &languagePackages, &goTools, &codeChecks, &transferTools, &remoteTools,
	&ownerTools, &syncTools, &archivers, &editors, &controlTools, &desktopTools, &privileges, &tracers, &terminals,
	&cryptoTools, &clusterTools, &databases, &cloudTools, &testRunners, &languageRunners, &styleChecks, &fileChecks,
	&formatViewers, &reckoners,
}

// findProgram returns what is known of a program, or nil. The tables are reached
// through the walker, since they refer to functions that walk.
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
