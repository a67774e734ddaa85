package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// checkAwk judges the program of awk.
func checkAwk(u *use) {
	programs := u.scripts()
	if len(programs) == 0 {
		u.doubt = "the program is not known before it runs"
	}
	for _, program := range programs {
		judgeAwkProgram(u, program)
	}
}

func judgeAwkProgram(u *use, program string) {
	facts := scan.ReadAwk(program)
	if facts.Problem != "" {
		u.doubt = umpire.Say("the program cannot be read: %s", facts.Problem)
		return
	}
	if facts.Reveals {
		u.askSecret("looks at the environment")
	}
	if facts.Steers {
		u.raiseTo(umpire.Medium, harmless, "chooses the files that it reads")
	}
	if facts.Loads {
		u.raise(umpire.Medium, "loads or calls code that is not known")
	}
	for _, name := range facts.Read {
		u.touch(umpire.KindRead, wordOf(name), accessOf{why: "the program reads it"})
	}
	for _, name := range facts.Written {
		u.writesFile(wordOf(name), "the program writes a file")
	}
	for _, feed := range facts.Fed {
		if scan.HasField(shellNames, baseName(firstWord(feed.Command))) {
			guessCommand(u, feed.Text)
		}
	}
	for _, name := range facts.Ran {
		command := wordOf(name)
		if command.known() && scan.HasField(awkFilters, firstWord(command.text)) {
			s := u.outsideState()
			u.then(func() { u.w.walkCode(s, command, flow{kind: flowForeign, from: u.program0()}) })
			continue
		}
		u.runsCommand(command, "the program runs another one")
	}
}

// wordOf converts a text of an awk program into a word of the line.
func wordOf(t scan.AwkText) word {
	if !t.Known {
		return word{open: true}
	}
	return lit(t.Value)
}

// shellNames are the shells that run piped input.
const shellNames = "sh bash dash zsh ksh ash mksh"

// awkFilters are programs that awk often pipes into; they are judged like programs on the line.
const awkFilters = "sort uniq head tail wc cut column"

// scripts returns variants of scriptText: if only numbers are unknown, it fills in one number,
// none, and several.
func (a *arguments) scripts() []string {
	text, ok := a.scriptShape()
	switch {
	case !ok:
		return nil
	case !strings.Contains(text, someNumber):
		return []string{text}
	}
	var all []string
	for _, n := range [...]string{"1", "", "1\n1"} {
		all = append(all, strings.ReplaceAll(text, someNumber, n))
	}
	return all
}

// scriptText returns the program given to awk or sed, by -e or as the first operand. It reports
// false if a part of it is unknown.
func (a *arguments) scriptText() (string, bool) {
	text, ok := a.scriptShape()
	return text, ok && !strings.Contains(text, someNumber)
}

// scriptShape returns the script with someNumber for each unknown number.
func (a *arguments) scriptShape() (string, bool) {
	var pieces []string
	for _, g := range a.given {
		if !g.means("-e") {
			continue
		}
		text, ok := g.value.whole()
		if !ok {
			return "", false
		}
		pieces = append(pieces, text)
	}
	if a.has(lead) {
		return strings.Join(pieces, "\n"), true
	}
	if len(a.operands) == 0 {
		return "", true
	}
	return a.operands[0].whole()
}

// writesFile records that code in an argument writes a file.
func (u *use) writesFile(name word, why umpire.Phrase) {
	if name.known() && scan.HasField("/dev/stdout /dev/stderr /dev/null -", name.text) {
		return
	}
	u.raiseTo(umpire.Medium, reversible, why)
	u.touch(umpire.KindWrite, name, accessOf{why: why})
}

// runsCommand records that code in an argument runs shell code.
func (u *use) runsCommand(code word, why umpire.Phrase) {
	u.raise(umpire.Medium, why)
	s := u.outsideState()
	u.then(func() { u.w.walkCode(s, code, flow{kind: flowForeign, from: u.program0()}) })
}
