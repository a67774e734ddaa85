package scan

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// A SedScript describes the effects of a sed script besides editing its text.
type SedScript struct {
	Read, Written []string      // files of r, R, w, W and the flag w
	Ran           []string      // commands of e
	RunsInput     bool          // the flag e, or e alone: the text itself is the command
	Changes       bool          // prints something other than lines of its input
	Problem       umpire.Phrase // why the script cannot be parsed
}

// ReadSed parses a script. Check Problem first: the other fields are then incomplete.
func ReadSed(text string) SedScript {
	r := sedReader{text: text}
	r.readScript()
	return r.out
}

// A sedReader reads a script from left to right. It refuses anything it does not understand,
// because a missed command could write a file or run a program.
type sedReader struct {
	text  string
	pos   int
	depth int
	// labelled says that a label ended at a semicolon on this line. Other versions would have
	// read it to the end of the line, so nothing may cross that.
	labelled bool
	out      SedScript
}

func (r *sedReader) setProblem(why umpire.Phrase) {
	if r.out.Problem == "" {
		r.out.Problem = why
	}
	r.pos = len(r.text)
}

// peekByte returns the next byte, or 0 at the end.
func (r *sedReader) peekByte() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

func (r *sedReader) skipAny(set string) {
	for r.pos < len(r.text) && strings.IndexByte(set, r.text[r.pos]) >= 0 {
		if r.text[r.pos] == '\n' {
			r.labelled = false
		}
		r.pos++
	}
}

// takeLine consumes the rest of the line.
func (r *sedReader) takeLine() string {
	rest := r.text[r.pos:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	r.pos += len(rest)
	return rest
}

func (r *sedReader) readScript() {
	if strings.IndexByte(r.text, 0) >= 0 {
		r.setProblem("it holds a zero byte")
	}
	for {
		r.skipAny(" \t\r\n;")
		if r.pos >= len(r.text) {
			break
		}
		if r.peekByte() == '#' {
			r.takeLine()
			continue
		}
		r.readAddresses()
		r.readCommand()
	}
	if r.depth != 0 && r.out.Problem == "" {
		r.out.Problem = "its braces do not match"
	}
}

// readAddresses reads the addresses before a command.
func (r *sedReader) readAddresses() {
	if r.readAddress("") {
		r.skipAny(" \t")
		if r.peekByte() == ',' {
			r.pos++
			r.skipAny(" \t")
			if !r.readAddress("+~") {
				r.setProblem("an address is missing after a comma")
			}
		}
	}
	r.skipAny(" \t")
	for r.peekByte() == '!' {
		r.pos++
		r.skipAny(" \t")
	}
}

// readAddress reads one address; prefix are the signs that may precede its number.
func (r *sedReader) readAddress(prefix string) bool {
	const digits = "0123456789"
	c := r.peekByte()
	switch {
	case c == 0:
		return false
	case c == '$':
		r.pos++
	case strings.IndexByte(digits, c) >= 0:
		r.skipAny(digits)
		if r.peekByte() == '~' {
			r.pos++
			r.skipAny(digits)
		}
	case strings.IndexByte(prefix, c) >= 0:
		r.pos++
		r.skipAny(digits)
	case c == '/':
		r.pos++
		r.skipDelimited('/', true)
		r.skipAny("IM")
	case c == '\\' && r.pos+1 < len(r.text):
		r.pos += 2
		r.skipDelimited(r.text[r.pos-1], true)
		r.skipAny("IM")
	default:
		return false
	}
	return true
}

// skipDelimited skips to a delimiter. Within an expression a bracket list may contain the
// delimiter.
func (r *sedReader) skipDelimited(delimiter byte, expression bool) {
	if delimiter == '\n' || delimiter == '\\' {
		r.setProblem("a delimiter is not one")
	}
	for r.pos < len(r.text) {
		c := r.text[r.pos]
		r.pos++
		switch {
		case c == delimiter:
			return
		case c == '\n':
			r.setProblem("an expression is not ended")
		case c == '\\' && r.pos < len(r.text):
			if r.text[r.pos] == '\n' && (expression || r.labelled) {
				r.setProblem("an expression crosses the end of its line")
			}
			r.pos++
		case c == '[' && expression:
			r.skipList()
		}
	}
	r.setProblem("an expression is not ended")
}

// skipList skips a bracket list after its opening. A delimiter within it does not end the
// expression. For versions of sed in which it does, the truncated list is an error.
func (r *sedReader) skipList() {
	n := BracketList(r.text[r.pos:])
	if n < 0 {
		r.setProblem("a list in brackets is not ended")
		return
	}
	r.pos += n
}

// readCommand reads one command after its addresses.
func (r *sedReader) readCommand() {
	c := r.peekByte()
	r.pos++
	switch c {
	case '{':
		r.depth++
	case '}':
		r.depth--
		if r.depth < 0 {
			r.setProblem("its braces do not match")
		}
		r.endCommand()
	case 'd', 'D', 'n', 'N', 'p', 'P', 'h', 'z':
		r.endCommand()
	case '=', 'g', 'G', 'H', 'x', 'F':
		r.out.Changes = true
		r.endCommand()
	case 'q', 'Q', 'l', 'L':
		r.out.Changes = r.out.Changes || c == 'l' || c == 'L'
		r.skipAny(" \t")
		r.skipAny("0123456789")
		r.endCommand()
	case 'a', 'i', 'c':
		r.out.Changes = true
		r.skipInsertion()
	case ':', 'b', 't', 'T', 'v':
		r.readLabel(c == ':')
	case 'r', 'R', 'w', 'W', 'e':
		r.out.Changes = true
		r.readFile(c)
	case 's':
		r.out.Changes = true
		r.readSubstitution()
	case 'y':
		r.out.Changes = true
		r.skipPair(false)
		r.endCommand()
	default:
		r.setProblem("a command is not known")
	}
}

// endCommand reads the end of a command.
func (r *sedReader) endCommand() {
	r.skipAny(" \t\r")
	if r.pos < len(r.text) && strings.IndexByte("\n;#}", r.peekByte()) < 0 {
		r.setProblem("something follows a command")
	}
}

// skipInsertion skips the text of a, i and c: to the end of the line, and further if the line
// ends with a backslash.
func (r *sedReader) skipInsertion() {
	r.skipAny(" \t")
	if r.pos >= len(r.text) || r.peekByte() == '\n' {
		r.setProblem("a text is missing")
		return
	}
	for r.pos < len(r.text) && r.peekByte() != '\n' {
		if r.peekByte() == '\\' {
			r.pos++
			if r.peekByte() == '\n' && r.labelled {
				r.setProblem("a text crosses the end of its line")
			}
		}
		r.pos++
	}
	r.pos = min(r.pos, len(r.text))
}

// readLabel reads the label of a jump.
func (r *sedReader) readLabel(target bool) {
	r.skipAny(" \t")
	start := r.pos
	for r.pos < len(r.text) && strings.IndexByte(" \t\r\n;}", r.peekByte()) < 0 {
		r.pos++
	}
	if target && (r.pos == start || r.peekByte() == '}') {
		r.setProblem("a label is not one")
	}
	r.labelled = r.labelled || r.peekByte() == ';' || r.peekByte() == '}'
	r.endCommand()
}

// readFile reads the name of a file, or the command of e: the rest of the line.
func (r *sedReader) readFile(c byte) {
	r.skipAny(" \t")
	name := r.takeLine()
	switch {
	case c == 'e' && name == "":
		r.out.RunsInput = true
	case c == 'e':
		r.out.Ran = append(r.out.Ran, name)
	case name == "":
		r.setProblem("a file name is missing")
	case c == 'r' || c == 'R':
		r.out.Read = append(r.out.Read, name)
	default:
		r.out.Written = append(r.out.Written, name)
	}
}

// skipPair skips both halves of s and y.
func (r *sedReader) skipPair(expression bool) {
	if r.pos >= len(r.text) {
		r.setProblem("an expression is not ended")
		return
	}
	delimiter := r.text[r.pos]
	r.pos++
	r.skipDelimited(delimiter, expression)
	if r.out.Problem == "" {
		r.skipDelimited(delimiter, false)
	}
}

// readSubstitution reads s with its flags.
func (r *sedReader) readSubstitution() {
	r.skipPair(true)
	for r.out.Problem == "" {
		switch c := r.peekByte(); {
		case r.pos < len(r.text) && strings.IndexByte("gpiImM0123456789", c) >= 0:
			r.pos++
		case c == 'e':
			r.out.RunsInput = true
			r.pos++
		case c == 'w':
			r.pos++
			r.readFile('w')
			return
		default:
			r.endCommand()
			return
		}
	}
}
