package shell

import (
	"strings"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Clients of databases, debuggers and editors pass lines that begin with an escape word to a
// shell. The rest of such a line is judged as a command line.
const (
	sqliteEscapes   = ".shell .system .sh .sy .sys"
	psqlEscapes     = `\!`
	mysqlEscapes    = `\! system`
	debuggerEscapes = "! shell she"
)

// walkEscapes walks the parts of the texts that go to a shell.
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

// cutEscape returns the text after an escape at the beginning of a line. An escape that is a
// word must end at a blank.
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

// checkDebugger judges the commands given to a debugger.
func checkDebugger(u *use) {
	checkWrapped(u)
	for _, g := range u.given {
		if g.has && scan.HasField("-ex -iex --eval-command --ex -o --one-line", g.name) {
			walkEscapes(u, debuggerEscapes, g.value)
		}
	}
}
