package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// judgeOperands judges every operand according to the program's args.
func (u *use) judgeOperands() {
	operands := u.operands
	kinds := u.operandKinds()
	for i := 0; i < len(operands); i++ {
		kind := kindAt(kinds, i, len(operands))
		if kind == "command" || kind == "shell" {
			u.walkRest(kind, operands[i:])
			return
		}
		if kind == "env" {
			if name, _, ok := operands[i].after("="); ok && name != "" {
				judgePrefix(u.w, name, operands[i].cut(len(name)+1))
				u.operands = append(operands[:i:i], operands[i+1:]...)
				operands = u.operands
				i--
				continue
			}
			kinds = kinds[1:]
			i--
			continue
		}
		u.judgeOperand(kind, operands[i])
		if operands[i].glob {
			checkGlobOperand(u, kinds, i, operands[i])
		}
	}
}

// checkGlobOperand judges a wildcard that may expand to several words, which may take the place
// of the operands after it.
func checkGlobOperand(u *use, kinds []string, i int, operand word) {
	for _, kind := range kinds[min(i+1, len(kinds)):] {
		if scan.HasField("write delete", strings.TrimSuffix(kind, "…")) {
			u.raiseTo(umpire.Medium, reversible,
				umpire.Say("the matches of %s may be among what it writes", operand.display()))
			return
		}
	}
}

// operandKinds returns the kinds in the program's args that apply.
func (p *parsed) operandKinds() []string {
	kinds := strings.Fields(p.program.args)
	if p.has(lead) && len(kinds) > 1 {
		kinds = kinds[1:]
	}
	if p.has(last) && len(kinds) > 1 {
		kinds = kinds[:len(kinds)-1]
	}
	return kinds
}

// kindAt returns the kind of operand i of n.
func kindAt(kinds []string, i, n int) string {
	for k, kind := range kinds {
		bare, repeats := strings.CutSuffix(kind, "…")
		if !repeats {
			if i == k {
				return bare
			}
			continue
		}
		after := len(kinds) - k - 1
		if i < n-after {
			return bare
		}
		return kinds[len(kinds)-(n-i)]
	}
	if len(kinds) == 0 {
		return "data"
	}
	return "extra"
}

func (u *use) judgeOperand(kind string, operand word) {
	of := accessOf{tree: u.has(walks), follows: u.followsLinks()}
	switch kind {
	case "data":
	case "read":
		u.readOrChange(operand, of)
	case "tree":
		of.tree = true
		u.readOrChange(operand, of)
	case "write":
		u.touch(umpire.KindWrite, operand, of)
	case "delete":
		u.touch(umpire.KindDelete, operand, of)
	case "dir":
		u.touch(umpire.KindRead, operand, of)
	case "host":
		u.then(func() { u.w.network(operand.display(), umpire.Say("%s reaches it", u.program0())) })
	case "script":
		walkPrintedCode(u, operand)
		u.runsFile(operand)
		u.code = true
		u.raise(umpire.Medium, umpire.Say(RunsCodeOf, operand.display()))
		u.touch(umpire.KindRead, operand, of)
	case "code":
		u.runsFile(operand)
		u.raise(umpire.Medium, runsUnjudged)
	case "none", "extra":
		u.raise(umpire.Medium, umpire.Say("takes no argument %s", operand.display()))
	default:
		u.doubt = umpire.Say("the table of %s is wrong", u.table)
	}
}

// walkPrintedCode walks the code of a script that a process substitution prints.
func walkPrintedCode(u *use, script word) {
	if script.prints != "" && scan.HasField("source sh bash dash zsh ksh", u.program.name()) {
		s := u.outsideState()
		if u.program.name() == "source" {
			s = u.s.clone()
		}
		u.then(func() { u.w.walkCode(s, lit(script.prints), flow{}) })
	}
}

// readOrChange emits the access of an operand that is read unless an option says that it is
// changed or removed.
func (u *use) readOrChange(operand word, of accessOf) {
	switch {
	case operand.text == "-" && !operand.open:
	case u.has(drops):
		u.touch(umpire.KindDelete, operand, of)
	case u.has(edits):
		u.touch(umpire.KindWrite, operand, of)
	default:
		u.touch(umpire.KindRead, operand, of)
	}
}

// walkRest walks the remaining words as a separate command.
func (u *use) walkRest(kind string, words []word) {
	s, in := u.outsideState(), u.in
	if kind == "shell" {
		u.then(func() { u.w.walkCode(s, joinWithBlanks(words), in) })
		return
	}
	u.then(func() {
		defer u.w.openPart()()
		u.ran++
		u.printed = u.w.runWords(s, words, in)
	})
	if len(u.unknown) > 0 || u.doubtful {
		walkSuspects(u, words[min(1, len(words)):])
	}
}

// joinWithBlanks joins words with blanks, as eval and ssh do.
func joinWithBlanks(words []word) word {
	if len(words) == 0 {
		return word{}
	}
	parts := make([]string, len(words))
	for i, wd := range words {
		if !wd.known() {
			return word{open: true}
		}
		parts[i] = wd.text
	}
	return lit(strings.Join(parts, " "))
}

// walkCode walks a word as shell code.
func (w *walker) walkCode(s *state, text word, in flow) {
	if !text.known() && !text.glob {
		w.doubt("sh", "runs code that is not known before it runs")
		return
	}
	defer w.openPart()()
	w.walkText(s, text.text, in)
}

// takeOperands returns the operands, and leaves none to the kinds in the program's args.
func (a *arguments) takeOperands() []word {
	operands := a.operands
	a.operands = nil
	return operands
}
