package shell

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/dialect"
)

// Env describes the shell that would run the line. With the zero value relative paths and ~
// are in doubt. Its functions are called during Parse only, and may be nil.
type Env struct {
	Dir  string // absolute working directory
	Home string // absolute home directory of the user
	// IsDir, when set, reports whether an absolute path is a folder now. With it
	// `cd x; y` need not be judged for the case that cd fails.
	IsDir func(path string) bool
	// Git, when set, returns the own settings of the repository that git would find from a
	// folder. Such settings can make read-only subcommands run programs. It is called only
	// for lines that start git. An error says that they could not be read, and git then asks.
	// Without it a line is read as if no repository named a program; place.Bounds.Env sets
	// it.
	Git func(dir string) ([]GitSetting, error)
	// GitTop, when set, returns the top folder of the work tree that git would find from a
	// folder, or "".
	GitTop func(dir string) string
	// Settings, when set, returns the files of these names in a folder and those above it, up
	// to the person's home, which is left out. It is called only for programs that ask a
	// server which such a file could choose. An error says that one could not be read, and
	// the program then asks.
	Settings func(dir string, names []string) ([]SettingsFile, error)
	// Find, when set, looks for files in a folder and those above it, as far as the project
	// reaches. It returns the path of the first one that exists, or "". A name may be a path.
	Find func(dir string, names ...string) string
	// Entries, when set, returns the names of the entries of a folder.
	Entries func(dir string) ([]string, error)
	// Recipe, when set, returns what a program runs by a name that the project gave: npm,
	// pdm, hatch and poe by that of a script, make, just and task by that of a target, "" for
	// the default one.
	Recipe func(dir, program, name string) Recipe
	// Shell is the name of the shell that will run the line, such as bash, or "" if it is not
	// known. Constructs that shells read differently are then in doubt.
	Shell string
	// Programs are known in addition to those of the built-in tables.
	Programs *Knowledge
}

// Limits of one line. Beyond them the rest is in doubt.
const (
	maxCommands  = 4000 // statements walked, each round of a loop anew
	maxNesting   = 64   // functions, substitutions and shells within each other
	maxAccesses  = 8000
	maxVariables = 500
	maxExpanded  = 60_000 // words that expansion makes
)

// Parse returns what running line would do, in the order of execution. It never
// returns an empty slice: a line that holds no command is one harmless access,
// and a line that cannot be read is one access in doubt.
func Parse(line string, env Env) []umpire.Access {
	accesses, _ := ParseCode(line, env)
	return accesses
}

// ParseCode is Parse that also returns what code of other languages on the line seems to do.
// The guesses may be wrong in either direction: use them to refuse, never to permit.
func ParseCode(line string, env Env) (accesses, guesses []umpire.Access) {
	w := &walker{env: env, tables: env.Programs.prependTo(families[:]), coded: codeFamilies[:]}
	s := newState(env)
	s.shells = dialect.Of(env.Shell)
	w.walkText(s, line, flow{})
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
	defaults     bool                // variables have the values that stand for them
	guessed      []umpire.Access     // what code of other languages seems to do
	met          map[string]*program // what lookup has found, nil for nothing
	commands     int
	expanded     int // words that expansion made
	joined       int // variables that were compared where bodies are left
	depth        int
	part         int                       // the simple command being walked
	parts        int                       // how many there were
	via          int                       // the part whose recipe is being walked, 0 for none
	following    []string                  // the recipes being walked
	away         int                       // how many containers or machines deep what is walked runs
	guesses      int                       // words that were walked as the beginning of a command
	full         bool                      // a limit was met and reported
	recursed     bool                      // a function that calls itself was reported
	trapped      bool                      // code is set to run later
	evaluated    evaluation                // what the arithmetic of the line may run
	arrays       arrayNames                // which variables may be arrays
	reader       dialect.Reader            // of the text that is read
	locals       map[string]value          // of the function being walked: what they were outside
	exits        []*exitState              // the loops and functions being walked
	dropped      *exitState                // the line being walked
	repositories map[string]*gitRepository // by folder
}

// walkText reads text as shell code and walks it.
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

// enterLevel counts one more level of nesting, and reports whether it may be walked.
func (w *walker) enterLevel() bool {
	if w.depth >= maxNesting {
		w.limit("nested too deeply")
		return false
	}
	w.depth++
	return true
}

func (w *walker) leaveLevel() { w.depth-- }

// openPart starts a new part; calling what it returns goes back to the one before.
func (w *walker) openPart() func() {
	before := w.part
	w.parts++
	w.part = w.parts
	return func() { w.part = before }
}

// countStatement counts one more statement, and reports whether it may be walked. Once a
// limit is met nothing more is walked, so that every loop ends.
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

// doubt adds an access that says that something could not be known.
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

// doubtDialect doubts each construct of the code that not all of its shells read as bash does.
func doubtDialect(w *walker, s *state, code reading) {
	if s.shells == dialect.Bash {
		return
	}
	w.reader.Find(code.text, code.file, s.shells, func(construct string, differing dialect.Set) {
		w.doubt("", umpire.Say("`%s` can do something else in another shell (%s)", construct, differing.String()))
	})
}
