package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// A sedScript is what a script of sed would do besides editing its text.
type sedScript struct {
	read, written []string // files of r, R, w, W and the flag w
	ran           []string // commands of e
	runsInput     bool     // the flag e, or e alone: the text itself is the command
	changes       bool     // prints something else than lines that it read
	problem       string   // why the script cannot be read
}

// readSed reads a script.
func readSed(text string) sedScript {
	r := sedReader{text: text}
	r.script()
	return r.out
}

// A sedReader reads a script from left to right. What it does not understand it
// refuses: a command that is missed could write a file or run a program.
type sedReader struct {
	text  string
	pos   int
	depth int
	// labelled says that a label ended at a semicolon on this line. Elsewhere it
	// would have gone on to the end of the line, so nothing may cross that.
	labelled bool
	out      sedScript
}

func (r *sedReader) fail(why string) {
	if r.out.problem == "" {
		r.out.problem = why
	}
	r.pos = len(r.text)
}

// peek returns the next byte, or 0 at the end.
func (r *sedReader) peek() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

func (r *sedReader) skip(set string) {
	for r.pos < len(r.text) && strings.IndexByte(set, r.text[r.pos]) >= 0 {
		if r.text[r.pos] == '\n' {
			r.labelled = false
		}
		r.pos++
	}
}

// line takes what is left of the line.
func (r *sedReader) line() string {
	rest := r.text[r.pos:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	r.pos += len(rest)
	return rest
}

func (r *sedReader) script() {
	if strings.IndexByte(r.text, 0) >= 0 {
		r.fail("it holds a zero byte")
	}
	for {
		r.skip(" \t\r\n;")
		if r.pos >= len(r.text) {
			break
		}
		if r.peek() == '#' {
			r.line()
			continue
		}
		r.addresses()
		r.command()
	}
	if r.depth != 0 && r.out.problem == "" {
		r.out.problem = "its braces do not match"
	}
}

// addresses reads what stands before a command.
func (r *sedReader) addresses() {
	if r.address("") {
		r.skip(" \t")
		if r.peek() == ',' {
			r.pos++
			r.skip(" \t")
			if !r.address("+~") {
				r.fail("an address is missing after a comma")
			}
		}
	}
	r.skip(" \t")
	for r.peek() == '!' {
		r.pos++
		r.skip(" \t")
	}
}

// address reads one address; prefix are the signs that may precede its number.
func (r *sedReader) address(prefix string) bool {
	const digits = "0123456789"
	c := r.peek()
	switch {
	case c == 0:
		return false
	case c == '$':
		r.pos++
	case strings.IndexByte(digits, c) >= 0:
		r.skip(digits)
		if r.peek() == '~' {
			r.pos++
			r.skip(digits)
		}
	case strings.IndexByte(prefix, c) >= 0:
		r.pos++
		r.skip(digits)
	case c == '/':
		r.pos++
		r.delimited('/', true)
		r.skip("IM")
	case c == '\\' && r.pos+1 < len(r.text):
		r.pos += 2
		r.delimited(r.text[r.pos-1], true)
		r.skip("IM")
	default:
		return false
	}
	return true
}

// delimited reads up to a delimiter. Within an expression a bracket list may
// hold the delimiter.
func (r *sedReader) delimited(delimiter byte, expression bool) {
	if delimiter == '\n' || delimiter == '\\' {
		r.fail("a delimiter is not one")
	}
	for r.pos < len(r.text) {
		c := r.text[r.pos]
		r.pos++
		switch {
		case c == delimiter:
			return
		case c == '\n':
			r.fail("an expression is not ended")
		case c == '\\' && r.pos < len(r.text):
			if r.text[r.pos] == '\n' && (expression || r.labelled) {
				r.fail("an expression crosses the end of its line")
			}
			r.pos++
		case c == '[' && expression:
			r.list()
		}
	}
	r.fail("an expression is not ended")
}

// list reads a bracket list whose opening is behind. A delimiter within it does
// not end the expression; to versions of sed for which it does, the list that is
// cut off is an error.
func (r *sedReader) list() {
	n := bracketList(r.text[r.pos:])
	if n < 0 {
		r.fail("a list in brackets is not ended")
		return
	}
	r.pos += n
}

// bracketList returns the length of a bracket list after its opening, with its
// end, or -1 when it has none on its line or holds more than names of classes.
func bracketList(text string) int {
	i := 0
	if strings.HasPrefix(text, "^") {
		i++
	}
	if strings.HasPrefix(text[i:], "]") {
		i++
	}
	for i < len(text) && text[i] != '\n' {
		switch {
		case text[i] == ']':
			return i + 1
		case text[i] == '[' && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0:
			name, _, ended := strings.Cut(text[i+2:], ":]")
			if text[i+1] != ':' || !ended || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
				return -1
			}
			i += len("[:") + len(name) + len(":]")
		default:
			i++
		}
	}
	return -1
}

// command reads one command after its addresses.
func (r *sedReader) command() {
	c := r.peek()
	r.pos++
	switch c {
	case '{':
		r.depth++
	case '}':
		r.depth--
		if r.depth < 0 {
			r.fail("its braces do not match")
		}
		r.end()
	case 'd', 'D', 'n', 'N', 'p', 'P', 'h', 'z':
		r.end()
	case '=', 'g', 'G', 'H', 'x', 'F':
		r.out.changes = true
		r.end()
	case 'q', 'Q', 'l', 'L':
		r.out.changes = r.out.changes || c == 'l' || c == 'L'
		r.skip(" \t")
		r.skip("0123456789")
		r.end()
	case 'a', 'i', 'c':
		r.out.changes = true
		r.insertion()
	case ':', 'b', 't', 'T', 'v':
		r.label(c == ':')
	case 'r', 'R', 'w', 'W', 'e':
		r.out.changes = true
		r.file(c)
	case 's':
		r.out.changes = true
		r.substitution()
	case 'y':
		r.out.changes = true
		r.pair(false)
		r.end()
	default:
		r.fail("a command is not known")
	}
}

// end reads what may follow a command.
func (r *sedReader) end() {
	r.skip(" \t\r")
	if r.pos < len(r.text) && strings.IndexByte("\n;#}", r.peek()) < 0 {
		r.fail("something follows a command")
	}
}

// insertion reads the text of a, i and c: to the end of the line, and on where
// the line ends with a backslash.
func (r *sedReader) insertion() {
	r.skip(" \t")
	if r.pos >= len(r.text) || r.peek() == '\n' {
		r.fail("a text is missing")
		return
	}
	for r.pos < len(r.text) && r.peek() != '\n' {
		if r.peek() == '\\' {
			r.pos++
			if r.peek() == '\n' && r.labelled {
				r.fail("a text crosses the end of its line")
			}
		}
		r.pos++
	}
	r.pos = min(r.pos, len(r.text))
}

// label reads the label of a jump.
func (r *sedReader) label(target bool) {
	r.skip(" \t")
	start := r.pos
	for r.pos < len(r.text) && strings.IndexByte(" \t\r\n;}", r.peek()) < 0 {
		r.pos++
	}
	if target && (r.pos == start || r.peek() == '}') {
		r.fail("a label is not one")
	}
	r.labelled = r.labelled || r.peek() == ';' || r.peek() == '}'
	r.end()
}

// file reads the name of a file, or the command of e: all that is left of the line.
func (r *sedReader) file(c byte) {
	r.skip(" \t")
	name := r.line()
	switch {
	case c == 'e' && name == "":
		r.out.runsInput = true
	case c == 'e':
		r.out.ran = append(r.out.ran, name)
	case name == "":
		r.fail("a file name is missing")
	case c == 'r' || c == 'R':
		r.out.read = append(r.out.read, name)
	default:
		r.out.written = append(r.out.written, name)
	}
}

// pair reads both halves of s and y.
func (r *sedReader) pair(expression bool) {
	if r.pos >= len(r.text) {
		r.fail("an expression is not ended")
		return
	}
	delimiter := r.text[r.pos]
	r.pos++
	r.delimited(delimiter, expression)
	if r.out.problem == "" {
		r.delimited(delimiter, false)
	}
}

// substitution reads s with its flags.
func (r *sedReader) substitution() {
	r.pair(true)
	for r.out.problem == "" {
		switch c := r.peek(); {
		case r.pos < len(r.text) && strings.IndexByte("gpiImM0123456789", c) >= 0:
			r.pos++
		case c == 'e':
			r.out.runsInput = true
			r.pos++
		case c == 'w':
			r.pos++
			r.file('w')
			return
		default:
			r.end()
			return
		}
	}
}

// checkSed reads the scripts of sed and says what they would do.
func checkSed(u *use) {
	if u.got("-l") != nil && strings.Trim(u.got("-l").value.text, "0123456789") != "" {
		u.doubt = "the value of -l is not a number" // to some it takes none
	}
	u.skipSuffix()
	script, ok := u.scriptShape()
	if !ok || !numbersAddress(script) {
		u.doubt = "the script is not known before it runs"
		return
	}
	facts := readSed(strings.ReplaceAll(script, someNumber, "1"))
	if facts.problem != "" {
		u.doubt = "the script cannot be read: " + facts.problem
		return
	}
	for _, name := range facts.read {
		u.touch(umpire.KindRead, lit(name), accessOf{why: "the script reads it"})
	}
	for _, name := range facts.written {
		u.writesFile(lit(name), "the script writes a file")
	}
	for _, command := range facts.ran {
		u.runsCommand(lit(command), "the script runs a program")
	}
	if facts.runsInput {
		u.raise(umpire.Medium, "the script runs its input as shell code")
		u.doubt = "the code is not known before it runs"
	}
}

// numbersAddress reports a script that holds no number that is not known, or
// nothing but addresses and commands that pick lines, so that it does no more
// whatever the numbers are, and however many.
func numbersAddress(script string) bool {
	return !strings.Contains(script, someNumber) || strings.Trim(script, someNumber+"0123456789,$~+ "+
		"!;\n{}pdqQ=nNPDgGhHx") == ""
}

// skipSuffix passes over the suffix of -i where it is a word of its own, as BSD
// wants it.
func (u *use) skipSuffix() {
	edit := u.got("-i", "-I")
	if edit == nil || edit.has || len(u.operands) == 0 || !u.operands[0].known() {
		return
	}
	suffix := u.operands[0].text
	if suffix == "" || suffix[0] == '.' && !strings.ContainsAny(suffix, "/ ;") {
		u.operands = u.operands[1:]
	}
}

// writesFile notes that code which is an argument writes a file.
func (u *use) writesFile(name word, why string) {
	if name.known() && hasField("/dev/stdout /dev/stderr /dev/null -", name.text) {
		return
	}
	u.raiseTo(umpire.Medium, reversible, why)
	u.touch(umpire.KindWrite, name, accessOf{why: why})
}

// runsCommand notes that code which is an argument runs shell code.
func (u *use) runsCommand(code word, why string) {
	u.raise(umpire.Medium, why)
	s := u.outside()
	u.then(func() { u.w.code(s, code, flow{kind: flowForeign, from: u.program0()}) })
}

// selects is what sed prints: with a script that only picks lines, those lines.
func selects(u *use, in flow) flow {
	script, ok := u.scriptText()
	files := len(u.operands) - 1
	if u.has(lead) {
		files++
	}
	if !ok || files > 0 || u.has(edits) {
		return printed("sed")
	}
	if facts := readSed(script); facts.problem != "" || facts.changes {
		return printed("sed")
	}
	return picked(in, "sed")
}
