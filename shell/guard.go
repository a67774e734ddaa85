package shell

import (
	"strings"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// Limits on the input of the parser, which recurses for every nesting level and cannot be
// stopped: a Go stack overflow ends the process.
const (
	maxLine     = 1 << 20  // total bytes, including here-documents
	maxCode     = 48 << 10 // bytes outside here-documents
	maxWords    = 6000     // words outside here-documents
	maxBrackets = 200      // unclosed brackets and backquotes anywhere
	maxOpeners  = 20_000   // words that open a clause, anywhere
)

// guardText scans text once, from left to right, and returns why it must not be parsed, or "".
// In doubt it refuses: it counts brackets even in quotes and here-documents, because only the
// parser knows for sure where those end.
func guardText(text string) umpire.Phrase {
	if len(text) > maxLine {
		return umpire.Say("longer than %s bytes", maxLine)
	}
	if !utf8.ValidString(text) {
		return "not valid UTF-8"
	}
	if i := strings.IndexFunc(text, isControl); i >= 0 {
		return umpire.Say("holds the control character %q", text[i:i+1])
	}
	g := guardState{}
	for line := range strings.Lines(text) {
		if problem := g.scanLine(line); problem != "" {
			return problem
		}
	}
	return ""
}

// isControl reports whether terminals and shells disagree about a character.
func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
}

// guardState is the guard's state between two lines.
type guardState struct {
	code, words, open, openers int
	body                       string // delimiter of the current here-document
	plain                      bool   // every line so far was plain
	started                    bool
}

func (g *guardState) scanLine(line string) umpire.Phrase {
	if !g.started {
		g.started, g.plain = true, true
	}
	if problem := g.countNesting(line); problem != "" {
		return problem
	}
	if g.body != "" {
		if strings.Trim(line, "\t\n") == g.body {
			g.body = ""
		}
		return ""
	}
	g.code += len(line)
	g.words += len(strings.Fields(line))
	switch {
	case g.code > maxCode:
		return umpire.Say("more than %s bytes of code", maxCode)
	case g.words > maxWords:
		return umpire.Say("more than %s words", maxWords)
	}
	g.noteHeredoc(line)
	return ""
}

// countNesting counts the openers that make the parser recurse.
func (g *guardState) countNesting(line string) umpire.Phrase {
	ticks := 0
	for i := range len(line) {
		switch line[i] {
		case '(', '{', '[':
			g.open++
		case ')', '}', ']':
			g.open = max(g.open-1, 0)
		case '`':
			ticks++
		}
		if g.open+ticks/2 > maxBrackets {
			return "nested too deeply"
		}
	}
	for word := range strings.FieldsSeq(line) {
		if isOpener(strings.TrimLeft(word, ";&|(!")) || word[0] == '!' {
			g.openers++
		}
	}
	if g.openers > maxOpeners {
		return "nested too deeply"
	}
	return ""
}

// isOpener reports whether a word opens a clause.
func isOpener(word string) bool {
	switch word {
	case "if", "elif", "else", "while", "until", "for", "case", "select", "time", "coproc", "function", "!", "{", "[[":
		return true
	}
	return false
}

// noteHeredoc records the start of a here-document if it is beyond doubt: the line and all
// before it contain only characters that cannot open a quote, a bracket or arithmetic, so `<<`
// must be the operator. Otherwise its body counts as code.
func (g *guardState) noteHeredoc(line string) {
	before, after, found := strings.Cut(line, "<<")
	for i := range len(before) {
		if strings.IndexByte("'\"`\\()[]{}$#", before[i]) >= 0 {
			g.plain = false
		}
	}
	if !found || !g.plain || strings.Contains(before, "let ") || strings.HasPrefix(after, "<") {
		if strings.ContainsAny(line, "'\"`\\()[]{}$#") {
			g.plain = false
		}
		return
	}
	after = strings.TrimLeft(strings.TrimPrefix(after, "-"), " ")
	if i := strings.IndexAny(after, " \t\n;|&<>"); i >= 0 {
		after = after[:i]
	}
	delimiter := strings.Trim(after, "'\"")
	if delimiter != "" && !strings.ContainsAny(delimiter, "'\"\\$`") {
		g.body = delimiter
	}
}
