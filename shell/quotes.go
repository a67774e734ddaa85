package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Within double quotes and here-documents a single quote in ${x:-…} is no quote to
// any shell: what stands between two of them is substituted, and a brace there may
// end the expansion. The parser takes them for quotes, so that code could hide in
// what it calls text.

// hidesCode reports whether a line has text in such a place that shells may read
// as more than text.
func hidesCode(text string, file *syntax.File) bool {
	if !strings.Contains(text, "${") || !strings.Contains(text, "'") {
		return false
	}
	hides := false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DblQuoted:
			hides = hides || hiddenIn(n.Parts)
		case *syntax.Redirect:
			hides = hides || n.Hdoc != nil && hiddenIn(n.Hdoc.Parts)
		}
		return !hides
	})
	return hides
}

// hiddenIn looks at the expansions among quoted parts, down to the next
// substitution, in which quoting starts anew.
func hiddenIn(parts []syntax.WordPart) bool {
	for _, part := range parts {
		p, ok := part.(*syntax.ParamExp)
		if !ok || p.Exp == nil || p.Exp.Word == nil || trims(p.Exp.Op) {
			continue
		}
		for _, inner := range p.Exp.Word.Parts {
			if q, ok := inner.(*syntax.SglQuoted); ok && strings.ContainsAny(q.Value, "$`}\"\\") {
				return true
			}
		}
		if hiddenIn(p.Exp.Word.Parts) {
			return true
		}
	}
	return false
}
