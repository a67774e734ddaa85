package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Code in another language than the shell's always asks. In addition, its literal commands and
// paths are guessed at: a guess that would destroy the system refuses the line, and no guess
// permits anything.

// codeLetters are the one-letter options with which interpreters take code from the line. Other
// interpreters use -e.
var codeLetters = []struct{ programs, letters string }{
	{
		"python python3 python2 pypy pypy3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 " +
			"python3.14 expect",
		"c",
	},
	{"fish csh tcsh pwsh powershell nu elvish xonsh", "c"},
	{"node nodejs iojs bun", "ep"}, {"perl julia", "eE"}, {"php", "rBRE"}, {"guile", "c"},
}

// guessCode guesses the effects of code on the line or on the standard input.
func guessCode(u *use) {
	language := u.program0()
	if scan.HasField("fish csh tcsh pwsh powershell nu elvish xonsh", language) {
		language = "sh"
	}
	codes := u.findCodeOnLine()
	if len(codes) == 0 && u.in.kind == flowText && u.readsCodeFromInput() {
		codes = []string{u.in.text}
	}
	for _, code := range codes {
		for _, act := range scan.FindActs(language, code) {
			u.then(func() { guessAct(u, act) })
		}
	}
}

// findCodeOnLine returns the words of the line that are code.
func (p *parsed) findCodeOnLine() []string {
	letters := "e"
	for _, l := range codeLetters {
		if scan.HasField(l.programs, p.program0()) {
			letters = l.letters
		}
	}
	var codes []string
	args := p.rawArguments()
	for i, arg := range args {
		last, before := len(arg.text)-1, ""
		if i > 0 {
			before = args[i-1].text
		}
		option, value, attached := strings.Cut(arg.text, "=")
		switch {
		case !arg.known() || last < 1:
		case scan.HasField("--eval -eval --print --execute --run --command -Command", before),
			before == "eval" && i == 1,
			len(before) > 1 && before[0] == '-' && before[1] != '-' &&
				strings.IndexByte(letters, before[len(before)-1]) >= 0:
			codes = append(codes, arg.text)
		case attached && scan.HasField("--eval -eval --print --execute --run --command", option):
			codes = append(codes, value)
		case arg.text[0] == '-' && strings.IndexByte(letters, arg.text[1]) >= 0 &&
			strings.ContainsAny(arg.text, "('\"`{ "):
			codes = append(codes, arg.text[2:])
		}
	}
	return codes
}

// readsCodeFromInput reports whether no argument gives an interpreter a file to run.
func (p *parsed) readsCodeFromInput() bool {
	for _, arg := range p.rawArguments() {
		if arg.text == "-" {
			return true
		}
		if arg.open || !strings.HasPrefix(arg.text, "-") {
			return false
		}
	}
	return true
}

// guessedKinds maps acts to accesses.
var guessedKinds = map[scan.ActKind]umpire.AccessKind{
	scan.ActDelete: umpire.KindDelete, scan.ActWrite: umpire.KindWrite, scan.ActRead: umpire.KindRead,
}

// guessAct walks one act apart from the line.
func guessAct(u *use, act scan.Act) {
	walkApart(u.w, func(apart *walker) {
		s := u.outsideState()
		if act.Kind == scan.ActCommand {
			apart.walkCode(s, lit(act.Text), flow{})
			return
		}
		target := lit(act.Text)
		if rest, ok := strings.CutPrefix(act.Text, "~"); ok && (rest == "" || rest[0] == '/') {
			target = homeOf(s, "")
			target.text += rest
		}
		target.glob = act.Glob
		apart.path(s, guessedKinds[act.Kind], target, accessOf{tree: act.Tree, table: u.table})
	})
}

// guessCommand guesses that a line of shell code runs.
func guessCommand(u *use, line string) {
	u.then(func() { guessAct(u, scan.Act{Kind: scan.ActCommand, Text: line}) })
}

// maxGuessedText is the maximum part of an unread file to guess.
const (
	maxGuessedText  = 32 << 10 // bytes
	maxGuessedLines = 800
)

// guessText guesses the deletions of commands spelled out in a file in an unknown language.
// Most of the file is about other recipes, so nothing else counts.
func guessText(u *use, text string) {
	u.then(func() {
		before := len(u.w.guessed)
		for _, line := range commandsIn(text) {
			guessAct(u, scan.Act{Kind: scan.ActCommand, Text: line})
		}
		deletes := func(a umpire.Access) bool { return a.Kind == umpire.KindDelete || a.Risk == umpire.Critical }
		kept := slices.DeleteFunc(slices.Clone(u.w.guessed[before:]), func(a umpire.Access) bool { return !deletes(a) })
		u.w.guessed = append(u.w.guessed[:before], kept...)
	})
}

// commandsIn returns possible command lines in a file: its lines, without command prefixes, and
// the text between brackets and quotes.
func commandsIn(text string) (lines []string) {
	add := func(line string) {
		line = strings.TrimPrefix(strings.Trim(line, " \t\r\n-@+&|;,"), "shell ")
		if strings.Contains(line, " ") && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for line := range strings.Lines(strings.ToValidUTF8(text[:min(len(text), maxGuessedText)], "")) {
		add(line)
		if _, value, found := strings.Cut(line, ":"); found {
			add(value)
		}
		for _, marks := range []string{"()[]{}\"'", "()[]{}\"',;"} {
			spells := func(r rune) bool { return strings.ContainsRune(marks, r) }
			for piece := range strings.FieldsFuncSeq(line, spells) {
				add(piece)
			}
		}
	}
	return lines[:min(len(lines), maxGuessedLines)]
}

// walkApart walks something apart from the line, so its doubts do not affect the line.
func walkApart(w *walker, walk func(*walker)) {
	if !w.enterLevel() {
		return
	}
	defer w.leaveLevel()
	apart := &walker{env: w.env, tables: w.tables, coded: w.coded, depth: w.depth, commands: w.commands, away: w.away}
	walk(apart)
	w.commands = apart.commands
	w.guessed = append(append(w.guessed, apart.accesses...), apart.guessed...)
}

func partHasDefault(part syntax.WordPart) bool {
	switch part := part.(type) {
	case *syntax.ParamExp:
		return part.Exp != nil && part.Exp.Word != nil && operatorHasDefault(part.Exp.Op)
	case *syntax.DblQuoted:
		return slices.ContainsFunc(part.Parts, partHasDefault)
	}
	return false
}

// guessDefaults walks a command with default values for its variables: ${X:-/} may be /.
func guessDefaults(w *walker, s *state, args []*syntax.Word, in flow) {
	walkApart(w, func(apart *walker) {
		apart.defaults = true
		words := apart.expandWords(s, args)
		apart.defaults = false
		apart.accesses = nil // of substitutions, which the line itself has
		if len(words) > 0 {
			apart.runWords(s, words, in)
		}
	})
}
