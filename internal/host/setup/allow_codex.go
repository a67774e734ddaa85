package setup

import (
	"slices"
	"strings"
	"text/scanner"

	"github.com/umpirehq/umpire"
)

// Codex's rules are function calls with literal arguments, in a small subset of Starlark.

// A starToken is a word, a mark, or a string, whose text begins with a quote.
type starToken struct {
	text string
	line int
}

// splitStar returns the tokens of a file of rules.
func splitStar(text string) (tokens []starToken, err error) {
	var s scanner.Scanner
	s.Init(strings.NewReader(text))
	s.Mode, s.Error = scanner.ScanIdents, func(*scanner.Scanner, string) {} // the tokens tell
	s.IsIdentRune = func(c rune, _ int) bool { return c > 0 && !strings.ContainsRune(" \t\r\n()[],=#\"'", c) }
	for c := s.Scan(); c != scanner.EOF; c = s.Scan() {
		t := starToken{s.TokenText(), s.Position.Line}
		switch c {
		case '#':
			for s.Peek() != '\n' && s.Peek() != scanner.EOF {
				s.Next()
			}
			continue
		case '"', '\'':
			value, ok := readStarString(&s, c)
			if !ok {
				return nil, umpire.Errorf("line %d: the string is not closed, or umpire does not know its kind", t.line)
			}
			t.text = `"` + value
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// readStarString reads the rest of a string of one line.
func readStarString(s *scanner.Scanner, quote rune) (value string, ok bool) {
	var b strings.Builder
	for {
		c := s.Next()
		switch c {
		case quote:
			return b.String(), b.Len() > 0 || s.Peek() != quote // three quotes begin another kind
		case '\n', scanner.EOF:
			return "", false
		case '\\':
			if c = s.Next(); c != '\\' && c != '"' && c != '\'' {
				return "", false
			}
		}
		b.WriteRune(c)
	}
}

// maxAlternatives bounds the commands that one rule expands to.
const maxAlternatives = 64

// readCodexRules reads the prefix rules of a file.
func readCodexRules(text []byte) ([]Allowance, error) {
	tokens, err := splitStar(string(text))
	if err != nil {
		return nil, err
	}
	r := &starReader{tokens: tokens}
	var list []Allowance
	for r.at < len(tokens) {
		found, err := r.rule()
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// A starReader reads calls from tokens.
type starReader struct {
	tokens []starToken
	at     int
}

func (r *starReader) next() starToken {
	if r.at >= len(r.tokens) {
		return starToken{}
	}
	r.at++
	return r.tokens[r.at-1]
}

func (r *starReader) peek() string {
	if r.at >= len(r.tokens) {
		return ""
	}
	return r.tokens[r.at].text
}

func (r *starReader) fail(t starToken) error {
	return umpire.Errorf("line %d: %q is not valid: want calls such as prefix_rule(...)", t.line, t.text)
}

// rule reads one call. Calls of other functions allow no command.
func (r *starReader) rule() ([]Allowance, error) {
	name := r.next()
	if open := r.next(); open.text != "(" {
		return nil, r.fail(name)
	}
	values := map[string]any{}
	for r.peek() != ")" {
		key, is := r.next(), r.next()
		if is.text != "=" {
			return nil, r.fail(key)
		}
		value, err := r.value(0)
		if err != nil {
			return nil, err
		}
		values[key.text] = value
		if r.peek() == "," {
			r.next()
		} else if r.peek() != ")" {
			return nil, r.fail(r.next())
		}
	}
	r.next()
	if name.text != "prefix_rule" {
		return nil, nil
	}
	return codexAllowances(values, name.line), nil
}

// value reads a string, a word or a list of such.
func (r *starReader) value(depth int) (any, error) {
	t := r.next()
	if t.text != "[" {
		if text, quoted := strings.CutPrefix(t.text, `"`); quoted {
			return text, nil
		}
		if t.text == "" || strings.ContainsAny(t.text, "()[],=") {
			return nil, r.fail(t)
		}
		return nil, nil
	}
	if depth > 1 {
		return nil, r.fail(t)
	}
	list := []any{}
	for r.peek() != "]" {
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
		if r.peek() == "," {
			r.next()
		} else if r.peek() != "]" {
			return nil, r.fail(r.next())
		}
	}
	r.next()
	return list, nil
}

// codexActions are the decisions of a rule; the default is allow.
var codexActions = map[any]umpire.Verdict{
	nil: umpire.Allow, "allow": umpire.Allow, "prompt": umpire.Ask, "forbidden": umpire.Deny,
}

// codexAllowances returns the commands of a rule: each word of its pattern is one text or a list of
// alternatives.
func codexAllowances(values map[string]any, line int) []Allowance {
	pattern, _ := values["pattern"].([]any)
	commands := [][]string{nil}
	for _, word := range pattern {
		var longer [][]string
		for _, choice := range textList(choices(word)) {
			for _, words := range commands {
				longer = append(longer, append(slices.Clip(words), choice))
			}
		}
		commands = longer
		if len(commands) > maxAlternatives {
			return []Allowance{{Line: line, Text: "prefix_rule", Why: errPattern}}
		}
	}
	action, known := codexActions[values["decision"]]
	var list []Allowance
	for _, words := range commands {
		a := Allowance{Line: line, Text: strings.Join(words, " "), Rule: prefixRule(action, words...)}
		switch {
		case len(words) == 0:
			a.Why = errWholeTool
		case !known:
			a.Why = errPattern
		}
		list = append(list, a)
	}
	return list
}

// choices returns a word as a list of its alternatives.
func choices(word any) any {
	if text, ok := word.(string); ok {
		return []any{text}
	}
	return word
}

// textList returns a text or a list of texts as a list.
func textList(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, item := range v {
			if text, ok := item.(string); ok {
				list = append(list, text)
			}
		}
		return list
	}
	return nil
}
