package scan

import "strings"

// A value is the known value of an expression: a text, a list of values, or nothing.
type value struct {
	text  string
	known bool
	list  []value
	keyed bool // follows a keyword
	glob  bool // text is an expanded pattern
	// function is the name of the function, if the value is one, or "".
	function string
}

// A reader reads tokens from left to right and records the effects of calls.
type reader struct {
	tokens []token
	at     int
	depth  int
	values map[string]value // of variables that hold one text
	acts   []Act

	language string
	level    int               // nesting of code in strings of code
	aliases  map[string]string // other names of functions
	// sources are the listed or matched files; deletesFound says that a file with an unknown
	// name is deleted, and picks that some files may be skipped.
	sources             []Act
	deletesFound, picks bool
}

func (r *reader) peekToken(n int) token {
	if r.at+n < len(r.tokens) {
		return r.tokens[r.at+n]
	}
	return token{kind: punct, text: "\n"}
}

// takeMark reports whether a mark comes next, and consumes it.
func (r *reader) takeMark(text string) bool {
	if t := r.peekToken(0); t.kind != punct || t.text != text {
		return false
	}
	r.at++
	return r.at <= len(r.tokens)
}

// readStatement reads an assignment or an expression.
func (r *reader) readStatement() {
	target := r.peekToken(0)
	next := r.peekToken(1)
	if target.kind == name && next.text == "=" && next.kind == punct && r.peekToken(2).text != "=" {
		r.at += 2
		v := r.readExpression()
		if _, twice := r.values[target.text]; twice {
			v = value{}
		}
		r.values[target.text] = v
		r.noteAlias(target.text, v.function)
		return
	}
	r.readExpression()
}

// noteImports records the names that imports define, and whether the code filters files.
func (r *reader) noteImports() {
	for i, t := range r.tokens {
		if t.kind != name {
			continue
		}
		if i > 0 && i+1 < len(r.tokens) && t.text == "as" && r.tokens[i+1].kind == name {
			r.noteAlias(r.tokens[i+1].text, r.tokens[i-1].text)
		}
		r.picks = r.picks || isOneOf(t.text, "if unless filter select grep endswith")
	}
}

// noteAlias records another name of a function.
func (r *reader) noteAlias(other, function string) {
	if function != "" && isCall(function) {
		r.aliases[other] = function
	}
}

// noteRenamed records the other names in {execSync: e} = …, which ends here.
func (r *reader) noteRenamed(from int) {
	if r.peekToken(0).text != "=" || r.peekToken(1).text == "=" {
		return
	}
	for at := from; at+2 < r.at; at++ {
		if r.tokens[at].kind == name && r.tokens[at+1].text == ":" && r.tokens[at+2].kind == name {
			r.noteAlias(r.tokens[at+2].text, r.tokens[at].text)
		}
	}
}

// readExpression parses a value and the values joined to it.
func (r *reader) readExpression() value {
	v := r.readValue()
	var joined []byte // the text of v, if it is a sum
	sum := false
	for {
		next := r.peekToken(0)
		switch {
		case next.kind == str && v.known: // adjacent strings are one
		case next.kind == punct && (next.text == "+" || next.text == "." || next.text == "~" || next.text == "/"):
			r.at++
			for r.takeMark(".") {
				continue
			}
		case sum && v.known:
			return value{text: string(joined), known: true}
		default:
			return v
		}
		other := r.readValue()
		if !sum {
			sum, joined = true, []byte(v.text)
		}
		if next.text == "/" && next.kind == punct {
			joined = append(joined, '/')
		}
		joined = append(joined, other.text...)
		v = value{known: v.known && other.known}
	}
}

// readValue parses a string, a variable, a list or a call.
func (r *reader) readValue() value {
	if r.depth++; r.depth > maxDepth {
		r.at = len(r.tokens)
	}
	defer func() { r.depth-- }()
	t := r.peekToken(0)
	r.at++
	v := value{}
	switch {
	case t.kind == str:
		v = value{text: t.text, known: !t.open}
	case t.kind == started:
		r.keepAct(Act{Kind: ActCommand, Text: t.text}, !t.open)
	case t.kind == codeWords:
		for w := range strings.FieldsSeq(t.text) {
			v.list = append(v.list, value{text: w, known: true})
		}
	case t.kind == name:
		v = r.readNamed(t.text)
	case t.text == "(" || t.text == "[" || t.text == "{":
		from := r.at
		v = value{list: r.readArguments()}
		if t.text == "{" {
			r.noteRenamed(from)
		}
		if len(v.list) == 1 && t.text == "(" {
			v = v.list[0]
		}
	default:
		r.at-- // not a value
		return value{}
	}
	return r.readMethods(v)
}

// readMethods parses .name(…) after a value.
func (r *reader) readMethods(v value) value {
	for {
		dot, method := r.peekToken(0), r.peekToken(1)
		if v.function != "" && r.takeMark("(") {
			v = r.readCall(v.function, value{}, r.readArguments())
			continue
		}
		if dot.text == "[" && dot.kind == punct && method.kind == str && isCall(method.text) &&
			r.peekToken(2).text == "]" {
			r.at += 3
			v = value{function: method.text}
			continue
		}
		if dot.kind == punct && dot.text == "-" && method.text == ">" {
			r.at++
			method = r.peekToken(1)
		} else if dot.kind != punct || dot.text != "." {
			return v
		}
		if method.kind != name {
			return v
		}
		r.at += 2
		if !r.takeMark("(") {
			if after := r.readCall(method.text, v, nil); after.known || !isCall(method.text) {
				v = after
			} else {
				v = value{function: method.text}
			}
			continue
		}
		v = r.readCall(method.text, v, r.readArguments())
	}
}

// readNamed parses a variable or a call; in some languages a call needs no brackets.
func (r *reader) readNamed(text string) value {
	next := r.peekToken(0)
	switch {
	case text == "new" || text == "await" || text == "return" || text == "not":
		return r.readValue()
	case r.takeMark("("):
		return r.readCall(text, value{}, r.readArguments())
	case r.aliases[text] == "" && isOneOf(text, opensPath) && next.kind == name &&
		(next.text == "my" || r.peekToken(1).text == ","):
		if next.text == "my" {
			r.at++
		}
		r.at++ // Perl's handle
		fallthrough
	case isCall(text) && (next.kind == str || next.kind == codeWords ||
		next.kind == name && (r.values[next.text].known || isOneOf(next.text, globsFiles))):
		r.takeMark(",")
		args := []value{r.readExpression()}
		for r.takeMark(",") {
			args = append(args, r.readExpression())
		}
		return r.readCall(text, value{}, args)
	case isOneOf(text, deletesTree) && next.kind == name:
		r.deletesFound = true
	case isCall(text) && !r.values[text].known:
		return value{function: text}
	}
	return r.values[text]
}

// readArguments parses values up to the closing bracket.
func (r *reader) readArguments() []value {
	var args []value
	for r.at < len(r.tokens) {
		t := r.peekToken(0)
		if t.kind == punct && (t.text == ")" || t.text == "]" || t.text == "}") {
			r.at++
			return args
		}
		if t.kind == punct && (t.text == "," || t.text == "\n" || t.text == ";") {
			r.at++
			continue
		}
		keyed := t.kind == name && r.peekToken(1).kind == punct &&
			(r.peekToken(1).text == "=" || r.peekToken(1).text == ":")
		if keyed {
			r.at += 2
			r.takeMark(">")
		}
		before := r.at
		v := r.readExpression()
		v.keyed = keyed && t.text != "args"
		args = append(args, v)
		if r.at == before {
			r.at++
		}
		for r.at < len(r.tokens) && !endsArgument(r.peekToken(0)) { // an unknown construct
			args[len(args)-1] = value{}
			if before = r.at; r.readValue().known || r.at == before {
				r.at = max(r.at, before+1)
			}
		}
	}
	return args
}

// endsArgument reports whether a token ends an argument.
func endsArgument(t token) bool { return t.kind == punct && strings.Contains(",)]}\n;", t.text) }

// keepAct keeps an act if it is known.
func (r *reader) keepAct(a Act, known bool) {
	if known && a.Text != "" && len(r.acts) < maxActs {
		r.acts = append(r.acts, a)
	}
}
