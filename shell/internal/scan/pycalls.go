package scan

import (
	"slices"
	"strings"
)

// readAttribute parses the name after a dot.
func (p *python) readAttribute(v pyValue) pyValue {
	attribute := p.peek()
	p.at++
	if attribute.kind != pyName || strings.HasPrefix(attribute.text, "_") {
		p.fail()
		return pyValue{}
	}
	if v.symbol != "" {
		return p.readMember(v.symbol, attribute.text)
	}
	calls := p.is(pyOperator, "(")
	switch {
	case HasField(pythonMutators, attribute.text):
		p.note(&p.mutates)
		return pyValue{}
	case (v.path || p.usesPaths && !v.text) && HasField(pathMethods, attribute.text) && calls:
		return p.readPathMethod(v, attribute.text)
	case attribute.text == "replace" && (v.text || !p.usesPaths):
		return p.callResult(pyValue{text: v.text}, calls)
	case v.path && HasField("parent", attribute.text):
		return pyValue{path: true}
	case v.depth > 0 && v.symbol == "" && HasField("keys values copy", attribute.text) && calls:
		return p.callResult(v, true)
	case v.depth > 0 && attribute.text == "items" && calls:
		v.depth++
		return p.callResult(v, true)
	case HasField(pythonMethods, attribute.text):
		return p.callResult(pyValue{text: calls && HasField(textMethods, attribute.text),
			path: v.path && HasField(pathsOfPaths, attribute.text)},
			calls)
	}
	p.fail()
	return pyValue{}
}

// callResult parses the arguments of a method, if it is called, and returns its result.
func (p *python) callResult(result pyValue, calls bool) pyValue {
	if calls && p.takeMark("(") {
		p.readArguments()
	}
	return result
}

// readMember parses a name of a module, or of a class.
func (p *scope) readMember(symbol, member string) pyValue {
	switch names := namesOf(symbol); {
	case names != "" && HasField(names, member):
		return p.readSymbol(symbol + "." + member)
	case names == "" && HasField(pythonClasses, symbol) && HasField(pythonMethods, member):
		return pyValue{}
	case strings.HasPrefix(symbol, "pathlib.") && member == "cwd":
		return pyValue{symbol: "pathlib.Path.cwd"}
	case HasField("sys.stdout sys.stderr", symbol) && HasField("write writelines flush isatty", member):
		return pyValue{}
	case symbol == "sys.stdin" && HasField("read readline readlines buffer isatty", member),
		symbol == "sys.version_info" && HasField("major minor micro", member):
		return pyValue{text: member == "read" && p.is(pyOperator, "(")}
	case strings.HasPrefix(symbol, "itertools.chain") && member == "from_iterable":
		return pyValue{}
	}
	p.fail()
	return pyValue{}
}

// readSymbol returns the value of a module's name. The arguments of the program may be known.
func (p *scope) readSymbol(symbol string) pyValue {
	switch {
	case symbol == "sys.argv" && p.args != nil:
		v := pyValue{depth: 1, placed: true, text: true}
		for _, arg := range p.args { // the first element does not name a file
			v.paths = append(v.paths, ReadPath{Text: arg})
		}
		return v
	case symbol == "sys.argv":
		return pyValue{depth: 1}
	case HasField("os.sep os.linesep os.name os.curdir", symbol):
		return pyValue{text: true}
	}
	return pyValue{symbol: symbol}
}

// readCall parses the arguments of a function and returns its result.
func (p *python) readCall(function pyValue) pyValue {
	symbol := function.symbol
	switch {
	case HasField("open gzip.open bz2.open lzma.open", symbol):
		return p.readOpen()
	case HasField("pathlib.Path pathlib.PurePath pathlib.PosixPath pathlib.PurePosixPath", symbol):
		return p.readPath()
	case symbol == "pathlib.Path.cwd":
		p.need(")")
		return pyValue{paths: []ReadPath{{Text: "."}}, placed: true, path: true}
	case HasField(takesPath, symbol):
		return p.readFileFunction(symbol)
	case symbol == "os.path.join":
		args := p.readArguments()
		if len(args) == 0 {
			return pyValue{}
		}
		v := args[0]
		for _, arg := range args[1:] {
			v = concat(v, "/", arg)
		}
		v.text = true
		return v
	case strings.HasPrefix(symbol, "def "):
		p.readOwnCall(symbol[len("def "):])
		return pyValue{path: p.usesPaths}
	case strings.HasPrefix(symbol, "pathlib.") || namesOf(symbol) != "" || symbol == "sys.stdout" ||
		symbol == "sys.stderr" || symbol == "sys.stdin":
		p.fail()
		return pyValue{}
	case symbol == "":
		// No function that such a value may be is harmful.
		p.readArguments()
		return pyValue{path: function.path || p.usesPaths}
	case symbol == "type":
		return p.readType()
	}
	return p.builtinResult(symbol, p.readArguments())
}

// readType parses a call of type, whose result must not be called: the class of an archive
// would open another archive. The result may be printed, or its name read.
func (p *python) readType() pyValue {
	printed := p.nested && p.at == 3 || p.at > 3 && p.tokens[p.at-4].text == "print" && p.tokens[p.at-3].text == "("
	if len(p.readArguments()) != 1 {
		p.fail()
	}
	switch {
	case p.is(pyOperator, ".") && p.behind().text == "__name__":
		p.at += 2
		return pyValue{text: true}
	case !printed || !p.is(pyOperator, ")"):
		p.fail()
	}
	return pyValue{}
}

// builtinResult returns the value of a function that keeps the values of its arguments.
func (p *scope) builtinResult(symbol string, args []pyValue) pyValue {
	switch {
	case len(args) == 0:
		return pyValue{}
	case HasField("sorted list set tuple reversed iter frozenset", symbol) && args[0].depth > 0:
		return args[0]
	case HasField("str os.path.normpath", symbol):
		v := args[0]
		if v.depth > 0 || v.walk || symbol == "os.path.normpath" {
			return pyValue{text: true}
		}
		v.path, v.text = false, true
		return v
	case symbol == "enumerate" && args[0].depth > 0:
		v := args[0]
		v.depth++
		v.text = false
		return v
	case symbol == "zip":
		v := args[0]
		for _, arg := range args[1:] {
			v = join(v, arg)
		}
		v.depth++
		return v
	}
	holds := false
	for _, arg := range args {
		holds = holds || arg.path
	}
	text := HasField("repr chr hex ascii json.dumps textwrap.dedent html.escape os.getcwd", symbol)
	return pyValue{text: text, path: holds}
}

// readArguments parses the arguments after an opening bracket. Keyword arguments follow the
// others.
func (p *python) readArguments() []pyValue {
	args, _ := p.readNamedArguments()
	return args
}

// readNamedArguments also returns the names: "" for a positional argument, "*" for one that may
// expand to several.
func (p *python) readNamedArguments() (args []pyValue, names []string) {
	start := p.at
	p.bindComprehension()
	p.at = start
	for !p.failed && !p.is(pyOperator, ")") {
		argument := ""
		switch {
		case p.takeMark("**") || p.takeMark("*"):
			argument = "*"
		case p.peek().kind == pyName && p.behind().kind == pyOperator && p.behind().text == "=":
			argument = p.peek().text
			p.at += 2
		}
		v := p.readExpression()
		if p.is(pyName, "for") {
			p.readComprehension()
			v.depth++
		}
		args, names = append(args, v), append(names, argument)
		if !p.takeMark(",") {
			break
		}
	}
	p.need(")")
	return args, names
}

// readOwnCall binds the arguments of a call to the parameters of the program's function.
func (p *python) readOwnCall(function string) {
	parameters := p.functions[function]
	args, names := p.readNamedArguments()
	for i, arg := range args {
		switch {
		case names[i] == "*":
			for _, parameter := range parameters {
				if parameter != "*" {
					p.bind(parameter, pyValue{path: p.usesPaths})
				}
			}
		case names[i] != "":
			if HasField(strings.Join(parameters, " "), names[i]) {
				p.bind(names[i], arg)
			}
		case i < len(parameters) && parameters[i] != "*":
			p.bind(parameters[i], arg)
		}
	}
}

// readOpen parses the arguments of open. The file must be known, and only read.
func (p *python) readOpen() pyValue {
	args, names := p.readNamedArguments()
	if len(args) == 0 || names[0] != "" && names[0] != "file" {
		p.fail()
		return pyValue{}
	}
	if p.checkMode(args[1:], names[1:]); !p.failed {
		p.reads(args[0], false)
	}
	return pyValue{}
}

// checkMode fails unless the arguments of open after the file only read it. The mode comes first.
func (p *scope) checkMode(args []pyValue, names []string) {
	for i := range args {
		mode := names[i] == "mode" || names[i] == "" && i == 0
		if mode && !readsOnly(args[i]) || !mode && !HasField("encoding errors newline", names[i]) {
			p.fail()
		}
	}
}

// readsOnly reports whether a mode does not write the file.
func readsOnly(mode pyValue) bool {
	if !mode.placed || mode.depth > 0 {
		return false
	}
	for _, m := range mode.paths {
		if m.Tree || m.Glob || !HasField("r rb rt br tr rU", m.Text) {
			return false
		}
	}
	return len(mode.paths) > 0
}

// reads records that files are read; their names must be known.
func (p *scope) reads(v pyValue, tree bool) {
	if v.pending {
		return
	}
	if !v.placed || v.depth > 0 || v.walk {
		p.fail()
		return
	}
	for _, path := range v.paths {
		path.Tree = path.Tree || tree
		if !slices.Contains(p.program.Reads, path) {
			p.program.Reads = append(p.program.Reads, path)
		}
	}
	if len(p.program.Reads) > maxPaths {
		p.fail()
	}
}

// readFileFunction parses a call of a function that looks at a file or a folder.
func (p *python) readFileFunction(symbol string) pyValue {
	args, names := p.readNamedArguments()
	for i, argument := range names {
		if i > 0 && argument != "recursive" || i == 0 && argument != "" {
			p.fail()
			return pyValue{}
		}
	}
	if len(args) == 0 {
		args = []pyValue{known(".")}
	}
	switch folder := args[0]; symbol {
	case "glob.glob", "glob.iglob":
		return p.globbed(folder)
	case "os.listdir", "os.scandir":
		p.reads(folder, false)
		return pyValue{entry: symbol == "os.listdir", depth: 1}
	case "os.walk":
		p.reads(folder, true)
		folder.walk = true
		return folder
	default:
		p.reads(folder, false)
		return pyValue{}
	}
}

// globbed returns the files that patterns match.
func (p *scope) globbed(patterns pyValue) pyValue {
	v := pyValue{placed: patterns.placed && patterns.depth == 0, depth: 1, text: true}
	for _, path := range patterns.paths {
		if path.Tree || path.Glob {
			p.fail()
		}
		if before, _, found := strings.Cut(path.Text, "**"); found {
			slash := strings.LastIndexByte(before, '/')
			folder := before[:slash+1]
			if strings.ContainsAny(folder, "*?[") || strings.Contains(path.Text[slash+1:], "..") {
				p.fail()
			}
			if folder == "" {
				folder = "."
			}
			v.paths = append(v.paths, ReadPath{Text: folder, Tree: true})
			continue
		}
		v.paths = append(v.paths, ReadPath{Text: path.Text, Glob: strings.ContainsAny(path.Text, "*?[")})
	}
	of := v
	of.depth = 0
	p.reads(of, false)
	return v
}

// pathsOfPaths are attributes of paths that are paths themselves.
const pathsOfPaths = "joinpath with_suffix with_name with_stem relative_to parents"

// pathMethods are methods of paths that reach files.
const pathMethods = "read_text read_bytes open glob rglob iterdir exists is_file is_dir stat joinpath"

// readPath parses the arguments of Path.
func (p *python) readPath() pyValue {
	args := p.readArguments()
	if len(args) == 0 {
		args = []pyValue{known(".")}
	}
	v := args[0]
	for _, arg := range args[1:] {
		v = concat(v, "/", arg)
	}
	if v.depth > 0 || v.walk {
		v = pyValue{}
	}
	v.path, v.text = true, false
	return v
}

// readPathMethod parses a call of a method of a path.
func (p *python) readPathMethod(v pyValue, method string) pyValue {
	p.need("(")
	args, names := p.readNamedArguments()
	switch method {
	case "joinpath":
		for _, arg := range args {
			v = concat(v, "/", arg)
		}
		v.path, v.text = true, false
		return v
	case "glob", "rglob":
		return p.readPathGlob(v, args)
	case "open":
		if p.checkMode(args, names); p.failed {
			return pyValue{}
		}
	case "iterdir":
		p.reads(v, false)
		v.paths = append([]ReadPath{}, v.paths...)
		for i := range v.paths {
			v.paths[i].Tree = true
		}
		v.depth = 1
		return v
	}
	p.reads(v, false)
	return pyValue{text: method == "read_text"}
}

// readPathGlob returns the paths that a pattern matches below a path.
func (p *scope) readPathGlob(v pyValue, args []pyValue) pyValue {
	if len(args) != 1 || v.depth > 0 || !args[0].placed || args[0].depth > 0 {
		p.fail()
		return pyValue{}
	}
	for _, pattern := range args[0].paths {
		if strings.Contains(pattern.Text, "..") || strings.HasPrefix(pattern.Text, "/") || pattern.Tree ||
			pattern.Glob {
			p.fail()
		}
	}
	p.reads(v, true)
	v.paths = append([]ReadPath{}, v.paths...)
	for i := range v.paths {
		v.paths[i].Tree = true
	}
	v.depth = 1
	return v
}
