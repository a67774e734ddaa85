package shell

import (
	"slices"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// readsAndPrints is the reason for code in another language that provably does nothing else.
const readsAndPrints = "only reads files and prints"

// judgePythonCode judges Python code on the line, or on the standard input, that is known to
// only read and print. It reports false if anything about it is unknown.
func judgePythonCode(u *use) bool {
	code, args, ok := u.codeAndArguments("-c")
	if !ok || asksAlready(u) || u.gave("-W", "-x", "-X", "-i") {
		return false
	}
	p, ok := scan.ReadPython(code, args)
	if !ok || !u.gave("-I") && mayBeShadowed(u, scan.ShadowsPython) {
		return false
	}
	u.code = len(p.Packages) > 0
	concludeReading(u, p.Reads)
	return true
}

// concludeReading concludes that code reads some files and prints.
func concludeReading(u *use, files []scan.ReadPath) {
	u.operands = nil
	u.become(umpire.Safe, readsAndPrints)
	for _, file := range files {
		target := lit(file.Text)
		target.glob = file.Glob
		u.touch(umpire.KindRead, target, accessOf{tree: file.Tree, why: "the program reads it"})
	}
}

// asksAlready reports whether an option, or doubt, already asks.
func asksAlready(u *use) bool {
	return u.doubt != "" || u.doubtful || u.vague || len(u.unknown) > 0 || u.has(asks|harms|obeys)
}

// codeAndArguments returns the code that an interpreter gets by an option or on its standard
// input, and the arguments visible to the code, or nil if some are unknown.
func (p *parsed) codeAndArguments(option string) (code string, args []string, ok bool) {
	operands := p.operands
	switch given := p.got(option); {
	case given != nil:
		if !given.has || !given.value.known() {
			return "", nil, false
		}
		code = given.value.text
	case p.in.kind == flowText && (len(operands) == 0 || operands[0].text == "-" && operands[0].known()):
		code = p.in.text
		operands = operands[min(1, len(operands)):]
	default:
		return "", nil, false
	}
	if slices.ContainsFunc(operands, func(wd word) bool { return !wd.known() || wd.split }) {
		return code, nil, true
	}
	args = []string{}
	for _, wd := range operands {
		args = append(args, wd.text)
	}
	return code, args, true
}

// mayBeShadowed reports whether a file of the working folder takes the place of a module. It
// returns true if that is unknown.
func mayBeShadowed(u *use, shadows func(name string) bool) bool {
	if u.w.env.Entries == nil || len(u.s.dirs) == 0 {
		return true
	}
	for _, dir := range u.s.dirs {
		names, err := u.w.env.Entries(dir)
		if err != nil || slices.ContainsFunc(names, shadows) {
			return true
		}
	}
	return false
}

// isPython3 reports whether an interpreter runs Python 3.
func isPython3(name string) bool {
	return name == "python" || len(name) > 6 && name[:7] == "python3" || scan.HasField("pypy3", name)
}
