package judge

import (
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files/lazyregexp"
	"github.com/umpirehq/umpire/place"
	"github.com/umpirehq/umpire/shell"
)

// justfiles are the names that just looks for, in any case.
var justfiles = []string{"justfile", ".justfile"}

// justRecipe reads a recipe of the nearest justfile.
func justRecipe(g *place.Bounds, dir, name string) shell.Recipe {
	dir, found, err := searchUp(dir, true, justfiles...)
	switch {
	case err != nil:
		return shell.Recipe{File: justfiles[0], Name: name, Unread: err.Error()}
	case len(found) == 0:
		return shell.Recipe{}
	case len(found) > 1:
		return shell.Recipe{File: found[0], Name: name, Unread: "there are several justfiles"}
	}
	var tasks map[string]task
	data, err := readCode(g, dir, found[0])
	if err == nil {
		var first string
		if tasks, first, err = parseJustfile(string(data)); name == "" {
			name = first
		}
	}
	return recipeOf(dir, found[0], name, tasks, err)
}

var (
	justHeadLine = lazyregexp.Regexp{Text: `^@?([A-Za-z_][A-Za-z0-9_-]*)([^:]*):([^=].*)?$`}
	justVariable = lazyregexp.Regexp{Text: `^[A-Za-z_][A-Za-z0-9_-]*[ \t]*:=[ \t]*('[^']*'|"[^"\\]*")[ \t]*$`}
	justAlias    = lazyregexp.Regexp{
		Text: `^alias[ \t]+([A-Za-z_][A-Za-z0-9_-]*)[ \t]*:=[ \t]*([A-Za-z_][A-Za-z0-9_-]*)[ \t]*$`,
	}
	justNames    = lazyregexp.Regexp{Text: `^[A-Za-z0-9_ \t-]*$`}
	justTemplate = lazyregexp.Regexp{Text: `\{\{[^{}"'\\]*\}\}`}
	// Attributes that do not affect the commands, and those that affect them for one recipe.
	justPlainAttribute = lazyregexp.Regexp{
		Text: `^\[(private|(group|doc)(\('[^']*'\)|\("[^"\\]*"\)|: *'[^']*'|: *"[^"\\]*"))\][ \t]*$`,
	}
	justAttribute = lazyregexp.Regexp{
		Text: `^\[(no-cd|confirm|script|linux|macos|unix|windows|` +
			`no-exit-message|no-quiet|positional-arguments)\][ \t]*$`,
	}
)

// A justReader reads the recipes of a justfile.
type justReader struct {
	tasks      map[string]task
	first      string // the default recipe
	current    string // the recipe whose lines come next, or ""
	attributed bool
}

// parseJustfile returns the recipes of a justfile, and the name of the first one. Besides recipes
// it accepts names, comments and variables that are texts: anything else may change the commands of
// every recipe, and makes the file unread. A recipe with parameters or templates is unread itself.
func parseJustfile(text string) (tasks map[string]task, first string, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) > maxMakeLines || strings.ContainsAny(text, "\r\x00`") || strings.Contains(text, `"""`) ||
		strings.Contains(text, "'''") {
		return nil, "", errOpaque
	}
	r := &justReader{tasks: map[string]task{}}
	for i, line := range lines {
		if strings.Trim(line, " \t") == "" {
			continue
		}
		var ok bool
		if line[0] == ' ' || line[0] == '\t' {
			ok = r.body(strings.Trim(line, " \t"))
		} else {
			ok = r.line(line)
		}
		if !ok {
			return nil, "", umpire.Errorf("%w: line %d", errOpaque, i+1)
		}
	}
	return r.tasks, r.first, nil
}

// line reads a line outside of recipes; it returns false if the line is not understood.
func (r *justReader) line(line string) bool {
	r.current = ""
	alias := justAlias.Get().FindStringSubmatch(line)
	switch {
	case line[0] == '#' || justVariable.Get().MatchString(line) || justPlainAttribute.Get().MatchString(line):
		return true
	case justAttribute.Get().MatchString(line):
		r.attributed = true
		return true
	case alias != nil:
		return r.addTask(alias[1], task{steps: []step{{task: alias[2]}}, main: -1})
	}
	return r.head(line)
}

// justWords begin lines that are neither recipes nor variables.
const justWords = " alias set import mod export unexport "

// head reads the line that begins a recipe.
func (r *justReader) head(line string) bool {
	head := justHeadLine.Get().FindStringSubmatch(line)
	if head == nil || strings.Contains(line, `\`) || strings.Contains(justWords, " "+head[1]+" ") {
		return false
	}
	for _, pair := range []string{`""`, `''`, `()`, `[]`, `{}`} {
		opens, closes := strings.Count(line, pair[:1]), strings.Count(line, pair[1:])
		if opens != closes || pair[0] == pair[1] && opens%2 != 0 {
			return false // it continues on the next line
		}
	}
	t := task{main: -1}
	needs, _, _ := strings.Cut(head[3], "#")
	for need := range strings.FieldsSeq(needs) {
		t.steps = append(t.steps, step{task: need})
	}
	if r.attributed || strings.Trim(head[2], " \t") != "" || !justNames.Get().MatchString(needs) {
		t = unreadTask(head[1], "its attributes, its parameters or what it needs")
	}
	r.current, r.attributed = head[1], false
	if r.first == "" {
		r.first = head[1]
	}
	return r.addTask(head[1], t)
}

func (r *justReader) addTask(name string, t task) bool {
	_, twice := r.tasks[name]
	r.tasks[name] = t
	return !twice
}

// body reads a line of a recipe.
func (r *justReader) body(line string) bool {
	literal := justTemplate.Get().ReplaceAllString(line, "")
	if r.current == "" || strings.Contains(literal, "{{") {
		return false // a template may continue on the next line
	}
	t := r.tasks[r.current]
	switch {
	case t.unread != nil:
		return true
	case literal != line:
		t = unreadTask(r.current, "a template")
	case strings.HasPrefix(line, "#!") || strings.HasSuffix(line, `\`):
		t = unreadTask(r.current, "a script, or a line that goes on in the next")
	default:
		if line = strings.TrimLeft(line, "@-"); strings.Trim(line, " \t") != "" {
			t.steps = append(t.steps, step{line: line})
		}
	}
	r.tasks[r.current] = t
	return true
}
