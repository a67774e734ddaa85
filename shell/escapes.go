package shell

import (
	"strings"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Clients of databases, debuggers and editors hand lines to a shell that begin with a
// word of theirs. Such a line is judged as the command line that it is.
const (
	sqliteEscapes   = ".shell .system .sh .sy .sys"
	psqlEscapes     = `\!`
	mysqlEscapes    = `\! system`
	debuggerEscapes = "! shell she"
)

// walkEscapes walks what each text hands to a shell.
func walkEscapes(u *use, words string, texts ...word) {
	for _, text := range texts {
		for line := range strings.Lines(text.text) {
			for escape := range strings.FieldsSeq(words) {
				if code, found := cutEscape(strings.TrimSpace(line), escape); found {
					u.then(func() { u.w.walkCode(u.outsideState(), word{text: code, open: text.open}, flow{}) })
					break
				}
			}
		}
	}
}

// cutEscape is what follows an escape at the beginning of a line. A delimiter that is a word
// ends at a blank.
func cutEscape(line, escape string) (string, bool) {
	if len(line) < len(escape) || !strings.EqualFold(line[:len(escape)], escape) {
		return "", false
	}
	code := line[len(escape):]
	if !strings.HasSuffix(escape, "!") && strings.TrimLeft(code, " \t") == code {
		return "", false
	}
	return strings.TrimSpace(strings.TrimRight(code, ";")), true
}

// checkDebugger judges the commands that a debugger is given.
func checkDebugger(u *use) {
	checkWrapped(u)
	for _, g := range u.given {
		if g.has && scan.HasField("-ex -iex --eval-command --ex -o --one-line", g.name) {
			walkEscapes(u, debuggerEscapes, g.value)
		}
	}
}
