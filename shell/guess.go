package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
	"github.com/umpirehq/umpire/shell/internal/snippet"
)

// Code of another language than the shell's asks, whatever it says. In addition, commands and
// paths that are spelled out in it are guessed at: a guess that would destroy the system
// refuses the line, and no guess permits anything.

// codeLetters are the options with which interpreters take code from the line, a letter
// each. Others take it as with -e.
var codeLetters = []struct{ programs, letters string }{
	{
		"python python3 python2 pypy pypy3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 " +
			"python3.14 expect",
		"c",
	},
	{"fish csh tcsh pwsh powershell nu elvish xonsh", "c"},
	{"node nodejs iojs bun", "ep"}, {"perl julia", "eE"}, {"php", "rBRE"}, {"guile", "c"},
}

// guessCode guesses what code on the line does, or that on the standard input.
func guessCode(u *use) {
	language := u.program0()
	if scan.HasField("fish csh tcsh pwsh powershell nu elvish xonsh", language) {
		language = "sh"
	}
	codes := findCodeOnLine(u)
	if len(codes) == 0 && u.in.kind == flowText && readsCodeFromInput(u) {
		codes = []string{u.in.text}
	}
	for _, code := range codes {
		for _, act := range snippet.Find(language, code) {
			u.then(func() { guessAct(u, act) })
		}
	}
}

// findCodeOnLine are the words of the line that are code.
func findCodeOnLine(u *use) []string {
	letters := "e"
	for _, l := range codeLetters {
		if scan.HasField(l.programs, u.program0()) {
			letters = l.letters
		}
	}
	var codes []string
	args := argumentsOf(u)
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

// readsCodeFromInput reports an interpreter that no word gives a file to run.
func readsCodeFromInput(u *use) bool {
	for _, arg := range argumentsOf(u) {
		if arg.text == "-" {
			return true
		}
		if arg.open || !strings.HasPrefix(arg.text, "-") {
			return false
		}
	}
	return true
}

// guessedKinds are the accesses that acts are.
var guessedKinds = map[snippet.Kind]umpire.AccessKind{
	snippet.Delete: umpire.KindDelete, snippet.Write: umpire.KindWrite, snippet.Read: umpire.KindRead,
}

// guessAct walks one act apart from the line.
func guessAct(u *use, act snippet.Act) {
	walkApart(u.w, func(apart *walker) {
		s := u.outsideState()
		if act.Kind == snippet.Command {
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
	u.then(func() { guessAct(u, snippet.Act{Kind: snippet.Command, Text: line}) })
}

// maxGuessedText is how much of an unread file is guessed.
const (
	maxGuessedText  = 32 << 10 // bytes
	maxGuessedLines = 800
)

// guessText guesses what commands delete that a file spells out whose language is not
// read. Most of the file is about other recipes, so that nothing else counts.
func guessText(u *use, text string) {
	u.then(func() {
		before := len(u.w.guessed)
		for _, line := range commandsIn(text) {
			guessAct(u, snippet.Act{Kind: snippet.Command, Text: line})
		}
		deletes := func(a umpire.Access) bool { return a.Kind == umpire.KindDelete || a.Risk == umpire.Critical }
		kept := slices.DeleteFunc(slices.Clone(u.w.guessed[before:]), func(a umpire.Access) bool { return !deletes(a) })
		u.w.guessed = append(u.w.guessed[:before], kept...)
	})
}

// commandsIn are what may be command lines in a file: its lines, without what introduces a
// command there, and what stands between brackets and quotes.
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

// walkApart walks something apart from the line, so that no doubt about it is one about that.
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

// guessDefaults walks a command as it is where each variable has the value that stands for
// it: ${X:-/} may be /.
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
