package shell

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Env describes the shell that would run the line. With the zero value relative paths and ~ are
// in doubt. Its functions are called only during Parse, and may be nil.
type Env struct {
	Dir  string // absolute working directory
	Home string // absolute home directory of the user
	// IsDir, if set, reports whether an absolute path is an existing folder. Parse can then
	// read `cd x; y` without considering that cd may fail.
	IsDir func(path string) bool
	// Git, if set, returns the repository settings that git would find from a folder. Such
	// settings can make read-only subcommands run programs. Parse calls it only for lines that
	// start git. An error says that the settings could not be read, and git then asks. Without
	// it Parse assumes that no repository names a program; place.Bounds.Env sets it.
	Git func(dir string) ([]GitSetting, error)
	// GitTop, if set, returns the top folder of the work tree that git would find from a
	// folder, or "".
	GitTop func(dir string) string
	// Settings, if set, returns the files with these names in a folder and those above it, up
	// to but not including the person's home. Parse calls it only for programs that contact a
	// server which such a file could choose. An error says that a file could not be read, and
	// the program then asks.
	Settings func(dir string, names []string) ([]SettingsFile, error)
	// Find, if set, looks for files in a folder and those above it, within the project. It
	// returns the path of the first one that exists, or "". A name may be a path.
	Find func(dir string, names ...string) string
	// Real, if set, returns the path of an existing file or folder with its links resolved, or
	// "". Without it no file of a project is known as a program.
	Real func(path string) string
	// Wrote, if set, reports whether the agent may have changed a file since a person last
	// confirmed the code of the project.
	Wrote func(path string) bool
	// Entries, if set, returns the names of the entries of a folder.
	Entries func(dir string) ([]string, error)
	// Recipe, if set, returns the commands that a program runs for a name from the project: the
	// name of a script for npm, pdm, hatch and poe, that of a target for make, just and task,
	// or "" for the default target.
	Recipe func(dir, program, name string) Recipe
	// Shell is the name of the shell that will run the line, such as bash, or "" if it is
	// unknown. Constructs that shells read differently are then in doubt.
	Shell string
	// Programs extends the built-in tables.
	Programs *Knowledge
}

// Limits of one line. The rest of a longer line is in doubt.
const (
	maxCommands  = 4000 // statements walked, counting each round of a loop
	maxNesting   = 64   // functions, substitutions and shells within each other
	maxAccesses  = 8000
	maxVariables = 500
	maxExpanded  = 60_000 // words created by expansion
)

// Parse returns the effects of running line, in the order of execution. It never returns an
// empty slice: a line without commands is one harmless access, and a line that cannot be parsed
// is one access in doubt.
func Parse(line string, env Env) []umpire.Access {
	accesses, _ := ParseCode(line, env)
	return accesses
}

// ParseCode is like Parse but also returns guesses about code in other languages on the line.
// The guesses may be wrong in either direction: use them to refuse, never to permit.
func ParseCode(line string, env Env) (accesses, guesses []umpire.Access) {
	w := &walker{env: env, tables: env.Programs.prependTo(families[:]), coded: codeFamilies[:]}
	s := newState(env)
	s.shells = scan.ShellsOf(env.Shell)
	w.walkText(s, line, flow{})
	settleSwitches(w)
	w.markWritten()
	if len(w.accesses) == 0 {
		w.emit(umpire.Access{Kind: umpire.KindExec, Program: ":", Words: []string{":"}, Risk: umpire.Medium,
			Reason: "holds no command"})
	}
	return w.accesses, w.guessed
}

// A walker collects the accesses of one line.
type walker struct {
	env          Env
	tables       []*[]program
	coded        []*[]program // codeFamilies
	accesses     []umpire.Access
	defaults     bool                // variables have their default values
	guessed      []umpire.Access     // probable effects of code in other languages
	met          map[string]*program // results of lookup, nil if it found nothing
	commands     int
	expanded     int // words created by expansion
	joined       int // variables compared at the ends of bodies
	depth        int
	part         int                       // the simple command being walked
	parts        int                       // the number of parts so far
	via          int                       // the part whose recipe is being walked, or 0
	following    []string                  // the recipes being walked
	away         int                       // nesting depth of containers or machines at the current command
	guesses      int                       // words walked as the beginning of a command
	full         bool                      // a limit was reached and reported
	recursed     bool                      // a function that calls itself was reported
	trapped      bool                      // code is set to run later
	evaluated    evaluation                // code that the line's arithmetic may run
	arrays       arrayNames                // variables that may be arrays
	reader       scan.Reader               // of the text being read
	locals       map[string]value          // of the function being walked: their values outside
	exits        []*exitState              // the loops and functions being walked
	dropped      *exitState                // the line being walked
	repositories map[string]*gitRepository // by folder
	switches     []int                     // the accesses that set one
}

// walkText parses text as shell code and walks it.
func (w *walker) walkText(s *state, text string, in flow) {
	if problem := guardText(text); problem != "" {
		w.doubt("", umpire.Say("not parsed: %s", problem))
		return
	}
	if !w.enterLevel() {
		return
	}
	defer w.leaveLevel()
	code, err := readCode(text)
	if err != nil {
		w.doubt("", umpire.Say("not parsed: %s", err))
		return
	}
	if code.odd != "" {
		w.doubt("", code.odd)
	}
	if odd := hidesCode(code.text, code.file); odd != "" {
		w.doubt("", odd)
	}
	doubtDialect(w, s, code)
	walkLines(w, s, code.file.Stmts, in)
}

// enterLevel counts one more level of nesting, and reports whether it is within the limit.
func (w *walker) enterLevel() bool {
	if w.depth >= maxNesting {
		w.limit("nested too deeply")
		return false
	}
	w.depth++
	return true
}

func (w *walker) leaveLevel() { w.depth-- }

// openPart starts a new part; calling its result returns to the previous one.
func (w *walker) openPart() func() {
	before := w.part
	w.parts++
	w.part = w.parts
	return func() { w.part = before }
}

// countStatement counts one more statement, and reports whether to walk it. After a limit is
// reached nothing more is walked, so every loop ends.
func (w *walker) countStatement() bool {
	w.commands++
	if w.full || w.commands > maxCommands {
		w.limit("too many commands")
		return false
	}
	return true
}

func (w *walker) limit(what umpire.Phrase) {
	if !w.full {
		w.full = true
		w.doubt("", what)
	}
}

// emit adds an access to the current part.
func (w *walker) emit(a umpire.Access) {
	if len(w.accesses) >= maxAccesses {
		w.limit("too many accesses")
		return
	}
	if w.away > 0 {
		if a.Paths() {
			return
		}
		a.Risk, a.Code, a.Online, a.Dirs, a.CodeFiles = max(a.Risk, umpire.High), false, false, nil, nil
	}
	a.Part, a.Via = w.part, w.via
	w.accesses = append(w.accesses, a)
}

// doubt adds an access in doubt with its reason.
func (w *walker) doubt(program string, what umpire.Phrase) {
	w.accesses = append(w.accesses, umpire.Access{
		Kind: umpire.KindExec, Program: program, Risk: umpire.Medium,
		Reason: what, Doubt: what, Part: w.part, Via: w.via,
	})
}

// prependTo puts the knowledge in front of tables.
func (k *Knowledge) prependTo(tables []*[]program) []*[]program {
	if k == nil || len(k.programs) == 0 {
		return tables
	}
	return append([]*[]program{&k.programs}, tables...)
}

// doubtDialect doubts each construct that one of the code's shells reads differently from bash.
func doubtDialect(w *walker, s *state, code reading) {
	if s.shells == scan.Bash {
		return
	}
	w.reader.Find(code.text, code.file, s.shells, func(construct string, differing scan.Shells) {
		w.doubt("", umpire.Say("`%s` can do something else in another shell (%s)", construct, differing.String()))
	})
}
