package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// checkSed parses the scripts of sed and judges their effects.
func checkSed(u *use) {
	if u.got("-l") != nil && strings.Trim(u.got("-l").value.text, "0123456789") != "" {
		u.doubt = "the value of -l is not a number" // for some versions -l takes no value
	}
	u.skipSuffix()
	u.doubtSuffix("-i", "-I", "--in-place")
	script, ok := u.scriptShape()
	if !ok || !numbersAddress(script) {
		u.doubt = doubtScript
		return
	}
	facts := scan.ReadSed(strings.ReplaceAll(script, someNumber, "1"))
	if facts.Problem != "" {
		u.doubt = umpire.Say("the script cannot be read: %s", facts.Problem)
		return
	}
	for _, name := range facts.Read {
		u.touch(umpire.KindRead, lit(name), accessOf{why: "the script reads it"})
	}
	for _, name := range facts.Written {
		u.writesFile(lit(name), "the script writes a file")
	}
	for _, command := range facts.Ran {
		u.runsCommand(lit(command), "the script runs a program")
	}
	if facts.RunsInput {
		u.raise(umpire.Medium, "the script runs its input as shell code")
		u.doubt = "the code is not known before it runs"
	}
}

// numbersAddress reports whether a script contains no unknown numbers, or only addresses and
// commands that select lines. Its effects are then the same for any numbers.
func numbersAddress(script string) bool {
	return !strings.Contains(script, someNumber) || strings.Trim(script, someNumber+"0123456789,$~+ "+
		"!;\n{}pdqQ=nNPDgGhHx") == ""
}

// skipSuffix skips the suffix of -i if it is a separate word, as BSD requires.
func (a *arguments) skipSuffix() {
	edit := a.got("-i", "-I")
	if edit == nil || edit.has || len(a.operands) == 0 || !a.operands[0].known() {
		return
	}
	suffix := a.operands[0].text
	if suffix == "" || suffix[0] == '.' && !strings.ContainsAny(suffix, "/ ;") {
		a.operands = a.operands[1:]
	}
}

// selects returns the output of sed: with a script that only selects lines, those lines.
func selects(u *use, in flow) flow {
	script, ok := u.scriptText()
	files := len(u.operands) - 1
	if u.has(lead) {
		files++
	}
	if !ok || files > 0 || u.has(edits) {
		return foreignFlow("sed")
	}
	if facts := scan.ReadSed(script); facts.Problem != "" || facts.Changes {
		return foreignFlow("sed")
	}
	return pickedFlow(in, "sed")
}

// plainSuffixes make names of backups that no program obeys.
const plainSuffixes = "~ .bak .orig .old .backup .tmp"

// doubtSuffix doubts a program that keeps backups under a suffix which may produce the name of
// any file: sed even accepts a folder and a * in it.
func (u *use) doubtSuffix(names ...string) {
	given := u.got(names...)
	if given != nil && given.has && !(given.value.known() && scan.HasField(plainSuffixes, given.value.text)) {
		u.doubt = "the suffix may make the name of another file"
	}
}
