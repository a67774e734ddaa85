package scan

import (
	"strings"
)

// readExpressions parses comma-separated expressions: one value, or a list of them.
func (p *python) readExpressions() pyValue {
	v := p.readStarred()
	if !p.is(pyOperator, ",") {
		return v
	}
	list := v
	for p.takeMark(",") {
		if t := p.peek(); t.kind == pyNewline || t.kind == endOfCode || t.kind == pyOperator &&
			strings.Contains("=)]}:", t.text) {
			break
		}
		list = join(list, p.readStarred())
	}
	list.depth++
	return list
}

func (p *python) readStarred() pyValue {
	if p.takeMark("*") {
		return p.elementOf(p.readExpression())
	}
	return p.readExpression()
}

// readExpression parses one expression.
func (p *python) readExpression() pyValue {
	if p.depth++; p.depth > maxPythonDepth {
		p.fail()
	}
	defer func() { p.depth-- }()
	if p.takeWord("lambda") {
		p.readParameters(":", false)
		p.need(":")
		p.readExpression()
		return pyValue{}
	}
	if p.takeWord("yield") {
		p.readExpression()
		return pyValue{}
	}
	v := p.readOr()
	if p.takeMark(":=") {
		if p.at < 2 || p.tokens[p.at-2].kind != pyName {
			p.fail()
			return v
		}
		target := p.tokens[p.at-2].text
		v = p.readExpression()
		p.bind(target, v)
		return v
	}
	if p.takeWord("if") {
		p.readOr()
		if !p.takeWord("else") {
			p.fail()
		}
		v = join(v, p.readExpression())
	}
	return v
}

func (p *python) readOr() pyValue {
	v := p.readComparison()
	for p.takeWord("and") || p.takeWord("or") {
		v = join(v, p.readComparison())
	}
	return v
}

func (p *python) readComparison() pyValue {
	if p.takeWord("not") {
		p.readComparison()
		return pyValue{}
	}
	v := p.readSum()
	for {
		t := p.peek()
		switch {
		case t.kind == pyOperator && HasField("== != < > <= >=", t.text):
			p.at++
		case t.kind == pyName && (t.text == "in" || t.text == "is"):
			p.at++
			p.takeWord("not")
		case t.kind == pyName && t.text == "not" && p.behind().text == "in":
			p.at += 2
		default:
			return v
		}
		p.readSum()
		v = pyValue{}
	}
}

// readSum parses operands separated by operators. The text is known only if a single operator
// joins them.
func (p *python) readSum() pyValue {
	v := p.readUnary()
	only := ""
	for {
		t := p.peek()
		if t.kind != pyOperator || !HasField("+ - * / // % @ << >> & | ^ **", t.text) {
			return v
		}
		p.at++
		other := p.readUnary()
		switch {
		case only != "" && only != t.text:
			v = pyValue{path: v.path || other.path}
		case t.text == "+" && v.depth > 0:
			v = join(v, other)
		case t.text == "+" && !v.path && !other.path:
			v = concat(v, "", other)
		case t.text == "/" && v.path:
			v = concat(v, "/", other)
		default:
			// A string on the left side formats; elsewhere it is repeated.
			v = pyValue{text: t.text == "%" && v.text, path: v.path || other.path}
		}
		only = t.text
	}
}

func (p *python) readUnary() pyValue {
	for p.takeMark("-") || p.takeMark("+") || p.takeMark("~") {
		p.readUnary()
		return pyValue{}
	}
	v := p.readAtom()
	for !p.failed {
		switch {
		case p.takeMark("."):
			v = p.readAttribute(v)
		case p.takeMark("("):
			v = p.readCall(v)
		case p.takeMark("["):
			v = p.readSubscript(v)
		default:
			return p.bare(v)
		}
	}
	return pyValue{}
}

// bare checks a value that is passed on. Modules, and functions that take the name of a file,
// may only be used in place.
func (p *scope) bare(v pyValue) pyValue {
	switch {
	case v.symbol == "":
		return v
	case v.symbol == "type" || namesOf(v.symbol) != "" || HasField(takesPath, v.symbol) ||
		strings.HasPrefix(v.symbol, "pathlib."):
		p.fail()
	case strings.HasPrefix(v.symbol, "def "):
		for _, parameter := range p.functions[v.symbol[len("def "):]] {
			if parameter != "*" {
				p.bind(parameter, pyValue{path: p.usesPaths})
			}
		}
	}
	return pyValue{}
}

// takesPath are the functions whose first argument is the name of a file.
const takesPath = "open gzip.open bz2.open lzma.open os.listdir os.scandir os.walk glob.glob glob.iglob " +
	"os.path.exists os.path.isfile os.path.isdir os.path.getsize os.path.getmtime"

func (p *python) readAtom() pyValue {
	t := p.peek()
	p.at++
	switch t.kind {
	case pyNumber:
		return pyValue{}
	case pyString:
		p.at--
		return p.readStrings()
	case pyName:
		return p.readNamed(t.text)
	case pyOperator:
		switch t.text {
		case "(":
			return p.readBrackets(")")
		case "[":
			return p.readBrackets("]")
		case "{":
			return p.readBrackets("}")
		case "...":
			return pyValue{}
		}
	case pyNewline, endOfCode:
	}
	p.fail()
	return pyValue{}
}

func (p *scope) readNamed(text string) pyValue {
	switch {
	case HasField("True False None", text):
		return pyValue{}
	case HasField(pythonKeywords, text):
		p.fail()
	case text == "open":
		return pyValue{symbol: "open"}
	}
	if v, bound := p.names[text]; bound {
		return v
	}
	if isPythonBuiltin(text) {
		return pyValue{symbol: text}
	}
	if strings.HasPrefix(text, "__") {
		p.fail()
	}
	// A name that gets its value further down has it on the next pass. One that never gets a
	// value counts as changed on each pass.
	p.changed = true
	return pyValue{pending: true}
}

// readStrings parses adjacent strings, which form one.
func (p *python) readStrings() pyValue {
	v, first := pyValue{}, true
	for p.peek().kind == pyString {
		t := p.peek()
		p.at++
		part := pyValue{text: true}
		if t.known {
			part = known(t.text)
		} else if t.format {
			part = p.readFormat(t.text)
		}
		if first {
			v, first = part, false
		} else {
			v = concat(v, "", part)
		}
	}
	v.text = true
	return v
}

// readFormat parses a string with expressions in it.
func (p *python) readFormat(text string) pyValue {
	fields, ok := formatFields(text)
	if !ok || strings.Contains(text, `\`) && strings.Contains(text, "{") && !escapesOnlyText(fields) {
		p.fail()
		return pyValue{}
	}
	v := known("")
	for _, f := range fields {
		v = concat(v, "", known(f.before))
		if f.expression == "" {
			continue
		}
		part := p.readNested(f.expression)
		if f.shaped || part.depth > 0 || part.path {
			part = pyValue{}
		}
		v = concat(v, "", part)
	}
	if strings.Contains(text, `\`) {
		v = pyValue{}
	}
	v.text = true
	return v
}

func escapesOnlyText(fields []field) bool {
	for _, f := range fields {
		if strings.Contains(f.expression, `\`) {
			return false
		}
	}
	return true
}

// readNested parses an expression within a string.
func (p *python) readNested(code string) pyValue {
	tokens, ok := tokenizePython("(" + code + ")")
	if p.depth++; !ok || p.depth > maxPythonDepth {
		p.fail()
		return pyValue{}
	}
	outer, at, nested := p.tokens, p.at, p.nested
	p.tokens, p.at, p.nested = tokens, 0, true
	v := p.readExpression()
	if p.peek().kind != endOfCode {
		p.fail()
	}
	p.tokens, p.at, p.nested = outer, at, nested
	p.depth--
	return v
}

// readBrackets parses a tuple, a list, a set, a dictionary or a comprehension.
func (p *python) readBrackets(end string) pyValue {
	if p.takeMark(end) {
		return pyValue{depth: 1, placed: true}
	}
	// The names of a comprehension are bound after their use.
	start := p.at
	p.bindComprehension()
	p.at = start
	v := p.readItem(end)
	if p.is(pyName, "for") {
		p.readComprehension()
		p.need(end)
		v.depth++
		return v
	}
	if p.takeMark(end) {
		if end != ")" {
			v.depth++
		}
		return v
	}
	for p.takeMark(",") {
		if p.is(pyOperator, end) {
			break
		}
		v = join(v, p.readItem(end))
	}
	p.need(end)
	v.depth++
	return v
}

// readItem parses an element, or a key with its value.
func (p *python) readItem(end string) pyValue {
	if end == "}" && p.takeMark("**") {
		p.readExpression()
		return pyValue{}
	}
	v := p.readStarred()
	if end == "}" && p.takeMark(":") {
		v = join(v, p.readExpression())
	}
	return v
}

// bindComprehension binds the names of a comprehension, if one begins here.
func (p *python) bindComprehension() {
	depth := 0
	for at := p.at; at < len(p.tokens); at++ {
		t := p.tokens[at]
		switch {
		case t.kind == pyOperator && strings.Contains("([{", t.text):
			depth++
		case t.kind == pyOperator && strings.Contains(")]}", t.text):
			if depth--; depth < 0 {
				return
			}
		case t.kind == pyName && t.text == "for" && depth == 0:
			p.at = at
			p.readComprehension()
			return
		}
	}
}

func (p *python) readComprehension() {
	for p.takeWord("for") {
		if p.readLoopIn(); p.failed {
			return
		}
		for p.takeWord("if") {
			p.readOr()
		}
	}
}

// readLoopIn parses one loop of a comprehension, whose range has no condition.
func (p *python) readLoopIn() {
	targets := p.readTargets()
	if !p.takeWord("in") {
		p.fail()
	}
	p.bindTargets(targets, p.elementOf(p.readOr()))
}

func (p *python) readSubscript(v pyValue) pyValue {
	v = p.bare(v)
	slices := false
	for !p.failed && !p.is(pyOperator, "]") {
		if colon := p.takeMark(":"); colon || p.takeMark(",") {
			slices = slices || colon
			continue
		}
		p.readStarred()
	}
	p.need("]")
	if v.pending || slices && v.depth > 0 {
		return v
	}
	if v.depth > 0 && !p.mutates {
		return p.elementOf(v)
	}
	return pyValue{path: v.path || p.usesPaths && !v.text}
}
