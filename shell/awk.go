package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// awkProgram is what a program of awk would do besides printing. It is told
// from the tokens, without a grammar, so it errs towards doing too much.
type awkProgram struct {
	read, written, ran []word
	fed                []string // what it prints into a shell
	reveals            bool     // looks at the environment
	steers             bool     // changes which files awk reads, or what its names mean
	loads              bool     // loads code, or calls what only running would tell
	problem            string   // why the program cannot be read
}

// readAwk reads a program.
func readAwk(text string) awkProgram {
	r := awkReader{text: text}
	for r.pos < len(r.text) && r.out.problem == "" {
		r.token()
	}
	if len(r.open) > 0 {
		r.fail("its brackets do not match")
	}
	if r.out.problem == "" {
		r.judge()
	}
	return r.out
}

// An awkToken is one token; its text is what was written, or for a string what
// it stands for as far as that is known.
type awkToken struct {
	kind awkKind
	text string
}

type awkKind uint8

const (
	awkNewline awkKind = iota // also the beginning of the program
	awkName
	awkNumber
	awkString
	awkRegex
	awkSign
)

// An awkReader cuts a program into tokens and then looks at what they do.
type awkReader struct {
	text   string
	pos    int
	tokens []awkToken
	open   []awkBracket
	// condition says that the bracket closed last was that of a condition, after
	// which a slash may begin an expression.
	condition bool
	out       awkProgram
}

// An awkBracket is one that is open.
type awkBracket struct {
	sign      byte
	condition bool // of if, while, for or switch
}

func (r *awkReader) fail(why string) {
	if r.out.problem == "" {
		r.out.problem = why
	}
	r.pos = len(r.text)
}

func (r *awkReader) add(kind awkKind, text string) {
	r.tokens = append(r.tokens, awkToken{kind, text})
}

// at returns the token at index i; before the first and after the last one there
// are newlines.
func (r *awkReader) at(i int) awkToken {
	if i < 0 || i >= len(r.tokens) {
		return awkToken{kind: awkNewline}
	}
	return r.tokens[i]
}

func (r *awkReader) token() {
	c := r.text[r.pos]
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		r.pos++
	case c == '\n':
		r.add(awkNewline, "\n")
		r.pos++
	case c == '#':
		r.take(awkNewline, func(c byte) bool { return c != '\n' })
	case c == '\\':
		if !strings.HasPrefix(r.text[r.pos:], "\\\n") {
			r.fail("a backslash stands alone")
		}
		r.pos += 2
	case c == '"':
		r.quoted()
	case letter(c):
		r.take(awkName, func(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == ':' && r.doubled() })
	case c >= '0' && c <= '9' || c == '.':
		r.number()
	case c == '/' && r.regexFits():
		r.regex()
	case r.out.problem == "":
		r.sign()
	}
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// doubled reports whether a colon is one of two, as in the name awk::system.
func (r *awkReader) doubled() bool {
	around := r.text[max(r.pos-1, 0):min(r.pos+2, len(r.text))]
	return strings.Contains(around, "::")
}

// take adds a token of all bytes that fit; the first one does.
func (r *awkReader) take(kind awkKind, fits func(byte) bool) {
	start := r.pos
	for r.pos++; r.pos < len(r.text) && fits(r.text[r.pos]); r.pos++ {
	}
	if kind != awkNewline { // a comment is nothing
		r.add(kind, r.text[start:r.pos])
	}
}

// number reads a number, with an exponent or in hexadecimal. Where a name follows
// without a blank, awks disagree on where the number ends.
func (r *awkReader) number() {
	const digits = "0123456789"
	start := r.pos
	if hex := r.text[start:min(start+2, len(r.text))]; hex == "0x" || hex == "0X" {
		r.pos += 2
		r.skip(digits + "abcdefABCDEF")
	} else {
		r.skip(digits + ".")
		r.exponent(digits)
	}
	r.add(awkNumber, r.text[start:r.pos])
	if r.pos < len(r.text) && letter(r.text[r.pos]) {
		r.fail("a name follows a number without a blank")
	}
}

// exponent reads the e+10 of a number, where there is one.
func (r *awkReader) exponent(digits string) {
	rest := r.text[r.pos:]
	if rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return
	}
	number := strings.TrimLeft(rest[1:], "+-")
	if signs := len(rest) - 1 - len(number); signs < 2 && number != "" && strings.IndexByte(digits, number[0]) >= 0 {
		r.pos += 1 + signs
		r.skip(digits)
	}
}

func (r *awkReader) skip(set string) {
	for r.pos < len(r.text) && strings.IndexByte(set, r.text[r.pos]) >= 0 {
		r.pos++
	}
}

// quoted reads a string.
func (r *awkReader) quoted() {
	start := r.pos + 1
	for r.pos = start; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case '"':
			r.add(awkString, r.text[start:r.pos])
			r.pos++
			return
		case '\n':
			r.fail("a string is not ended")
			return
		case '\\':
			r.pos++
		}
	}
	r.fail("a string is not ended")
}

// regexFits reports whether a slash begins an expression and does not divide.
// Where that cannot be told without the grammar, the program cannot be read.
func (r *awkReader) regexFits() bool {
	last := r.at(len(r.tokens) - 1)
	switch last.kind {
	case awkNewline:
		return true
	case awkNumber, awkString, awkRegex:
		return false
	case awkName:
		if last.text == "length" || last.text == "getline" {
			r.fail("a slash after " + last.text)
		}
		return awkKeyword(last.text)
	case awkSign:
	}
	switch last.text {
	case ")":
		if r.condition {
			r.fail("a slash after a condition")
		}
		return false
	case "]":
		return false
	case "++", "--", "$":
		before := r.at(len(r.tokens) - 2)
		if last.text == "$" || before.kind != awkName && before.text != "]" {
			r.fail("a slash after " + last.text)
		}
		return false
	}
	return true
}

// awkKeyword reports a word after which an operand stands.
func awkKeyword(name string) bool {
	return hasField("print printf return in case do else exit", name)
}

// regex reads an expression.
func (r *awkReader) regex() {
	start := r.pos
	for r.pos++; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case '/':
			r.add(awkRegex, r.text[start:r.pos+1])
			r.pos++
			return
		case '\n':
			r.fail("an expression is not ended")
			return
		case '\\':
			r.pos++
		case '[':
			r.list()
		}
	}
	r.fail("an expression is not ended")
}

// list reads a bracket list, in which a slash does not end the expression; to
// versions of awk for which it does, the list that is cut off is an error.
func (r *awkReader) list() {
	n := bracketList(awkEscapes.Replace(r.text[r.pos+1:]))
	if n < 0 {
		r.fail("a list in brackets is not ended")
		return
	}
	r.pos += n
}

// awkEscapes hides what a backslash quotes within a list, keeping its length.
var awkEscapes = strings.NewReplacer(`\\`, "xx", `\]`, "xx", `\[`, "xx")

// awkSigns are the signs of more than one character, longest first.
var awkSigns = [...]string{
	"**=", "&&", "||", "|&", ">>", "<=", ">=", "==", "!=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**",
}

func (r *awkReader) sign() {
	text := r.text[r.pos : r.pos+1]
	for _, sign := range awkSigns {
		if strings.HasPrefix(r.text[r.pos:], sign) {
			text = sign
			break
		}
	}
	if !strings.Contains("(){}[];,+-*/%^!<>|?:~$=@&", text[:1]) {
		r.fail("a character is not known")
		return
	}
	r.bracket(text[0])
	r.add(awkSign, text)
	r.pos += len(text)
}

// bracket follows which brackets are open.
func (r *awkReader) bracket(sign byte) {
	switch sign {
	case '(', '[', '{':
		r.open = append(r.open, awkBracket{sign, hasField("if while for switch", r.at(len(r.tokens)-1).text)})
	case ')', ']', '}':
		n := len(r.open)
		if n == 0 || "([{"[strings.IndexByte(")]}", sign)] != r.open[n-1].sign {
			r.fail("its brackets do not match")
			return
		}
		r.condition = r.open[n-1].condition
		r.open = r.open[:n-1]
	}
}

// judge looks for what reaches beyond the program: pipes, files, other code.
func (r *awkReader) judge() {
	depth := 0
	printing := -1 // the depth of a print whose redirection may follow
	getting := -1  // the depth of a getline whose file may follow
	for i, t := range r.tokens {
		if t.kind == awkSign {
			depth += strings.Count("([", t.text) - strings.Count(")]", t.text)
		}
		if r.ends(i) && depth <= max(printing, 0) {
			printing = -1
		}
		if depth < getting || r.ends(i) {
			getting = -1
		}
		switch {
		case t.kind == awkName && (t.text == "print" || t.text == "printf"):
			printing = depth
		case t.kind == awkName && t.text == "getline":
			getting = depth
		case t.kind == awkName:
			r.name(i)
		case t.kind != awkSign:
		case t.text == "|" || t.text == "|&":
			r.pipe(i)
		case t.text == ">>" || t.text == ">" && depth == printing:
			r.out.written = append(r.out.written, r.operand(i+1))
		case t.text == "<" && getting >= 0:
			r.out.read = append(r.out.read, r.operand(i+1))
		case t.text == "@" && r.at(i+1).kind != awkRegex:
			r.out.loads = true
		}
	}
}

// ends reports whether the token ends a statement.
func (r *awkReader) ends(i int) bool {
	t := r.tokens[i]
	if t.kind == awkNewline {
		before := r.at(i - 1)
		return before.kind != awkSign || !hasField(", && || ? : {", before.text)
	}
	return t.kind == awkSign && (t.text == ";" || t.text == "}")
}

// name judges a name that means something to awk.
func (r *awkReader) name(i int) {
	name := r.tokens[i].text
	if j := strings.LastIndex(name, "::"); j >= 0 {
		name = name[j+2:]
	}
	switch name {
	case "system":
		r.out.ran = append(r.out.ran, r.argument(i+1))
	case "ENVIRON":
		r.out.reveals = true
	case "ARGV", "ARGC", "SYMTAB", "FUNCTAB":
		r.out.steers = true
	}
}

// pipe judges a pipe to or from a command.
func (r *awkReader) pipe(i int) {
	if r.at(i+1).text != "getline" {
		if to := r.at(i + 1); r.at(i-1).kind == awkString && to.kind == awkString &&
			hasField(shellNames, base(firstWord(to.text))) {
			r.out.fed = append(r.out.fed, strings.NewReplacer(`\"`, `"`, `\n`, "\n").Replace(r.at(i-1).text))
		}
		r.out.ran = append(r.out.ran, r.operand(i+1))
		return
	}
	command := word{open: true}
	before := r.at(i - 2)
	alone := before.kind == awkNewline || before.kind == awkSign && hasField("( { ; } && || !", before.text)
	if r.at(i-1).kind == awkString && alone {
		command = awkWord(r.at(i - 1))
	}
	r.out.ran = append(r.out.ran, command)
}

// operand is the string at i when nothing is joined to it.
func (r *awkReader) operand(i int) word {
	after := r.at(i + 1)
	alone := after.kind == awkNewline || after.kind == awkSign && hasField("; } ) &&", after.text)
	if r.at(i).kind != awkString || !alone {
		return word{open: true}
	}
	return awkWord(r.at(i))
}

// argument is the string that is the whole argument of a function.
func (r *awkReader) argument(i int) word {
	if r.at(i).text == "(" && r.at(i+1).kind == awkString && r.at(i+2).text == ")" {
		return awkWord(r.at(i + 1))
	}
	return word{open: true}
}

// awkWord is the text of a string that holds no escapes.
func awkWord(t awkToken) word {
	if strings.Contains(t.text, `\`) {
		return word{open: true}
	}
	return lit(t.text)
}

// checkAwk reads the program of awk and says what it would do.
func checkAwk(u *use) {
	programs := u.scripts()
	if len(programs) == 0 {
		u.doubt = "the program is not known before it runs"
	}
	for _, program := range programs {
		u.awkProgram(program)
	}
}

func (u *use) awkProgram(program string) {
	facts := readAwk(program)
	if facts.problem != "" {
		u.doubt = "the program cannot be read: " + facts.problem
		return
	}
	if facts.reveals {
		u.askSecret("looks at the environment")
	}
	if facts.steers {
		u.raiseTo(umpire.Medium, harmless, "chooses the files that it reads")
	}
	if facts.loads {
		u.raise(umpire.Medium, "loads or calls code that is not known")
	}
	for _, name := range facts.read {
		u.touch(umpire.KindRead, name, accessOf{why: "the program reads it"})
	}
	for _, name := range facts.written {
		u.writesFile(name, "the program writes a file")
	}
	for _, line := range facts.fed {
		u.guessCommand(line)
	}
	for _, command := range facts.ran {
		if command.known() && hasField(awkFilters, firstWord(command.text)) {
			s := u.outside()
			u.then(func() { u.w.code(s, command, flow{kind: flowForeign, from: u.program0()}) })
			continue
		}
		u.runsCommand(command, "the program runs another one")
	}
}

// shellNames are the shells that run what is piped into them.
const shellNames = "sh bash dash zsh ksh ash mksh"

// awkFilters are programs that awk often pipes into; they are judged as if they
// stood in the line.
const awkFilters = "sort uniq head tail wc cut column"

// scripts is scriptText as it could be: where only numbers are not known, with one,
// with none, and with several.
func (u *use) scripts() []string {
	text, ok := u.scriptShape()
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

// scriptText is the program given to awk or sed, by -e or as the first operand.
// It reports false when not all of it is known.
func (u *use) scriptText() (string, bool) {
	text, ok := u.scriptShape()
	return text, ok && !strings.Contains(text, someNumber)
}

// scriptShape is the script with someNumber for each number that is not known.
func (u *use) scriptShape() (string, bool) {
	var pieces []string
	for _, g := range u.given {
		if !hasSpelling(g.option.names, "-e") {
			continue
		}
		text, ok := g.value.whole()
		if !ok {
			return "", false
		}
		pieces = append(pieces, text)
	}
	if u.has(lead) {
		return strings.Join(pieces, "\n"), true
	}
	if len(u.operands) == 0 {
		return "", true
	}
	return u.operands[0].whole()
}
