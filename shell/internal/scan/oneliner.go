package scan

import (
	"slices"
	"strings"
)

// A ReadPath is a file or folder that a program reads.
type ReadPath struct {
	Text string
	// Tree means Text and everything below it. Glob means that Text is a pattern.
	Tree, Glob bool
}

// A Program is a program that provably only reads and prints.
type Program struct {
	Reads []ReadPath
	// Packages are the imported modules outside the language's own library.
	Packages []string
}

// Limits that bound the time for any input.
const (
	maxPython      = 1 << 14 // bytes
	maxPythonDepth = 60      // of nested expressions
	maxPasses      = 6
	maxPaths       = 64 // that one value may be
	maxSteps       = 1 << 17
)

// ReadPython returns the effects of Python 3 code, and false unless it provably only reads and
// prints. args are the arguments after the code, or nil if they are unknown.
func ReadPython(code string, args []string) (Program, bool) {
	if len(code) > maxPython || declaresEncoding(code) {
		return Program{}, false
	}
	tokens, ok := tokenizePython(code)
	if !ok {
		return Program{}, false
	}
	p := &python{}
	p.names, p.functions, p.args = map[string]pyValue{}, map[string][]string{}, args
	for range maxPasses {
		p.tokens, p.at, p.changed, p.program = tokens, 0, false, Program{}
		p.readProgram()
		if p.failed {
			return Program{}, false
		}
		if !p.changed {
			return p.program, true
		}
	}
	return Program{}, false
}

// declaresEncoding reports whether a comment would make Python decode the code differently.
func declaresEncoding(code string) bool {
	lines := strings.SplitN(code, "\n", 3)
	for _, line := range lines[:min(len(lines), 2)] {
		if strings.Contains(line, "#") && strings.Contains(line, "coding") {
			return true
		}
	}
	return false
}

// A pyValue contains the facts known about an expression.
type pyValue struct {
	// paths are all its possible texts. They are known only if it is placed.
	paths  []ReadPath
	placed bool
	// entry means the bare name of something in a folder.
	entry bool
	// text means that it is certainly a string, and path that it is an object of pathlib.
	text, path bool
	// depth is 1 for a list of such values, 2 for a list of lists, and so on.
	depth int
	// symbol is the name of the module or function, if the value is one.
	symbol string
	// walk means the result of os.walk below paths.
	walk bool
	// pending means that the value is not yet known: a later pass finds it.
	pending bool
}

func known(text string) pyValue {
	return pyValue{paths: []ReadPath{{Text: text}}, placed: true, text: true}
}

// join returns a value that may be either of two.
func join(a, b pyValue) pyValue {
	if a.pending {
		return b
	}
	if b.pending {
		return a
	}
	j := pyValue{text: a.text && b.text, path: a.path || b.path}
	if a.depth != b.depth || a.walk != b.walk {
		return j
	}
	j.depth, j.walk = a.depth, a.walk
	j.entry = a.entry && b.entry
	if !a.placed || !b.placed {
		return j
	}
	j.paths = append(j.paths, a.paths...)
	for _, p := range b.paths {
		if !slices.Contains(j.paths, p) {
			j.paths = append(j.paths, p)
		}
	}
	j.placed = len(j.paths) <= maxPaths
	return j
}

func equal(a, b pyValue) bool {
	if len(a.paths) != len(b.paths) {
		return false
	}
	for i := range a.paths {
		if a.paths[i] != b.paths[i] {
			return false
		}
	}
	a.paths, b.paths = nil, nil
	return a.placed == b.placed && a.entry == b.entry && a.text == b.text && a.path == b.path && a.depth == b.depth &&
		a.symbol == b.symbol && a.walk == b.walk && a.pending == b.pending
}

// element returns the element that a loop over a value yields: for a string, a character.
func (v pyValue) element() pyValue {
	if v.pending {
		return v
	}
	if v.depth == 0 || v.walk {
		return pyValue{path: v.path}
	}
	v.depth--
	return v
}

// concat returns the text of one value followed by that of another, with a mark between.
func concat(a pyValue, mark string, b pyValue) pyValue {
	if a.pending || b.pending {
		return pyValue{pending: true}
	}
	out := pyValue{text: mark == "", path: a.path || b.path}
	if !a.placed || a.depth > 0 || b.depth > 0 || !b.placed && !b.entry {
		return out
	}
	for _, x := range a.paths {
		if b.entry {
			// The name of one of its entries may lie below the folder alone.
			if mark == "" && !strings.HasSuffix(x.Text, "/") || x.Glob {
				return out
			}
			out.paths = append(out.paths, ReadPath{Text: x.Text, Tree: true})
			continue
		}
		for _, y := range b.paths {
			joined, ok := joinPaths(x, mark, y)
			if !ok || len(out.paths) >= maxPaths {
				return pyValue{text: out.text, path: out.path}
			}
			out.paths = append(out.paths, joined)
		}
	}
	out.placed = true
	return out
}

func joinPaths(x ReadPath, mark string, y ReadPath) (ReadPath, bool) {
	switch {
	case y.Tree || y.Glob || x.Glob:
		return ReadPath{}, false
	case mark == "/" && strings.HasPrefix(y.Text, "/"):
		return y, true
	case x.Tree:
		// The joined part may lead out of the folder again.
		return x, mark == "/" && !strings.Contains(y.Text, "..")
	case mark == "/" && (x.Text == "" || strings.HasSuffix(x.Text, "/")):
		mark = ""
	}
	return ReadPath{Text: x.Text + mark + y.Text}, true
}
