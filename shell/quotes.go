package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/umpirehq/umpire"
)

// Within double quotes and here-documents a single quote in ${x:-…} does not quote in any
// shell: the text between two of them is substituted, and a brace there may end the expansion.
// The parser treats them as quotes and could mistake code for text.

// hidesCode explains why shells may run text that the parser does not consider code, or returns "".
func hidesCode(text string, file *syntax.File) umpire.Phrase {
	if !strings.Contains(text, "${") && !strings.Contains(text, "#") {
		return ""
	}
	var problem umpire.Phrase
	syntax.Walk(file, func(n syntax.Node) bool {
		hidden := false
		switch n := n.(type) {
		case *syntax.Comment:
			if !startsComment(text, offsetOf(n.Hash)) {
				problem = "a # within a word does not begin a comment"
			}
		case *syntax.DblQuoted:
			hidden = hiddenIn(n.Parts)
		case *syntax.Redirect:
			hidden = n.Hdoc != nil && hiddenIn(n.Hdoc.Parts)
		case *syntax.ParamExp:
			if bracketOfZsh(text[offsetOf(n.Pos()):offsetOf(n.End())]) {
				problem = "zsh expands what follows $~ and the like"
			}
			if startsProcess(n) {
				problem = "a program in <(…) within ${…} runs"
			}
		}
		if hidden {
			problem = `a single quote within "${…}" is text to the shell, and what follows it may run`
		}
		return problem == ""
	})
	return problem
}

// startsComment reports whether shells take the # at an offset for the beginning of a comment:
// only where a word could begin.
func startsComment(text string, at int) bool {
	return at == 0 || strings.IndexByte(" \t\n;&|(", text[at-1]) >= 0
}

// startsProcess reports whether an expansion contains <(…), >(…) or the =(…) of zsh, which
// shells run but the parser takes for text.
func startsProcess(p *syntax.ParamExp) bool {
	starts := false
	syntax.Walk(p, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			for _, opener := range [...]string{"<(", ">(", "=("} {
				starts = starts || strings.Contains(n.Value, opener)
			}
		case *syntax.CmdSubst:
			return false
		}
		return !starts
	})
	return starts
}

// hiddenIn checks the expansions among quoted parts, down to the next substitution, where
// quoting starts over.
func hiddenIn(parts []syntax.WordPart) bool {
	for _, part := range parts {
		p, ok := part.(*syntax.ParamExp)
		if !ok {
			continue
		}
		for _, inner := range insertedParts(p) {
			if q, ok := inner.(*syntax.SglQuoted); ok && strings.ContainsAny(q.Value, "$`}\"\\") {
				return true
			}
		}
		for _, inner := range patternParts(p) { // zsh ends the pattern at a quoted brace or slash
			if q, ok := inner.(*syntax.SglQuoted); ok && strings.ContainsAny(q.Value, "}/") &&
				strings.ContainsAny(q.Value, "$`") {
				return true
			}
		}
		if hiddenIn(insertedParts(p)) || hiddenIn(patternParts(p)) {
			return true
		}
	}
	return false
}

// insertedParts returns the parts of the text that an expansion may substitute for a value.
func insertedParts(p *syntax.ParamExp) []syntax.WordPart {
	switch {
	case p.Exp != nil && p.Exp.Word != nil && !isTrim(p.Exp.Op):
		return p.Exp.Word.Parts
	case p.Repl != nil && p.Repl.With != nil:
		return p.Repl.With.Parts
	}
	return nil
}

// patternParts returns the parts of the pattern of an expansion.
func patternParts(p *syntax.ParamExp) []syntax.WordPart {
	switch {
	case p.Exp != nil && p.Exp.Word != nil && isTrim(p.Exp.Op):
		return p.Exp.Word.Parts
	case p.Repl != nil && p.Repl.Orig != nil:
		return p.Repl.Orig.Parts
	}
	return nil
}

// bracketOfZsh reports whether text contains $~[…], or ${…} or $(…) with such a sign in
// between, which zsh evaluates as arithmetic, for example.
func bracketOfZsh(text string) bool {
	for {
		_, after, found := strings.Cut(text, "$")
		if !found {
			return false
		}
		bare := strings.TrimLeft(after, "=~^+")
		if bare != after && bare != "" && strings.IndexByte("[{(", bare[0]) >= 0 {
			return true
		}
		text = after
	}
}
