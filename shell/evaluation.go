package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire/shell/internal/scan"
	"mvdan.cc/sh/v3/syntax"
)

// Arithmetic evaluates the text of variables, and runs what is substituted in it.
// What a variable holds is not always known: it may be cut from another one, or set
// on one way through the line only. So two things are noted of a line: that text
// with a dollar sign was given to a variable, and that arithmetic was done with a
// value that is not known. One without the other is harmless.

const mayRunAsCode = "arithmetic with text that may run as code"

// An evaluation is what was noted of a line.
type evaluation struct{ text, unknown, reported bool }

// meet doubts a line on which both were noted.
func (w *walker) meet() {
	e := &w.evaluated
	if e.text && e.unknown && !e.reported {
		e.reported = true
		w.doubt("", mayRunAsCode)
	}
}

// holds notes what a variable or a positional parameter is given.
func (w *walker) holds(words ...word) {
	for i := range words {
		w.evaluated.text = w.evaluated.text || strings.ContainsAny(words[i].text, "$`")
	}
	w.meet()
}

// gives notes what a variable is given. A variable that the shell keeps as a number
// evaluates it.
func (w *walker) gives(s *state, name string, words []word) {
	if scan.HasField(integers, name) && w.leadToCode(s, words, new(maxReferences)) {
		w.doubt("", mayRunAsCode)
	}
	w.holds(words...)
}

// keepForeign notes that what an expansion makes of foreign text is foreign too, and
// the text that it may put in its place.
func (e *expansion) keepForeign(p *syntax.ParamExp, words []word) []word {
	e.w.evaluated.text = e.w.evaluated.text || holdsCode(p)
	if p.Param == nil {
		return words
	}
	from := e.s.vars[p.Param.Value].words
	if n, err := strconv.Atoi(p.Param.Value); err == nil {
		from = e.s.argument(n)
	} else if p.Param.Value == "@" || p.Param.Value == "*" {
		from = e.s.args
	}
	if slices.ContainsFunc(from, func(wd word) bool { return wd.foreign }) {
		words = slices.Clone(words)
		for i := range words {
			words[i].foreign = words[i].foreign || words[i].open && !words[i].isNumber()
		}
	}
	return words
}

// runsWhenEvaluated reports text that runs something when it is evaluated, or may
// with more text behind it.
func runsWhenEvaluated(text string) bool {
	for _, opener := range [...]string{"$(", "`", "${", "$["} {
		if strings.Contains(text, opener) {
			return true
		}
	}
	return strings.HasSuffix(text, "$")
}

// holdsCode reports a node with text that runs when it is evaluated.
func holdsCode(node syntax.Node) bool {
	return literalIn(node, func(text string) bool { return runsWhenEvaluated(strings.ReplaceAll(text, `\`, "")) })
}

// pickers print a part of what they read, and patterns in their arguments end in a
// dollar sign or name fields with one.
const pickers = "grep egrep fgrep rg find git ls wc head tail sort"

// composers print what their programs compose of texts in double quotes.
const composers = "awk gawk mawk nawk jq yq"

// composes reports a program of theirs with a text that could become code.
func composes(program string) bool {
	if strings.Contains(program, "implode") || strings.Contains(program, "@base64d") {
		return true
	}
	for i, text := range strings.Split(program, `"`) {
		if i%2 == 1 && (strings.ContainsAny(text, "$[") || strings.Contains(text, "%c") || escapesByNumber(text)) {
			return true
		}
	}
	return false
}

// escapesByNumber reports text that spells a character by its number.
func escapesByNumber(text string) bool {
	for {
		_, after, found := strings.Cut(text, `\`)
		if !found || after == "" {
			return false
		}
		if strings.IndexByte("01234567x", after[0]) >= 0 {
			return true
		}
		text = after[1:]
	}
}

// printsCode reports commands that may print text which runs when it is evaluated,
// since it stands in the line or is made from what stands there.
func (s *state) printsCode(node syntax.Node, left *int) bool {
	prints := holdsCode(node)
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if *left--; len(n.Args) == 0 || *left < 0 {
				prints = prints || *left < 0
				break
			}
			name := n.Args[0].Lit()
			if body := s.functions[name]; body != nil {
				prints = prints || s.printsCode(body, left)
			}
			for _, arg := range n.Args[1:] {
				prints = prints || argumentMakesCode(name, arg)
			}
		case *syntax.Redirect:
			prints = prints || literalIn(n, func(text string) bool { return strings.ContainsAny(text, "$`") })
		}
		return !prints
	})
	return prints
}

func argumentMakesCode(program string, arg *syntax.Word) bool {
	switch {
	case scan.HasField(pickers, program):
		return false
	case scan.HasField(composers, program):
		return literalIn(arg, composes)
	}
	return literalIn(arg, func(text string) bool { return strings.ContainsAny(text, "$`") || escapesByNumber(text) })
}

// literalIn reports whether a text in a node, quoted or not, is of some kind.
func literalIn(node syntax.Node, kind func(string) bool) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			found = found || kind(n.Value)
		case *syntax.Lit:
			found = found || kind(n.Value)
		}
		return !found
	})
	return found
}

// evaluates reports whether a parameter holds what must not be evaluated.
func (w *walker) evaluates(s *state, name string) bool {
	left := maxReferences
	if n, err := strconv.Atoi(name); err == nil {
		return n > 0 && w.leadToCode(s, s.argument(n), &left)
	}
	if name == "@" || name == "*" {
		return w.leadToCode(s, s.args, &left) || s.args == nil && w.openValue()
	}
	if scan.HasField("? # $ ! -", name) {
		return false
	}
	return w.leadsToCode(s, name, &left)
}

// argument is what a positional parameter may be.
func (s *state) argument(n int) []word {
	if words, known := positional(s.args, n); known {
		return words
	}
	return append([]word{{open: true}}, s.args...)
}

// maxReferences is how many values are looked at that may name one another.
const maxReferences = 100

func (w *walker) leadsToCode(s *state, name string, left *int) bool {
	v, ok := s.vars[name]
	if !ok {
		return w.openValue()
	}
	return w.leadToCode(s, v.words, left)
}

func (w *walker) leadToCode(s *state, words []word, left *int) bool {
	for i := range words {
		wd := &words[i]
		*left--
		if *left < 0 || wd.foreign || strings.ContainsAny(wd.text, "$`") {
			return true
		}
		if wd.open && !wd.isNumber() {
			w.evaluated.unknown = true
		}
		for name := range names(wd.text) {
			if w.leadsToCode(s, name, left) {
				return true
			}
		}
	}
	return false
}

// openValue notes a value that is not known. It is not in itself code.
func (w *walker) openValue() bool {
	w.evaluated.unknown = true
	return false
}

// evaluatesIn reports whether an expression names a variable that must not be
// evaluated.
func (w *walker) evaluatesIn(s *state, expression string) bool {
	for name := range names(expression) {
		left := maxReferences
		if w.leadsToCode(s, name, &left) {
			return true
		}
	}
	return false
}

// names are the names of variables in an expression.
func names(expression string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range strings.FieldsFuncSeq(expression, func(c rune) bool { return !variableRune(c) }) {
			if syntax.ValidName(name) && !yield(name) {
				return
			}
		}
	}
}

// isNumber reports a word that is a number, or nothing but numbers.
func (wd *word) isNumber() bool {
	text, ok := wd.whole()
	return ok && strings.Trim(text, someNumber+"+-0123456789 \t\n") == ""
}
