package scan

import (
	"strings"
)

// A python parses a Python program from left to right. It ignores the control flow: a name may
// have every value that the program gives it anywhere, so indentation does not matter. It
// parses the program again until no value changes.
type python struct {
	scope
	nested bool // within a string
}

// A cursor is a position in the tokens of a program.
type cursor struct {
	tokens []pyToken
	at     int
	depth  int
	steps  int
	failed bool
}

// A scope contains the values that the names of a program may have.
type scope struct {
	cursor
	names     map[string]pyValue
	functions map[string][]string // the parameters of the program's own functions
	args      []string
	program   Program
	// mutates means that lists are changed, so their elements are unknown.
	mutates bool
	// usesPaths means that values may be objects of pathlib.
	usesPaths, changed bool
}

func (c *cursor) fail() { c.failed = true }

func (c *cursor) peek() pyToken {
	if c.failed || c.at >= len(c.tokens) {
		return pyToken{}
	}
	if c.steps++; c.steps > maxSteps {
		c.fail()
	}
	return c.tokens[c.at]
}

// behind returns the token after the next one.
func (c *cursor) behind() pyToken {
	if c.at+1 >= len(c.tokens) {
		return pyToken{}
	}
	return c.tokens[c.at+1]
}

func (c *cursor) is(kind pyTokenKind, text string) bool {
	t := c.peek()
	return t.kind == kind && t.text == text
}

// takeMark consumes an operator if it comes next.
func (c *cursor) takeMark(text string) bool {
	if !c.is(pyOperator, text) {
		return false
	}
	c.at++
	return true
}

// takeWord consumes a keyword if it comes next.
func (c *cursor) takeWord(text string) bool {
	if !c.is(pyName, text) {
		return false
	}
	c.at++
	return true
}

func (c *cursor) need(text string) {
	if !c.takeMark(text) {
		c.fail()
	}
}

// readName parses a name that a program may define.
func (c *cursor) readName() string {
	t := c.peek()
	if t.kind != pyName || HasField(pythonKeywords, t.text) || strings.HasPrefix(t.text, "__") {
		c.fail()
		return ""
	}
	c.at++
	return t.text
}

const pythonKeywords = "False None True and as assert async await break class continue def del elif else except " +
	"finally for from global if import in is lambda nonlocal not or pass raise return try while with yield"

// bind adds a possible value of a name.
func (p *scope) bind(name string, v pyValue) {
	if name == "" || isPythonBuiltin(name) && name != "_" || name == "open" {
		p.fail() // another function of that name
		return
	}
	old, bound := p.names[name]
	if bound {
		if old.symbol != v.symbol {
			p.fail()
			return
		}
		v = join(old, v)
		v.symbol = old.symbol
	}
	if !bound || !equal(old, v) {
		p.names[name], p.changed = v, true
	}
}

func (p *scope) note(flag *bool) {
	if !*flag {
		*flag, p.changed = true, true
	}
}

func (p *python) readProgram() {
	for !p.failed && p.at < len(p.tokens) {
		if p.peek().kind == pyNewline {
			p.at++
			continue
		}
		p.readStatement()
	}
}

// readStatement parses a statement, or the head of one up to its colon.
func (p *python) readStatement() {
	t := p.peek()
	if t.kind == pyName {
		p.at++
		switch t.text {
		case "import":
			p.readImports()
			return
		case "from":
			p.readFrom()
			return
		case "if", "elif", "while":
			p.readExpression()
			p.need(":")
			return
		case "else", "try", "finally":
			p.need(":")
			return
		case "for":
			p.readLoop()
			p.need(":")
			return
		case "with":
			p.readWith()
			return
		case "except":
			p.readExcept()
			return
		case "def":
			p.readFunction()
			return
		case "pass", "break", "continue":
			p.endStatement()
			return
		case "return", "raise", "del", "assert", "yield":
			p.readOptional(t.text)
			return
		case "global", "nonlocal":
			for p.readName(); p.takeMark(","); p.readName() {
				continue
			}
			p.endStatement()
			return
		}
		p.at--
	}
	p.readAssignment()
}

func (c *cursor) endStatement() {
	if t := c.peek(); t.kind != pyNewline && t.kind != endOfCode {
		c.fail()
	}
}

func (c *cursor) atEnd() bool {
	t := c.peek()
	return t.kind == pyNewline || t.kind == endOfCode
}

func (p *python) readOptional(keyword string) {
	if !p.atEnd() {
		if keyword == "yield" {
			p.takeWord("from")
		}
		p.readExpressions()
		if keyword == "raise" && p.takeWord("from") {
			p.readExpression()
		}
	}
	p.endStatement()
}

func (p *scope) readImports() {
	for {
		module := p.readModule()
		p.importModule(module)
		top, _, dotted := strings.Cut(module, ".")
		switch {
		case p.takeWord("as"):
			p.bind(p.readName(), pyValue{symbol: module})
		case dotted:
			p.bind(top, pyValue{symbol: top})
		default:
			p.bind(module, pyValue{symbol: module})
		}
		if !p.takeMark(",") {
			p.endStatement()
			return
		}
	}
}

func (p *scope) readModule() string {
	names := []string{p.readName()}
	for p.takeMark(".") {
		names = append(names, p.readName())
	}
	return strings.Join(names, ".")
}

func (p *scope) importModule(module string) {
	if namesOf(module) == "" {
		p.fail()
	}
	if HasField(packages, module) {
		p.program.Packages = append(p.program.Packages, module)
	}
	if module == "pathlib" {
		p.note(&p.usesPaths)
	}
}

func (p *scope) readFrom() {
	module := p.readModule()
	p.importModule(module)
	if !p.takeWord("import") {
		p.fail()
		return
	}
	brackets := p.takeMark("(")
	for {
		what := p.readName()
		if !HasField(namesOf(module), what) {
			p.fail()
		}
		as := what
		if p.takeWord("as") {
			as = p.readName()
		}
		if symbol := module + "." + what; module == "sys" && what == "argv" {
			p.bind(as, p.readSymbol(symbol))
		} else if isPythonBuiltin(as) || as == "open" {
			p.fail()
		} else {
			p.bind(as, pyValue{symbol: symbol})
		}
		if !p.takeMark(",") {
			break
		}
	}
	if brackets {
		p.need(")")
	}
	p.endStatement()
}

// readLoop parses the targets of a loop and its range.
func (p *python) readLoop() {
	targets := p.readTargets()
	if !p.takeWord("in") {
		p.fail()
	}
	over := p.readExpressions()
	if over.walk && len(targets) == 3 && areNames(targets) {
		root := pyValue{placed: true, text: true}
		for _, path := range over.paths {
			root.paths = append(root.paths, ReadPath{Text: path.Text, Tree: true})
		}
		p.bind(targets[0].name, root)
		p.bind(targets[1].name, pyValue{entry: true, depth: 1})
		p.bind(targets[2].name, pyValue{entry: true, depth: 1})
		return
	}
	p.bindTargets(targets, p.elementOf(over))
}

// elementOf returns the element that a loop over a value yields.
func (p *scope) elementOf(v pyValue) pyValue {
	if p.mutates && !v.pending {
		return pyValue{path: v.path}
	}
	return v.element()
}

// A target is one or more names that a loop or an assignment sets.
type target struct {
	name  string
	parts []target
}

func areNames(targets []target) bool {
	for _, t := range targets {
		if t.name == "" {
			return false
		}
	}
	return true
}

// readTargets parses the targets of a loop.
func (p *scope) readTargets() []target {
	if p.depth++; p.depth > maxPythonDepth {
		p.fail()
	}
	defer func() { p.depth-- }()
	var targets []target
	for !p.failed {
		p.takeMark("*")
		if p.takeMark("(") || p.takeMark("[") {
			targets = append(targets, target{parts: p.readTargets()})
			if !p.takeMark(")") {
				p.need("]")
			}
		} else {
			targets = append(targets, target{name: p.readName()})
		}
		if !p.takeMark(",") || p.is(pyName, "in") || p.is(pyOperator, ")") || p.is(pyOperator, "]") {
			return targets
		}
	}
	return targets
}

func (p *scope) bindTargets(targets []target, v pyValue) {
	if len(targets) == 1 {
		if t := targets[0]; t.name != "" {
			p.bind(t.name, v)
		} else {
			p.bindTargets(t.parts, v)
		}
		return
	}
	for _, t := range targets {
		p.bindTargets([]target{t}, p.elementOf(v))
	}
}

func (p *python) readWith() {
	brackets := p.takeMark("(")
	for {
		v := p.readExpression()
		if p.takeWord("as") {
			p.bind(p.readName(), pyValue{path: v.path})
		}
		if !p.takeMark(",") {
			break
		}
	}
	if brackets {
		p.need(")")
	}
	p.need(":")
}

func (p *python) readExcept() {
	if !p.is(pyOperator, ":") {
		p.readExpression()
		if p.takeWord("as") {
			p.bind(p.readName(), pyValue{})
		}
	}
	p.need(":")
}

// readFunction parses the head of a function defined by the program.
func (p *python) readFunction() {
	function := p.readName()
	p.need("(")
	parameters := p.readParameters(")", true)
	p.need(")")
	if p.takeMark("->") {
		p.readExpression()
	}
	p.need(":")
	if _, twice := p.functions[function]; !twice {
		p.functions[function] = parameters
	} else if !sameNames(p.functions[function], parameters) {
		p.fail()
	}
	p.bind(function, pyValue{symbol: "def " + function})
}

func sameNames(a, b []string) bool { return strings.Join(a, " ") == strings.Join(b, " ") }

// readParameters parses the parameters of a function. Those of a lambda may have any value.
func (p *python) readParameters(end string, named bool) []string {
	var parameters []string
	for !p.failed && !p.is(pyOperator, end) {
		if p.takeMark("/") || p.is(pyOperator, "*") && p.behind().text == "," && p.takeMark("*") {
			p.takeMark(",")
			continue
		}
		starred := p.takeMark("*") || p.takeMark("**")
		parameter := p.readName()
		if named && p.takeMark(":") {
			p.readExpression()
		}
		if p.takeMark("=") {
			p.bind(parameter, p.readExpression())
		}
		p.bind(parameter, pyValue{path: p.usesPaths, pending: named && !starred})
		if starred {
			parameter = "*"
		}
		parameters = append(parameters, parameter)
		if !p.takeMark(",") {
			break
		}
	}
	return parameters
}

// readAssignment parses an expression statement, or an assignment.
func (p *python) readAssignment() {
	start := p.at
	v := p.readExpressions()
	switch t := p.peek(); {
	case p.takeMark(":"):
		p.readExpression()
		if !p.takeMark("=") {
			p.endStatement()
			return
		}
		p.assign(start, p.readExpressions())
	case p.is(pyOperator, "="):
		starts := []int{start}
		for p.takeMark("=") {
			starts = append(starts, p.at)
			v = p.readExpressions()
		}
		for _, at := range starts[:len(starts)-1] {
			p.assign(at, v)
		}
	case t.kind == pyOperator && len(t.text) > 1 && strings.HasSuffix(t.text, "=") &&
		!HasField("== <= >= !=", t.text):
		p.at++
		if by := p.behind(); p.peek().kind != pyNumber || by.kind != pyNewline && by.kind != endOfCode {
			p.note(&p.mutates)
		}
		p.readExpressions()
		p.assign(start, pyValue{path: p.usesPaths})
	}
	p.endStatement()
}

// assign assigns a value to the targets that begin at a token: names, items of containers, or
// several names.
func (p *python) assign(start int, v pyValue) {
	end := p.at
	defer func() { p.at = end }()
	p.at = start
	var targets []target
	for !p.failed {
		p.takeMark("*")
		if p.is(pyOperator, "(") || p.is(pyOperator, "[") {
			p.fail()
			return
		}
		if next := p.behind(); next.kind == pyOperator && (next.text == "[" || next.text == "." || next.text == "(") {
			p.assignItem()
		} else {
			targets = append(targets, target{name: p.readName()})
		}
		if !p.takeMark(",") || p.is(pyOperator, "=") || p.is(pyOperator, ":") {
			break
		}
	}
	if len(targets) > 0 {
		p.bindTargets(targets, v)
	}
}

// assignItem parses an item of a container that is assigned: a[b].
func (p *python) assignItem() {
	v := p.readUnary()
	if last := p.tokens[p.at-1]; last.kind != pyOperator || last.text != "]" || v.symbol != "" {
		p.fail() // an attribute
	}
	p.note(&p.mutates)
}
