package scan

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// A AwkProgram describes the effects of an awk program besides printing. It is derived from the
// tokens, without a grammar, so in doubt it reports too many effects.
type AwkProgram struct {
	Read, Written, Ran []AwkText
	Fed                []Feed
	Reveals            bool          // reads the environment
	Steers             bool          // changes which files awk reads, or the meaning of its names
	Loads              bool          // loads code, or calls a function known only at run time
	Problem            umpire.Phrase // why the program cannot be parsed
}

// A AwkText is a file or a command that a program names, if it is known before it runs.
type AwkText struct {
	Value string
	Known bool
}

// A Feed is a text that a program pipes into a command.
type Feed struct {
	Text, Command string
}

// ReadAwk parses a program. Check Problem first: the other fields are then incomplete.
func ReadAwk(text string) AwkProgram {
	r := awkReader{text: text}
	for r.pos < len(r.text) && r.out.Problem == "" {
		r.readToken()
	}
	if len(r.open) > 0 {
		r.setProblem("its brackets do not match")
	}
	if r.out.Problem == "" {
		r.judgeTokens()
	}
	return r.out
}

// An awkToken is one token. Its text is the source text, or for a string its value as far as it is
// known.
type awkToken struct {
	kind awkTokenKind
	text string
}

type awkTokenKind uint8

const (
	newlineToken awkTokenKind = iota // also the beginning of the program
	nameToken
	numberToken
	stringToken
	regexToken
	signToken
)

// An awkReader splits a program into tokens and then judges them.
type awkReader struct {
	text   string
	pos    int
	tokens []awkToken
	open   []bracket
	// condition says that the bracket closed last was that of a condition, after which a slash
	// may begin a regular expression.
	condition bool
	out       AwkProgram
}

// A bracket is an open bracket.
type bracket struct {
	sign      byte
	condition bool // of if, while, for or switch
}

func (r *awkReader) setProblem(why umpire.Phrase) {
	if r.out.Problem == "" {
		r.out.Problem = why
	}
	r.pos = len(r.text)
}

func (r *awkReader) addToken(kind awkTokenKind, text string) {
	r.tokens = append(r.tokens, awkToken{kind, text})
}

// tokenAt returns the token at index i; before the first and after the last one there are
// newlines.
func (r *awkReader) tokenAt(i int) awkToken {
	if i < 0 || i >= len(r.tokens) {
		return awkToken{kind: newlineToken}
	}
	return r.tokens[i]
}

func (r *awkReader) readToken() {
	c := r.text[r.pos]
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		r.pos++
	case c == '\n':
		r.addToken(newlineToken, "\n")
		r.pos++
	case c == '#':
		r.takeWhile(newlineToken, func(c byte) bool { return c != '\n' })
	case c == '\\':
		if !strings.HasPrefix(r.text[r.pos:], "\\\n") {
			r.setProblem("a backslash stands alone")
		}
		r.pos += 2
	case c == '"':
		r.readString()
	case IsLetter(c):
		r.takeWhile(nameToken, func(c byte) bool {
			return IsLetter(c) || c >= '0' && c <= '9' || c == ':' && r.isDoubled()
		})
	case c >= '0' && c <= '9' || c == '.':
		r.readNumber()
	case c == '/' && r.regexFits():
		r.readRegex()
	case r.out.Problem == "":
		r.readSign()
	}
}

// isDoubled reports whether a colon is one of two, as in the name awk::system.
func (r *awkReader) isDoubled() bool {
	around := r.text[max(r.pos-1, 0):min(r.pos+2, len(r.text))]
	return strings.Contains(around, "::")
}

// takeWhile adds a token of all bytes that fit; the first byte always does.
func (r *awkReader) takeWhile(kind awkTokenKind, fits func(byte) bool) {
	start := r.pos
	for r.pos++; r.pos < len(r.text) && fits(r.text[r.pos]); r.pos++ {
	}
	if kind != newlineToken { // comments are dropped
		r.addToken(kind, r.text[start:r.pos])
	}
}

// readNumber reads a number, with an exponent or in hexadecimal. If a name follows without a
// blank, awks disagree on the end of the number.
func (r *awkReader) readNumber() {
	const digits = "0123456789"
	start := r.pos
	if hex := r.text[start:min(start+2, len(r.text))]; hex == "0x" || hex == "0X" {
		r.pos += 2
		r.skipAny(digits + "abcdefABCDEF")
	} else {
		r.skipAny(digits + ".")
		r.readExponent(digits)
	}
	r.addToken(numberToken, r.text[start:r.pos])
	if r.pos < len(r.text) && IsLetter(r.text[r.pos]) {
		r.setProblem("a name follows a number without a blank")
	}
}

// readExponent reads the e+10 of a number, if it has one.
func (r *awkReader) readExponent(digits string) {
	rest := r.text[r.pos:]
	if rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return
	}
	number := strings.TrimLeft(rest[1:], "+-")
	if signs := len(rest) - 1 - len(number); signs < 2 && number != "" && strings.IndexByte(digits, number[0]) >= 0 {
		r.pos += 1 + signs
		r.skipAny(digits)
	}
}

func (r *awkReader) skipAny(set string) {
	for r.pos < len(r.text) && strings.IndexByte(set, r.text[r.pos]) >= 0 {
		r.pos++
	}
}

// readString reads a string.
func (r *awkReader) readString() {
	start := r.pos + 1
	for r.pos = start; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case '"':
			r.addToken(stringToken, r.text[start:r.pos])
			r.pos++
			return
		case '\n':
			r.setProblem("a string is not ended")
			return
		case '\\':
			r.pos++
		}
	}
	r.setProblem("a string is not ended")
}

// regexFits reports whether a slash begins a regular expression rather than divides. If only
// the grammar could tell, the program cannot be parsed.
func (r *awkReader) regexFits() bool {
	last := r.tokenAt(len(r.tokens) - 1)
	switch last.kind {
	case newlineToken:
		return true
	case numberToken, stringToken, regexToken:
		return false
	case nameToken:
		if last.text == "length" || last.text == "getline" {
			r.setProblem(umpire.Say("a slash after %s", last.text))
		}
		return takesOperand(last.text)
	case signToken:
	}
	switch last.text {
	case ")":
		if r.condition {
			r.setProblem("a slash after a condition")
		}
		return false
	case "]":
		return false
	case "++", "--", "$":
		before := r.tokenAt(len(r.tokens) - 2)
		if last.text == "$" || before.kind != nameToken && before.text != "]" {
			r.setProblem(umpire.Say("a slash after %s", last.text))
		}
		return false
	}
	return true
}

// takesOperand reports whether an operand follows a word.
func takesOperand(name string) bool {
	return HasField("print printf return in case do else exit", name)
}

// readRegex reads a regular expression.
func (r *awkReader) readRegex() {
	start := r.pos
	for r.pos++; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case '/':
			r.addToken(regexToken, r.text[start:r.pos+1])
			r.pos++
			return
		case '\n':
			r.setProblem("an expression is not ended")
			return
		case '\\':
			r.pos++
		case '[':
			r.skipList()
		}
	}
	r.setProblem("an expression is not ended")
}

// skipList skips a bracket list, in which a slash does not end the expression. For versions of
// awk in which it does, the truncated list is an error.
func (r *awkReader) skipList() {
	quoted := strings.NewReplacer(`\\`, "xx", `\]`, "xx", `\[`, "xx") // hidden, at its length
	n := BracketList(quoted.Replace(r.text[r.pos+1:]))
	if n < 0 {
		r.setProblem("a list in brackets is not ended")
		return
	}
	r.pos += n
}

// longSigns are the signs of more than one character, longest first.
var longSigns = [...]string{
	"**=", "&&", "||", "|&", ">>", "<=", ">=", "==", "!=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**",
}

func (r *awkReader) readSign() {
	text := r.text[r.pos : r.pos+1]
	for _, sign := range longSigns {
		if strings.HasPrefix(r.text[r.pos:], sign) {
			text = sign
			break
		}
	}
	if !strings.Contains("(){}[];,+-*/%^!<>|?:~$=@&", text[:1]) {
		r.setProblem("a character is not known")
		return
	}
	r.trackBracket(text[0])
	r.addToken(signToken, text)
	r.pos += len(text)
}

// trackBracket keeps track of open brackets.
func (r *awkReader) trackBracket(sign byte) {
	switch sign {
	case '(', '[', '{':
		r.open = append(r.open, bracket{sign, HasField("if while for switch", r.tokenAt(len(r.tokens)-1).text)})
	case ')', ']', '}':
		n := len(r.open)
		if n == 0 || "([{"[strings.IndexByte(")]}", sign)] != r.open[n-1].sign {
			r.setProblem("its brackets do not match")
			return
		}
		r.condition = r.open[n-1].condition
		r.open = r.open[:n-1]
	}
}

// judgeTokens looks for effects beyond the program: pipes, files, other code.
func (r *awkReader) judgeTokens() {
	depth := 0
	printing := -1 // the depth of a print whose redirection may follow
	getting := -1  // the depth of a getline whose file may follow
	for i, t := range r.tokens {
		if t.kind == signToken {
			depth += strings.Count("([", t.text) - strings.Count(")]", t.text)
		}
		if r.endsStatement(i) && depth <= max(printing, 0) {
			printing = -1
		}
		if depth < getting || r.endsStatement(i) {
			getting = -1
		}
		switch {
		case t.kind == nameToken && (t.text == "print" || t.text == "printf"):
			printing = depth
		case t.kind == nameToken && t.text == "getline":
			getting = depth
		case t.kind == nameToken:
			r.judgeName(i)
		case t.kind != signToken:
		case t.text == "|" || t.text == "|&":
			r.judgePipe(i)
		case t.text == ">>" || t.text == ">" && depth == printing:
			r.out.Written = append(r.out.Written, r.operandAt(i+1))
		case t.text == "<" && getting >= 0:
			r.out.Read = append(r.out.Read, r.operandAt(i+1))
		case t.text == "@" && r.tokenAt(i+1).kind != regexToken:
			r.out.Loads = true
		}
	}
}

// endsStatement reports whether the token ends a statement.
func (r *awkReader) endsStatement(i int) bool {
	t := r.tokens[i]
	if t.kind == newlineToken {
		before := r.tokenAt(i - 1)
		return before.kind != signToken || !HasField(", && || ? : {", before.text)
	}
	return t.kind == signToken && (t.text == ";" || t.text == "}")
}

// judgeName judges a name with a meaning in awk.
func (r *awkReader) judgeName(i int) {
	name := r.tokens[i].text
	if j := strings.LastIndex(name, "::"); j >= 0 {
		name = name[j+2:]
	}
	switch name {
	case "system":
		r.out.Ran = append(r.out.Ran, r.argumentAt(i+1))
	case "ENVIRON":
		r.out.Reveals = true
	case "ARGV", "ARGC", "SYMTAB", "FUNCTAB":
		r.out.Steers = true
	}
}

// judgePipe judges a pipe to or from a command.
func (r *awkReader) judgePipe(i int) {
	if r.tokenAt(i+1).text != "getline" {
		if to := r.tokenAt(i + 1); r.tokenAt(i-1).kind == stringToken && to.kind == stringToken {
			text := strings.NewReplacer(`\"`, `"`, `\n`, "\n").Replace(r.tokenAt(i - 1).text)
			r.out.Fed = append(r.out.Fed, Feed{Text: text, Command: to.text})
		}
		r.out.Ran = append(r.out.Ran, r.operandAt(i+1))
		return
	}
	command := AwkText{}
	before := r.tokenAt(i - 2)
	alone := before.kind == newlineToken || before.kind == signToken && HasField("( { ; } && || !", before.text)
	if r.tokenAt(i-1).kind == stringToken && alone {
		command = knownText(r.tokenAt(i - 1))
	}
	r.out.Ran = append(r.out.Ran, command)
}

// operandAt returns the string at i if nothing is joined to it.
func (r *awkReader) operandAt(i int) AwkText {
	after := r.tokenAt(i + 1)
	alone := after.kind == newlineToken || after.kind == signToken && HasField("; } ) &&", after.text)
	if r.tokenAt(i).kind != stringToken || !alone {
		return AwkText{}
	}
	return knownText(r.tokenAt(i))
}

// argumentAt returns the string that is the whole argument of a function.
func (r *awkReader) argumentAt(i int) AwkText {
	if r.tokenAt(i).text == "(" && r.tokenAt(i+1).kind == stringToken && r.tokenAt(i+2).text == ")" {
		return knownText(r.tokenAt(i + 1))
	}
	return AwkText{}
}

// knownText returns the text of a string without escapes.
func knownText(t awkToken) AwkText {
	if strings.Contains(t.text, `\`) {
		return AwkText{}
	}
	return AwkText{Value: t.text, Known: true}
}
