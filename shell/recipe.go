package shell

import (
	"cmp"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// A Recipe is a name defined in a project's own files: a script of package.json, a target of a
// makefile. The zero value means that the name does not exist.
type Recipe struct {
	// File is the file that defines it, and Name its name there. File is "" if the name does
	// not exist.
	File, Name string
	// Dir is the folder in which it runs.
	Dir string
	// Lines are the command lines in order, each for a separate shell. Main is the index of the
	// line that gets the call's arguments, or -1.
	Lines []string
	Main  int
	// Vars are the variables that the file sets for its lines.
	Vars []string
	// Unread says why the file does not tell everything that runs. Lines are complete if it is
	// "".
	Unread string
	// Text is the known part of the file of an unread recipe without Lines. Commands in it are
	// guessed.
	Text string
}

// RunsRecipe is the reason of a program that starts command lines of the project: the lines, their file and name.
const RunsRecipe umpire.Phrase = "runs %s (%s: %s)"

// maxShownRecipe is the maximum length of a recipe in the reason of its access.
const maxShownRecipe = 200

// A followed is the result of followRecipe: no recipe, one that cannot be read, or the complete
// lines.
type followed int

const (
	noRecipe followed = iota
	unreadRecipe
	readRecipe
)

// followRecipe walks the command lines behind a name of the project. The accesses of the lines
// follow the program's own: a person's rule for the program covers them, but a denial of one of
// them applies.
func (u *use) followRecipe(program, name string, args []word, check bool) followed {
	if u.w.env.Recipe == nil || len(u.s.dirs) == 0 || len(u.unknown) > 0 || u.doubtful {
		return noRecipe
	}
	var found []Recipe
	result := readRecipe
	for _, dir := range u.s.dirs {
		r := u.w.env.Recipe(dir, program, name)
		switch {
		case r.File == "":
			result = min(result, noRecipe)
		case r.Unread != "" || len(args) > 0 && r.Main < 0 ||
			slices.ContainsFunc(r.Vars, func(v string) bool { return isListed(shellEnv, v) }):
			result = min(result, unreadRecipe)
		}
		found = append(found, r)
	}
	for _, r := range found {
		u.then(func() { walkRecipe(u.w, &r, args, check) })
		guessText(u, r.Text)
	}
	if result == readRecipe {
		lines := strings.Join(found[0].Lines, "; ")
		if len(lines) > maxShownRecipe {
			lines = strings.ToValidUTF8(lines[:maxShownRecipe], "") + "…"
		}
		u.become(umpire.Safe, umpire.Say(string(RunsRecipe), lines, found[0].File, found[0].Name))
	}
	return result
}

// followTargets follows the recipes that a program runs by their names. plain are the
// space-separated options that do not select other recipes.
func followTargets(u *use, program, plain string) {
	for _, wd := range u.words[1:] {
		name, _, _ := strings.Cut(wd.text, "=")
		if strings.HasPrefix(name, "-j") {
			name = "-j"
		}
		if !wd.known() || strings.HasPrefix(name, "-") && !scan.HasField(plain, name) {
			return
		}
	}
	targets := u.operands
	checks := len(targets) > 0 && len(u.unknown) == 0
	for _, target := range targets {
		if !target.known() || target.text == "" || strings.Contains(target.text, "=") || target.text[0] == '-' {
			return
		}
		checks = checks && scan.HasField(checkScripts, target.text)
	}
	if len(targets) == 0 {
		targets = []word{lit("")}
	}
	result, why := readRecipe, umpire.Phrase("")
	for _, target := range targets {
		result = min(result, u.followRecipe(program, target.text, nil, scan.HasField(checkScripts, target.text)))
		why = cmp.Or(why, u.why)
	}
	switch {
	case result == readRecipe:
		u.why, u.reads = why, true
	case result == unreadRecipe && checks:
		u.become(umpire.Safe, runsTests) // like packages with scripts that cannot be read
	default:
		u.adoptRisk(u.program)
	}
}

// walkRecipe walks the lines of a recipe. It stops at a recipe that leads to itself.
func walkRecipe(w *walker, r *Recipe, args []word, check bool) {
	key := r.Dir + "\x00" + r.File + "\x00" + r.Name
	if slices.Contains(w.following, key) || !w.enterLevel() {
		return
	}
	defer w.leaveLevel()
	before, via := len(w.accesses), w.via
	w.following, w.via = append(slices.Clip(w.following), key), w.part
	for i, line := range r.Lines {
		if i == r.Main {
			line = withArgs(line, args)
		}
		walkRecipeLine(w, r.Dir, line)
	}
	w.following, w.via = w.following[:len(w.following)-1], via
	for i := before; i < len(w.accesses); i++ {
		settleRecipe(&w.accesses[i], r.Dir, check)
	}
}

// settleRecipe turns an access in doubt in a recipe into unknown project code. If the project
// calls a check by its usual name, its accesses of medium risk count as the check, too.
func settleRecipe(a *umpire.Access, dir string, check bool) {
	unknown := a.Doubt != ""
	if !unknown && !(check && a.Kind == umpire.KindExec && a.Risk == umpire.Medium) {
		return
	}
	if unknown {
		a.Kind, a.Target, a.Reason, a.Doubt = umpire.KindExec, "", a.Doubt, ""
	}
	a.Code = true
	if len(a.Dirs) == 0 {
		a.Dirs = []string{dir}
	}
	if check && a.Risk == umpire.Medium {
		a.Risk = umpire.Safe
		if a.Consequence != umpire.Outward {
			a.Consequence = umpire.Reversible // like tests known by name
		}
	}
}

func walkRecipeLine(w *walker, dir, line string) {
	defer w.openPart()()
	defer beginShell(w)()
	s := newState(w.env)
	s.dirs = []string{dir}
	w.walkText(s, line, flow{})
}

// withArgs appends the arguments of the call to a line, as package managers do.
func withArgs(line string, args []word) string {
	var b strings.Builder
	b.WriteString(line)
	for _, arg := range args {
		if arg.known() {
			b.WriteString(" '" + strings.ReplaceAll(arg.text, "'", `'\''`) + "'")
		} else {
			b.WriteString(` "$umpire_argument"`) // an unknown variable
		}
	}
	return b.String()
}
