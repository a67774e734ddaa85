package judge

import (
	"errors"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/lazyregexp"
)

// A makefile contains only rules with command lines, and variables that are texts. Anything else in
// it is an error, because it could change the commands of a rule.
type makefile struct {
	vars  map[string]string
	rules map[string]*rule
	phony map[string]bool
	first string // the default target
}

type rule struct {
	needs []string
	lines []string
}

const (
	maxMakeLines = 5_000
	maxMakeDepth = 50
	maxMakeText  = 64 << 10
	maxMakeSteps = 20_000 // variable expansions
)

var (
	errNotLiteral = errors.New("the makefile contains more than command lines")

	makeAssignment = lazyregexp.Regexp{Text: `^([A-Za-z_][A-Za-z0-9_]*)[ \t]*(:=|::=|=)[ \t]*(.*)$`}
	makeRule       = lazyregexp.Regexp{Text: `^([A-Za-z0-9_./ \t-]+?)[ \t]*:[ \t]*([A-Za-z0-9_./ \t-]*)$`}
	makeReference  = lazyregexp.Regexp{Text: `\$(\(([A-Za-z_][A-Za-z0-9_]*)\)|\{([A-Za-z_][A-Za-z0-9_]*)\}|.)?`}
)

// ownVariables are variables that change the behaviour of make itself.
const ownVariables = " SHELL MAKE MAKEFLAGS MAKEFILES MAKEOVERRIDES MAKELEVEL MAKESHELL GNUMAKEFLAGS MAKEFILE_LIST " +
	"CURDIR VPATH GPATH SUFFIXES "

// directives begin lines that are neither rules nor variables.
const directives = " include sinclude -include define endef ifdef ifndef ifeq ifneq else endif export unexport " +
	"override private vpath load -load undefine "

// parseMakefile parses a makefile. It fails if the file contains more than command lines.
func parseMakefile(text string) (*makefile, error) {
	m := &makefile{vars: map[string]string{}, rules: map[string]*rule{}, phony: map[string]bool{}}
	lines := strings.Split(text, "\n")
	if len(lines) > maxMakeLines || strings.ContainsAny(text, "\r\x00") {
		return nil, errNotLiteral
	}
	var current []*rule
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if command, ok := strings.CutPrefix(line, "\t"); ok && current != nil {
			for strings.HasSuffix(command, `\`) && i+1 < len(lines) {
				i++
				command += "\n" + strings.TrimPrefix(lines[i], "\t")
			}
			for _, r := range current {
				r.lines = append(r.lines, command)
			}
			continue
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") && !strings.HasSuffix(line, `\`) {
			continue
		}
		rules, err := m.line(line)
		if err != nil {
			return nil, umpire.Errorf("%w: line %d", err, i+1)
		}
		current = rules
	}
	return m, nil
}

// line reads a line outside of recipes, and returns the rules that it begins.
func (m *makefile) line(line string) ([]*rule, error) {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ") || strings.HasSuffix(line, `\`) ||
		strings.Contains(directives, " "+word+" ") {
		return nil, errNotLiteral
	}
	if set := makeAssignment.Get().FindStringSubmatch(line); set != nil {
		return nil, m.assign(set[1], set[3])
	}
	line, _, _ = strings.Cut(line, "#")
	parts := makeRule.Get().FindStringSubmatch(strings.TrimRight(line, " \t"))
	if parts == nil {
		return nil, errNotLiteral
	}
	needs := strings.Fields(parts[2])
	var rules []*rule
	for target := range strings.FieldsSeq(parts[1]) {
		switch {
		case target == ".PHONY":
			for _, name := range needs {
				m.phony[name] = true
			}
			continue
		case target[0] == '.' || target == "Makefile" || target == "makefile" || target == "GNUmakefile" ||
			m.rules[target] != nil:
			return nil, errNotLiteral
		}
		m.rules[target] = &rule{needs: needs}
		rules = append(rules, m.rules[target])
		if m.first == "" {
			m.first = target
		}
	}
	return rules, nil
}

func (m *makefile) assign(name, value string) error {
	_, again := m.vars[name]
	value, _, _ = strings.Cut(value, "#")
	if again || strings.Contains(value, `\`) || strings.Contains(ownVariables, " "+name+" ") {
		return errNotLiteral
	}
	m.vars[name] = strings.TrimRight(value, " \t")
	for _, ref := range makeReference.Get().FindAllStringSubmatch(value, -1) {
		if ref[2] == "" && ref[3] == "" && ref[0] != "$$" {
			return errNotLiteral // a function, which may run a program at once
		}
	}
	return nil
}

// recipe returns the command lines that make runs for a target, in their order.
func (m *makefile) recipe(target string) ([]string, error) {
	if target == "" {
		target = m.first
	}
	w := &making{makefile: m, seen: map[string]bool{}}
	if err := w.make(target, 0); err != nil {
		return nil, err
	}
	if len(w.lines) == 0 {
		return nil, errors.New("the target runs nothing")
	}
	return w.lines, nil
}

// A making collects the commands for a target.
type making struct {
	*makefile
	seen  map[string]bool
	lines []string
	steps int
}

// make adds the lines of a target after those of its prerequisites. It fails for a target that make
// could look up a built-in rule for: such a rule runs programs named by variables.
func (w *making) make(target string, depth int) error {
	r := w.rules[target]
	switch {
	case w.seen[target]:
		return nil
	case r == nil || len(r.lines) == 0 && !w.phony[target] || depth > maxMakeDepth:
		return umpire.Errorf("%q has no command lines", target)
	}
	w.seen[target] = true
	for _, need := range r.needs {
		if err := w.make(need, depth+1); err != nil {
			return err
		}
	}
	for _, line := range r.lines {
		line = strings.TrimLeft(line, " \t@-+")
		expanded, err := w.expand(line, target, 0)
		if err != nil {
			return err
		}
		if strings.TrimSpace(expanded) != "" {
			w.lines = append(w.lines, strings.TrimLeft(expanded, " \t@-+"))
		}
		if len(w.lines) > maxMakeLines {
			return errNotLiteral
		}
	}
	return nil
}

// expand expands variables.
func (w *making) expand(text, target string, depth int) (string, error) {
	var problem error
	if w.steps++; w.steps > maxMakeSteps {
		return "", errNotLiteral
	}
	out := makeReference.Get().ReplaceAllStringFunc(text, func(ref string) string {
		name := strings.Trim(ref, "$(){}")
		value, known := w.vars[name]
		switch {
		case ref == "$$":
			return "$"
		case ref == "$@":
			return target
		case ref == "$(MAKE)" || ref == "${MAKE}":
			return "make"
		case problem != nil:
			return ""
		case !known || depth > maxMakeDepth || len(ref) < 4:
			problem = umpire.Errorf("cannot expand %s", ref)
			return ""
		}
		value, err := w.expand(value, target, depth+1)
		if err != nil {
			problem = err
		}
		return value
	})
	if len(out) > maxMakeText {
		return "", errNotLiteral
	}
	return out, problem
}
