package scan

import "strings"

// A ActKind is the effect of an Act.
type ActKind uint8

// The kinds of acts.
const (
	ActCommand ActKind = iota // starts shell code
	ActDelete                 // removes a path
	ActWrite                  // writes a path
	ActRead                   // reads a path
)

// An Act is one effect of code. Text is the shell code, or the path; Tree says that a path
// includes everything below it, Glob that it is a pattern.
type Act struct {
	Kind ActKind
	Text string
	Tree bool
	Glob bool
}

// Limits that bound the time for any input.
const (
	maxCode  = 1 << 15
	maxActs  = 64
	maxDepth = 40
	// maxLevels is the maximum nesting of code in strings.
	maxLevels = 3
)

// FindActs returns the acts of the code. language is the name of its interpreter; an unknown one is
// read like the others.
func FindActs(language, code string) []Act { return findActs(language, code, 0) }

func findActs(language, code string, level int) []Act {
	if len(code) > maxCode {
		code = code[:maxCode]
	}
	switch language {
	case "sh":
		return []Act{{Kind: ActCommand, Text: code}}
	case "tclsh", "wish", "expect":
		return findTcl(code)
	case "emacs", "emacsclient", "guile", "racket", "clisp", "sbcl", "clojure", "clj", "janet":
		return findLisp(code)
	}
	r := &reader{tokens: tokenize(language, homes.Get().ReplaceAllString(code, `"~"`)), values: map[string]value{},
		aliases: map[string]string{}, language: language, level: level}
	r.noteImports()
	for r.at < len(r.tokens) && len(r.acts) < maxActs {
		before := r.at
		r.readStatement()
		if r.at == before {
			r.at++
		}
	}
	if r.deletesFound && !r.picks {
		for _, source := range r.sources {
			r.keepAct(source, true)
		}
	}
	return r.acts
}

// findTcl finds the acts of Tcl, whose commands are words.
func findTcl(code string) []Act {
	var acts []Act
	split := func(c rune) bool { return c == '\n' || c == ';' || c == '[' || c == ']' }
	for _, line := range strings.FieldsFunc(code, split) {
		words := strings.Fields(strings.NewReplacer("{", " ", "}", " ").Replace(line))
		for len(words) > 1 && strings.HasPrefix(words[1], "-") {
			words = append(words[:1], words[2:]...)
		}
		switch {
		case len(words) < 2:
		case words[0] == "exec" || words[0] == "spawn" || words[0] == "system":
			acts = append(acts, Act{Kind: ActCommand, Text: strings.Trim(strings.Join(words[1:], " "), `"`)})
		case words[0] == "file" && words[1] == "delete":
			for _, name := range words[2:] {
				if name[0] != '-' {
					acts = append(acts, Act{Kind: ActDelete, Text: strings.Trim(name, `"`), Tree: true})
				}
			}
		}
	}
	return acts[:min(len(acts), maxActs)]
}
