package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Arithmetic evaluates the text of variables and runs substitutions in it. The value of a
// variable is not always known: it may be cut from another one, or set on only one path through
// the line. So the walker records two facts about a line: text with a dollar sign was assigned
// to a variable, and arithmetic used an unknown value. One without the other is harmless.

const mayRunAsCode = "arithmetic with text that may run as code"

// An evaluation records both facts about a line.
type evaluation struct{ text, unknown, reported bool }

// doubtEvaluation doubts a line with both facts.
func doubtEvaluation(w *walker) {
	e := &w.evaluated
	if e.text && e.unknown && !e.reported {
		e.reported = true
		w.doubt("", mayRunAsCode)
	}
}

// noteHeldWords records the value of a variable or a positional parameter.
func noteHeldWords(w *walker, words ...word) {
	for i := range words {
		w.evaluated.text = w.evaluated.text || strings.ContainsAny(words[i].text, "$`")
	}
	doubtEvaluation(w)
}

// noteGivenWords records the value of a variable. A variable that the shell keeps as a number
// evaluates it.
func noteGivenWords(w *walker, s *state, name string, words []word) {
	doubtNumber(w, s, name, words)
	noteHeldWords(w, words...)
}

// doubtNumber doubts the value of a variable that a shell keeps as a number, if evaluating it may run code. mksh
// also evaluates the value that such a variable has for one command.
func doubtNumber(w *walker, s *state, name string, words []word) {
	if scan.HasField(integers, name) && leadToCode(w, s, words, new(maxReferences)) {
		w.doubt("", mayRunAsCode)
	}
}

// keepForeign records that an expansion of foreign text is foreign too, and the text that it
// may substitute.
func (e *expansion) keepForeign(p *syntax.ParamExp, words []word) []word {
	e.w.evaluated.text = e.w.evaluated.text || holdsCode(p)
	if p.Param == nil {
		return words
	}
	from := e.s.vars[p.Param.Value].words
	if n, err := strconv.Atoi(p.Param.Value); err == nil {
		from = e.s.argumentWords(n)
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

// runsWhenEvaluated reports whether evaluating text runs something, or may do so with more text
// after it.
func runsWhenEvaluated(text string) bool {
	for _, opener := range [...]string{"$(", "`", "${", "$["} {
		if strings.Contains(text, opener) {
			return true
		}
	}
	return strings.HasSuffix(text, "$")
}

// holdsCode reports whether a node contains text that runs when evaluated.
func holdsCode(node syntax.Node) bool {
	return literalIn(node, func(text string) bool { return runsWhenEvaluated(strings.ReplaceAll(text, `\`, "")) })
}

// pickers print a part of their input. Patterns in their arguments end in a dollar sign or name
// fields with one.
const pickers = "grep egrep fgrep rg find git ls wc head tail sort"

// composers print text that their programs compose from double-quoted strings.
const composers = "awk gawk mawk nawk jq yq"

// composesCode reports whether such a program contains a text that could become code.
func composesCode(program string) bool {
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

// escapesByNumber reports whether text spells a character by its number.
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

// printsCode reports whether commands may print text that runs when evaluated: text of the
// line, or text made from it.
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
		return literalIn(arg, composesCode)
	}
	return literalIn(arg, func(text string) bool { return strings.ContainsAny(text, "$`") || escapesByNumber(text) })
}

// literalIn reports whether a node contains a text, quoted or not, of some kind.
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

// mayEvaluate reports whether a parameter contains text that must not be evaluated.
func mayEvaluate(w *walker, s *state, name string) bool {
	left := maxReferences
	if n, err := strconv.Atoi(name); err == nil {
		return n > 0 && leadToCode(w, s, s.argumentWords(n), &left)
	}
	if name == "@" || name == "*" {
		return leadToCode(w, s, s.args, &left) || s.args == nil && openValue(w)
	}
	if scan.HasField("? # $ ! -", name) {
		return false
	}
	return leadsToCode(w, s, name, &left)
}

// argumentWords returns the possible values of a positional parameter.
func (s *state) argumentWords(n int) []word {
	if words, known := positionalWords(s.args, n); known {
		return words
	}
	return append([]word{{open: true}}, s.args...)
}

// maxReferences limits how many references from one value to another are followed.
const maxReferences = 100

func leadsToCode(w *walker, s *state, name string, left *int) bool {
	v, ok := s.vars[name]
	if !ok {
		return openValue(w)
	}
	return leadToCode(w, s, v.words, left)
}

func leadToCode(w *walker, s *state, words []word, left *int) bool {
	for i := range words {
		wd := &words[i]
		*left--
		if *left < 0 || wd.foreign || strings.ContainsAny(wd.text, "$`") {
			return true
		}
		if wd.open && !wd.isNumber() {
			w.evaluated.unknown = true
		}
		for name := range namesIn(wd.text) {
			if leadsToCode(w, s, name, left) {
				return true
			}
		}
	}
	return false
}

// openValue records an unknown value, which is not itself code.
func openValue(w *walker) bool {
	w.evaluated.unknown = true
	return false
}

// evaluatesIn reports whether an expression names a variable that must not be evaluated.
func evaluatesIn(w *walker, s *state, expression string) bool {
	for name := range namesIn(expression) {
		left := maxReferences
		if leadsToCode(w, s, name, &left) {
			return true
		}
	}
	return false
}

// namesIn yields the names of variables in an expression.
func namesIn(expression string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range strings.FieldsFuncSeq(expression, func(c rune) bool { return !variableRune(c) }) {
			if syntax.ValidName(name) && !yield(name) {
				return
			}
		}
	}
}

// isNumber reports whether a word consists only of numbers.
func (wd *word) isNumber() bool {
	text, ok := wd.whole()
	return ok && strings.Trim(text, someNumber+"+-0123456789 \t\n") == ""
}

func positionalWords(args []word, n int) ([]word, bool) {
	if args == nil || n == 0 {
		return nil, false
	}
	for _, arg := range args[:min(n, len(args))] {
		if arg.split {
			return nil, false
		}
	}
	if n > len(args) {
		return []word{{}}, true
	}
	return args[n-1 : n], true
}
