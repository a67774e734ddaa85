package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Arithmetic and parts of variables are computed here if all their inputs are known. `sed -n
// "$((n-4)),${n}p"` then becomes a known script. Anything more complex stays unknown.

// maxNumber is the maximum number to compute with, which prevents overflow.
const maxNumber = 1 << 30

// evaluateNumber evaluates arithmetic on known numbers without side effects.
func (s *state) evaluateNumber(x syntax.ArithmExpr) (int, bool) {
	switch x := x.(type) {
	case *syntax.Word:
		return s.wordNumber(x)
	case *syntax.ParenArithm:
		return s.evaluateNumber(x.X)
	case *syntax.UnaryArithm:
		n, ok := s.evaluateNumber(x.X)
		return -n, ok && x.Op == syntax.Minus && !x.Post
	case *syntax.BinaryArithm:
		a, ok1 := s.evaluateNumber(x.X)
		b, ok2 := s.evaluateNumber(x.Y)
		if !ok1 || !ok2 {
			return 0, false
		}
		n, ok := applyOperator(x.Op, a, b)
		return n, ok && n > -maxNumber && n < maxNumber
	}
	return 0, false
}

func applyOperator(op syntax.BinAritOperator, a, b int) (int, bool) {
	switch op {
	case syntax.Add:
		return a + b, true
	case syntax.Sub:
		return a - b, true
	case syntax.Mul:
		return a * b, true
	case syntax.Quo, syntax.Rem:
		if b == 0 {
			return 0, false
		}
		if op == syntax.Quo {
			return a / b, true
		}
		return a % b, true
	}
	return 0, false
}

// wordNumber returns the number that a word of arithmetic stands for: digits, or a variable
// that contains digits.
func (s *state) wordNumber(x *syntax.Word) (int, bool) {
	name := x.Lit()
	if len(x.Parts) == 1 {
		if p, ok := x.Parts[0].(*syntax.ParamExp); ok && plainParam(p) {
			name = p.Param.Value
			if !syntax.ValidName(name) {
				return 0, false
			}
		}
	}
	if !syntax.ValidName(name) {
		return parseDecimal(name)
	}
	v, ok := s.vars[name]
	if !ok || v.array || len(v.words) != 1 || !v.words[0].known() {
		return 0, false
	}
	return parseDecimal(v.words[0].text)
}

// plainParam reports whether an expansion is plain $name or ${name}.
func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Flags == nil && p.Index == nil && p.Slice == nil &&
		p.Repl == nil && p.Exp == nil
}

// parseDecimal parses a number like the shell; a leading 0 would make it octal.
func parseDecimal(text string) (int, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > 9 || digits[0] == '0' && len(digits) > 1 ||
		strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// assignedIn calls f for every variable that arithmetic in a node may change.
func assignedIn(node syntax.Node, f func(name string)) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			if op := n.Op.String(); strings.HasSuffix(op, "=") && !scan.HasField("== != <= >=", op) {
				assignedName(n.X, f)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				assignedName(n.X, f)
			}
		}
		return true
	})
}

func assignedName(x syntax.ArithmExpr, f func(name string)) {
	wd, ok := x.(*syntax.Word)
	if !ok {
		return
	}
	syntax.Walk(wd, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			f(n.Value)
		case *syntax.ParamExp:
			if n.Param != nil {
				f(n.Param.Value)
			}
		}
		return true
	})
}

// aNumber returns the value of a variable that arithmetic has set.
func aNumber() value { return value{words: []word{{open: true, shape: &aShape}}} }

// sliceText computes ${text:from:length}.
func (s *state) sliceText(text string, p *syntax.Slice) (string, bool) {
	from, ok := s.evaluateNumber(p.Offset)
	if !ok || !isASCII(text) {
		return "", false
	}
	if from < 0 {
		from += len(text)
	}
	if from < 0 || from > len(text) {
		return "", false
	}
	if p.Length == nil {
		return text[from:], true
	}
	length, ok := s.evaluateNumber(p.Length)
	if !ok || length < 0 {
		return "", false
	}
	return text[from:min(len(text), from+length)], true
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// counts returns the output of seq for one or two small whole numbers.
func counts(u *use, _ flow) flow {
	from, to := 1, 0
	for i, wd := range u.words[1:] {
		n, ok := parseDecimal(wd.text)
		if !ok || n < 0 || !wd.known() || i > 1 {
			return foreignFlow("seq")
		}
		if i == 1 {
			from = to
		}
		to = n
	}
	if len(u.words) == 1 || to-from > maxBraceWords {
		return foreignFlow("seq")
	}
	var b strings.Builder
	for n := from; n <= to; n++ {
		b.WriteString(strconv.Itoa(n) + "\n")
	}
	return flow{kind: flowText, text: b.String()}
}

// readPattern parses a pattern of literal text and stars, and returns the texts between the
// stars.
func readPattern(wd *syntax.Word) (literals []string, ok bool) {
	literals = []string{""}
	for _, part := range wd.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, `\?[]()~$`) {
				return nil, false
			}
			for i, text := range strings.Split(part.Value, "*") {
				if i > 0 {
					literals = append(literals, "")
				}
				literals[len(literals)-1] += text
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				return nil, false
			}
			literals[len(literals)-1] += part.Value
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				l, plain := inner.(*syntax.Lit)
				if !plain || part.Dollar || strings.ContainsAny(l.Value, "\\$`") {
					return nil, false
				}
				literals[len(literals)-1] += l.Value
			}
		default:
			return nil, false
		}
	}
	return literals, true
}

// matchesPattern reports whether the pattern matches all of text.
func matchesPattern(literals []string, text string) bool {
	last := len(literals) - 1
	if last == 0 {
		return text == literals[0]
	}
	text, ok := strings.CutPrefix(text, literals[0])
	if !ok {
		return false
	}
	for _, literal := range literals[1:last] {
		i := strings.Index(text, literal)
		if i < 0 {
			return false
		}
		text = text[i+len(literal):]
	}
	return strings.HasSuffix(text, literals[last])
}

// maxTrimmed is the maximum length of text to trim, which takes quadratic time.
const maxTrimmed = 1 << 10

func isTrim(op syntax.ParExpOperator) bool {
	return op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix || op == syntax.RemSmallPrefix ||
		op == syntax.RemLargePrefix
}

// trimGlob trims the names that a pattern stands for, if the result is the same operation on
// all of them: a literal ending, or the folders before the last slash.
func trimGlob(op syntax.ParExpOperator, wd word, literals []string) (word, bool) {
	switch {
	case strings.Contains(wd.text, "["):
	case len(literals) == 1 && (op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix) &&
		!strings.ContainsAny(literals[0], "*?"):
		if text, ends := strings.CutSuffix(wd.text, literals[0]); ends {
			return word{text: text, glob: true}, true
		}
	case op == syntax.RemLargePrefix && len(literals) == 2 && literals[0] == "" && literals[1] == "/":
		if text := wd.text[strings.LastIndexByte(wd.text, '/')+1:]; text != "" {
			return word{text: text, glob: true}, true
		}
	}
	return word{}, false
}

// trimText computes ${text%pattern} and its variants.
func trimText(op syntax.ParExpOperator, text string, literals []string) string {
	for n := range len(text) + 1 {
		switch short := text[len(text)-n:]; {
		case op == syntax.RemSmallSuffix && matchesPattern(literals, short):
			return text[:len(text)-n]
		case op == syntax.RemLargeSuffix && matchesPattern(literals, text[n:]):
			return text[:n]
		case op == syntax.RemSmallPrefix && matchesPattern(literals, text[:n]):
			return text[n:]
		case op == syntax.RemLargePrefix && matchesPattern(literals, text[:len(text)-n]):
			return short
		}
	}
	return text
}
