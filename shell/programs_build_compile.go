package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// syntaxOptions are the options of gcc and clang that may accompany -fsyntax-only: they do not
// start programs, read option files, load plugins or write. The options of syntaxBeginnings
// have their value attached.
const (
	syntaxOptions = "-fsyntax-only -pedantic -pedantic-errors -ansi -pthread -w -g -c -m32 -m64 -nostdinc -fopenmp " +
		"-fno-exceptions -fno-rtti -fPIC -fpic -fdiagnostics-color -fno-diagnostics-color -fcolor-diagnostics " +
		"-fmax-errors=0"
	syntaxBeginnings = "-W -std= -D -U -O -fdiagnostics-color= -fmax-errors= -ferror-limit="
	syntaxFolders    = "-I -isystem -iquote -include"
)

// checkSyntaxOnly judges a compiler that only checks the syntax of its input.
func checkSyntaxOnly(u *use) {
	checkCompiler(u)
	args := u.rawArguments()
	only := false
	var reads []word
	for i := 0; i < len(args); i++ {
		arg := args[i]
		folder, rest := folderOption(arg)
		switch {
		case arg.open || strings.HasPrefix(arg.text, "@") || arg.text == "-":
			return
		case !strings.HasPrefix(arg.text, "-"):
			reads = append(reads, arg)
		case folder && rest.text != "":
			reads = append(reads, rest)
		case folder && i+1 < len(args):
			i++
			reads = append(reads, args[i])
		case scan.HasField(syntaxOptions, arg.text):
			only = only || arg.text == "-fsyntax-only"
		case !strings.HasPrefix(arg.text, "-Wl,") && !strings.HasPrefix(arg.text, "-Wa,") &&
			!strings.HasPrefix(arg.text, "-Wp,") && beginsWithField(arg.text, syntaxBeginnings):
		default:
			return
		}
	}
	if !only {
		return
	}
	u.become(umpire.Safe, "checks the syntax")
	u.operands, u.spoke = nil, ""
	u.touchAll(umpire.KindRead, reads, accessOf{})
}

// folderOption reports whether an option names a folder for includes, and returns an attached name.
func folderOption(arg word) (is bool, attached word) {
	for option := range strings.FieldsSeq(syntaxFolders) {
		if rest, found := strings.CutPrefix(arg.text, option); found && (rest == "" || option == "-I") {
			return true, word{text: rest, glob: arg.glob}
		}
	}
	return false, word{}
}

func beginsWithField(text, list string) bool {
	for beginning := range strings.FieldsSeq(list) {
		if strings.HasPrefix(text, beginning) {
			return true
		}
	}
	return false
}

// checkTree judges uv tree. It first updates the lock file, and for that builds packages
// without metadata, unless an option freezes the lock.
func checkTree(u *use) {
	if u.gave("--frozen") && !u.gave("--outdated") {
		u.become(umpire.Safe, listsPackages)
	}
}

// checkPkgConfig records the files of modules given by path.
func checkPkgConfig(u *use) {
	for _, operand := range u.operands {
		if operand.open || strings.Contains(operand.text, "/") || strings.HasSuffix(operand.text, ".pc") {
			u.touch(umpire.KindRead, operand, accessOf{})
		}
	}
	u.operands = nil
}
