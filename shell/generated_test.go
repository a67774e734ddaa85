package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// The tests of this file generate lines from the tables: the declared effect of an option must
// show in every spelling of that option.

// changing are the effects that must at least make a use ask.
const changing = runs | obeys | writes | deletes | asks | harms

// A spelled option is one spelling of one option of an entry.
type spelled struct {
	path  string
	p     *program
	opt   *option
	name  string // as typed: -o or --output
	takes arity
	short bool // a letter, which may be part of a cluster
}

// everySpelling calls f for every spelling of every option, including those of shared groups.
func everySpelling(f func(spelled)) {
	everyProgram(func(path string, p *program) { everySpellingOf(path, p, f) })
}

func everySpellingOf(path string, p *program, f func(spelled)) {
	for opt := range p.options {
		for name, takes := range opt.spellings {
			short := p.style != words && !strings.HasPrefix(name, "--")
			f(spelled{path: path, p: p, opt: opt, name: name, takes: takes, short: short})
		}
	}
}

// names returns the spellings of the option.
func (o *option) names() (names []string) {
	for name := range o.spellings {
		names = append(names, name)
	}
	return names
}

// shadowed reports whether an earlier entry of the table matches the same spelling, so this one
// never applies.
func (s spelled) shadowed() bool {
	opt, _, _ := s.p.findOption(s.name)
	return opt != s.opt
}

// quoted quotes words to make the shell take them literally.
func quoted(words ...string) string {
	for i, word := range words {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// line returns a use of the entry with some arguments.
func (s spelled) line(args ...string) string {
	return quoted(append(strings.Fields(s.path), args...)...)
}

// ways returns the ways of writing the option, with a value if it takes one.
func (s spelled) ways(value string) [][]string {
	switch {
	case s.takes == takesNone:
		return [][]string{{s.name}}
	case s.short && s.takes == takesAttached:
		return [][]string{{s.name + value}}
	case s.short:
		return [][]string{{s.name, value}, {s.name + value}}
	case s.takes == takesAttached:
		return [][]string{{s.name + "=" + value}}
	}
	return [][]string{{s.name, value}, {s.name + "=" + value}}
}

// clusters returns the ways of writing a letter after a harmless flag.
func (s spelled) clusters(value string) [][]string {
	flag := s.harmlessLetter()
	if !s.short || flag == 0 || s.p.style == words {
		return nil
	}
	var all [][]string
	for _, way := range s.ways(value) {
		all = append(all, append([]string{"-" + string(flag) + way[0][1:]}, way[1:]...))
	}
	return all
}

// harmlessLetter returns a flag of the entry without effects, or 0.
func (s spelled) harmlessLetter() byte {
	for c := byte('a'); c <= 'z'; c++ {
		opt, name, takes := s.p.findOption("-" + string(c))
		if opt != nil && takes == takesNone && opt.does == 0 && s.name != name {
			return c
		}
	}
	return 0
}

// abbreviations returns the unambiguous prefixes of a long name.
func (s spelled) abbreviations(value string) [][]string {
	if s.short || s.p.style == words || s.p.style == bare {
		return nil
	}
	var all [][]string
	for n := len(s.name) - 1; n > len("--")+1; n-- {
		if opt, _, _ := s.p.findOption(s.name[:n]); opt != s.opt {
			break
		}
		short := s
		short.name = s.name[:n]
		all = append(all, short.ways(value)...)
	}
	return all
}

// TestEveryNameResolves: each name of the tables leads to its own entry.
func TestEveryNameResolves(t *testing.T) {
	t.Parallel()
	w := &walker{tables: families[:]}
	for _, family := range families {
		for i := range *family {
			for name := range strings.FieldsSeq((*family)[i].names) {
				if w.findProgram(name) != &(*family)[i] {
					t.Errorf("%s leads to another entry", name)
				}
			}
		}
	}
	everyProgram(func(path string, p *program) {
		tables := [][]program{p.subs}
		for _, table := range p.more {
			tables = append(tables, *table)
		}
		for _, table := range tables {
			for i := range table {
				for name := range strings.FieldsSeq(table[i].names) {
					if p.findSubcommand(name) != &table[i] {
						t.Errorf("%s %s leads to another entry", path, name)
					}
				}
			}
		}
	})
}

// TestEveryEntryStands: an entry always yields an access, without arguments, with an empty one,
// and with ones known only at run time.
func TestEveryEntryStands(t *testing.T) {
	t.Parallel()
	everyProgram(func(path string, _ *program) {
		name := quoted(strings.Fields(path)...)
		for _, args := range []string{
			"", " ''", " --", " -", " $X", ` "$X" "$Y"`, " -$X", " *", " a b c", " -- -- --", " --=", " -a= =",
			" \u00fc",
		} {
			if len(Parse(name+args, testEnv)) == 0 {
				t.Errorf("%s%s is nothing", name, args)
			}
		}
	})
}

// maxWhy is the maximum length of a reason on an approval card.
const maxWhy = 90

// TestWhysAreShort: a reason is a short phrase in lower case, apart from names.
func TestWhysAreShort(t *testing.T) {
	t.Parallel()
	check := func(where, why string) {
		first := []rune(why + " ")[:2]
		if len(why) > maxWhy || unicode.IsUpper(first[0]) && !unicode.IsUpper(first[1]) ||
			strings.HasSuffix(why, ".") || strings.TrimSpace(why) != why {
			t.Errorf("%s: %q", where, why)
		}
	}
	everyProgram(func(path string, p *program) {
		check(path, catalogue.English.Text(p.why))
		for opt := range p.options {
			check(fmt.Sprint(path, opt.names()), catalogue.English.Text(opt.why))
		}
	})
}

// TestUnknownOptionsAsk: an option that a table does not accept is never harmless, long or
// short, alone, in a cluster or before a subcommand.
func TestUnknownOptionsAsk(t *testing.T) {
	t.Parallel()
	everyProgram(func(path string, p *program) {
		if p.lax || p.style == bare {
			return
		}
		s := spelled{path: path, p: p, name: "--"}
		lines := []string{
			s.line("--no-such-option-anywhere"), s.line("--no-such-option-anywhere=1"),
			s.line("--no-such-option-anywhere", "x"),
		}
		if letter := p.unknownLetter(); letter != 0 && p.style != words {
			lines = append(lines, s.line("-"+string(letter)), s.line("-"+string(letter), "x"))
			if flag := s.harmlessLetter(); flag != 0 {
				lines = append(lines, s.line("-"+string(flag)+string(letter)))
			}
		}
		for i := range p.subs {
			lines = append(lines, s.line("--no-such-option-anywhere", p.subs[i].name()))
		}
		for _, line := range lines {
			if risk, doubt := worst(line); !risk.AtLeast(umpire.Medium) && !doubt {
				t.Errorf("%s is %s", line, risk)
			}
		}
	})
}

// unknownLetter returns a letter that the entry does not accept, or 0.
func (p *program) unknownLetter() byte {
	for _, c := range []byte("QYjyKqZGJWkXBzMOuwxNE") {
		if opt, _, _ := p.findOption("-" + string(c)); opt == nil {
			return c
		}
	}
	return 0
}

// An exception is a list of uses that deliberately deviate.
type exception struct{ names, why string }

func isException(exceptions []exception, name string) bool {
	return slices.ContainsFunc(exceptions, func(e exception) bool {
		return slices.Contains(strings.Split(e.names, ", "), name)
	})
}

// quietExceptions are options without effects in their table that a check judges.
var quietExceptions = []exception{
	{
		"mktemp -p, mktemp --tmpdir",
		"says in which folder it makes a file: in the project, and not among the temporary files",
	},
	{"env -S, env --split-string", "its value is a command"},
	{
		"gh api -X, gh api --method, gh api -f, gh api --raw-field, gh api -F, gh api --field, gh api -H, gh api " +
			"--header",
		"makes a request that changes something",
	},
	{
		"curl -X, curl --request, curl --variable, curl --url, curl -o, curl --output",
		"its value says what is sent, reached or written",
	},
	{
		"go build -gcflags, go build -ldflags, go build -asmflags, go test -gcflags, go test -ldflags, go test " +
			"-asmflags",
		"its value may name a program",
	},
	{"strace -o, strace --output", "its value may be a program behind a |, or a file"},
	{"rpm -i", "installs, unless a query comes first"},
}

// TestHarmlessOptionsAreQuiet: an option without effects makes no use worse. An option without
// effects but with a reason is for a check.
func TestHarmlessOptionsAreQuiet(t *testing.T) {
	t.Parallel()
	var own struct {
		path  string
		risk  umpire.Risk
		doubt bool
	}
	everySpelling(func(s spelled) {
		if s.opt.does != 0 || s.opt.why != "" || s.shadowed() || isException(quietExceptions, s.path+" "+s.name) {
			return
		}
		if own.path != s.path {
			own.path = s.path
			own.risk, own.doubt = worst(s.line())
		}
		limit := min(own.risk, s.p.risk)
		for _, way := range s.ways("1") {
			if risk, doubt := worst(s.line(way...)); risk < limit ||
				doubt && !own.doubt && !limit.AtLeast(umpire.Medium) {
				t.Errorf("%s is %s, doubt %v; without %s", s.line(way...), risk, doubt, limit)
			}
		}
	})
}

// TestAbbreviationsMeanTheWorst: an ambiguous prefix stands for the option with the worst
// effects, because another version of the program may know only that one.
func TestAbbreviationsMeanTheWorst(t *testing.T) {
	t.Parallel()
	everySpelling(func(s spelled) {
		if s.short || s.p.style == words || s.p.style == bare || s.opt.does&changing == 0 || s.shadowed() {
			return
		}
		for n := len("--") + 2; n < len(s.name); n++ {
			if got, full, _ := s.p.findOption(s.name[:n]); got.does&changing == 0 && full != s.name[:n] {
				t.Errorf("%s of %s means %s, and not %s", s.name[:n], s.path, full, s.name)
			}
		}
	})
}

// TestChangingOptionsAsk: an option that runs, obeys, writes, deletes or asks is noticed in
// every spelling.
func TestChangingOptionsAsk(t *testing.T) {
	t.Parallel()
	n := 0
	everySpelling(func(s spelled) {
		if s.opt.does&changing == 0 || s.shadowed() {
			return
		}
		n++
		value := "/somewhere/else"
		if s.opt.limits != nil {
			value += s.opt.limits.when
		}
		for _, way := range slices.Concat(s.ways(value), s.clusters(value), s.abbreviations(value)) {
			if risk, doubt := worst(s.line(way...)); !risk.AtLeast(umpire.Medium) && !doubt {
				t.Errorf("%s is %s", s.line(way...), risk)
			}
		}
	})
	if n < 500 {
		t.Errorf("only %d options were tried", n)
	}
}

// TestShadowedOptions: no spelling is hidden by another entry, which would disable its own
// effects.
func TestShadowedOptions(t *testing.T) {
	t.Parallel()
	everySpelling(func(s spelled) {
		got, _, _ := s.p.findOption(s.name)
		if s.path == "gh run list" && s.name == "-w" {
			return // --workflow there, --web elsewhere
		}
		if got != s.opt && s.opt.does&changing != 0 && got.does&changing == 0 {
			t.Errorf("%s: %s is %q, and not %q", s.path, s.name, got.names(), s.opt.names())
		}
	})
}

// TestReadingOptionsAreSeen: a file that an option names is a separate access.
func TestReadingOptionsAreSeen(t *testing.T) {
	t.Parallel()
	everySpelling(func(s spelled) {
		if s.opt.does&(reads|enters) == 0 || s.opt.does&(runs|writes|deletes) != 0 || s.takes == takesNone || s.shadowed() {
			return
		}
		const value = "/somewhere/else"
		for _, way := range slices.Concat(s.ways(value), s.clusters(value), s.abbreviations(value)) {
			seen := slices.ContainsFunc(Parse(s.line(way...), testEnv), func(a umpire.Access) bool {
				return a.Target == value
			})
			if risk, doubt := worst(s.line(way...)); !seen && !risk.AtLeast(umpire.Medium) && !doubt {
				t.Errorf("%s does not read %s", s.line(way...), value)
			}
		}
	})
}

// TestValuesAreNotOperands: an option takes its own value and no operand, whatever the operand
// looks like.
func TestValuesAreNotOperands(t *testing.T) {
	t.Parallel()
	everySpelling(func(s spelled) {
		if s.p.style == bare || s.shadowed() || s.opt.does&ends != 0 {
			return
		}
		for _, next := range []string{"operand", "--"} {
			got := s.p.parseArguments([]word{lit(s.name), lit(next), lit("last")}, false)
			operands := displayWords(got.operands)
			want := []string{next, "last"}
			if s.takes == takesValue || next == "--" {
				want = want[1:]
			}
			takes := len(got.given) == 1 && got.given[0].has
			if !slices.Equal(operands, want) || takes != (s.takes == takesValue) {
				t.Errorf("%s: operands %q, want %q", s.line(s.name, next, "last"), operands, want)
			}
		}
	})
}
