package policy

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
	"github.com/umpirehq/umpire/shell"
)

// MaxPaths is the maximum number of paths in one call.
const MaxPaths = 1000

// FactsOf returns the effects of a call. Paths are made absolute from the call's folder but not
// yet resolved. An error names the malformed field of the input; such a call is refused, and
// the facts are then empty.
func FactsOf(call umpire.Call, env shell.Env) (umpire.Facts, error) {
	in, err := readInput(call.Input)
	if err != nil {
		return umpire.Facts{}, err
	}
	if call.Dir != "" {
		env.Dir = call.Dir
	}
	t := toolOf(call.Tool)
	facts := umpire.Facts{Type: t.kind}
	switch t.shape {
	case shapeShell:
		facts.Accesses, facts.Guesses, err = commandAccesses(in, env)
	case shapeRead, shapeTree, shapeList, shapeWrite, shapeDelete:
		facts.Accesses, err = pathAccesses(t, in, env)
	case shapeNetwork:
		facts.Accesses, err = networkAccesses(t, in)
	case shapeGit:
		facts.Accesses, err = gitAccesses(t, in, env)
	case shapeInvoke:
		facts.Accesses = []umpire.Access{t.invoke()}
		if t.kind == umpire.MCP {
			facts.Accesses[0] = raiseRisk(facts.Accesses[0], call.Extra)
			facts.Guesses = guessAccesses(in, env)
		}
		if t.kind == umpire.Task {
			err = subAgentMode(&facts.Accesses[0], in)
		}
	}
	if err != nil {
		return umpire.Facts{}, err
	}
	return facts, nil
}

// invoke returns the access of a tool known only by its name.
func (t tool) invoke() umpire.Access {
	return umpire.Access{
		Kind: umpire.KindInvoke, Target: t.name, Risk: t.risk, Consequence: t.consequence, Reason: t.why,
	}
}

// subAgentMode doubts a sub-agent that would run in another mode than its parent, because an
// agent must not choose who is asked.
func subAgentMode(a *umpire.Access, in strictjson.Object) error {
	for _, field := range []string{"mode", "permission_mode", "permissionMode"} {
		mode, err := textOf(in, field)
		if err != nil {
			return err
		}
		if mode != "" && mode != "default" && mode != "plan" {
			a.Risk = umpire.High
			a.Doubt = "the sub-agent would have its own mode"
		}
	}
	return nil
}

// pathAccesses returns one access for every path of a file tool. For a call without a path it
// returns an access of the tool's kind without a target.
func pathAccesses(t tool, in strictjson.Object, env shell.Env) ([]umpire.Access, error) {
	paths, err := pathsOf(in)
	if err != nil {
		return nil, err
	}
	pattern, err := textOf(in, "pattern")
	if err != nil {
		return nil, err
	}
	if (t.shape == shapeTree || t.shape == shapeList) && len(paths) == 0 && env.Dir != "" {
		paths = append(paths, env.Dir) // such a tool defaults to the working directory
	}
	switch {
	case t.name != "Glob":
	case leavesFolder(pattern):
		paths = append(paths, pattern)
	default:
		paths = lookedIn(paths, pattern)
	}
	unread := unreadPath(in, t, len(paths) > 0)
	if len(paths) == 0 {
		a := t.invoke()
		a.Doubt = unread
		return []umpire.Access{a}, nil
	}
	accesses := make([]umpire.Access, len(paths))
	for i, p := range paths {
		a := umpire.Access{
			Kind: max(changes[t.shape], umpire.KindRead), Target: fromDir(p, env),
			Risk: t.risk, Consequence: t.consequence, Reason: t.why,
			Tree: t.shape == shapeTree || t.shape == shapeList, Names: t.shape == shapeList,
		}
		if a.Target == "" {
			a.Target, a.Doubt = p, shell.UnknownFolder
		}
		if a.Doubt == "" {
			a.Doubt = unread
		}
		accesses[i] = a
	}
	return accesses, nil
}

// lookedIn appends the fixed part of a pattern to each folder: the names before the first
// wildcard.
func lookedIn(folders []string, pattern string) []string {
	patterns, err := wildcard.ExpandBraces(pattern)
	if err != nil {
		return folders // no tool understands such a pattern
	}
	var below []string
	for _, folder := range folders {
		for _, p := range patterns {
			if begin, _ := doublestar.SplitPattern(p); begin != "." && begin != "" {
				p = strings.TrimSuffix(folder, "/") + "/" + begin
			} else {
				p = folder
			}
			if !slices.Contains(below, p) {
				below = append(below, p)
			}
		}
	}
	return below
}

// leavesFolder reports whether a file pattern may reach outside its folder.
func leavesFolder(pattern string) bool {
	if path.IsAbs(pattern) || strings.HasPrefix(pattern, "~") || strings.Contains(pattern, "..") {
		return true
	}
	return slices.ContainsFunc(
		[]string{"{/", ",/", "{~", ",~", "(/", "|/"},
		func(begin string) bool { return strings.Contains(pattern, begin) },
	)
}

// searchWords are the input fields of reading tools that hold no path.
var searchWords = []string{
	"pattern", "query", "glob", "include", "type", "output_mode", "pages", "ignore", "description", "prompt",
	"explanation",
}

// unreadPath says that an unknown field may tell a reading tool where to look, or returns "".
// The host may then open a file other than the judged one. A tool that reads a file must be
// told which, so without a known path any text counts.
func unreadPath(in strictjson.Object, t tool, known bool) umpire.Phrase {
	if t.shape == shapeWrite || t.shape == shapeDelete {
		return ""
	}
	for name, raw := range in {
		if slices.Contains(pathFields, name) || slices.Contains(searchWords, name) {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) != nil || text == "" {
			continue
		}
		if t.shape == shapeRead && !known || path.IsAbs(text) || strings.HasPrefix(text, "~/") ||
			strings.HasPrefix(text, "../") {
			return umpire.Say("the field %q may name a path, and is not known", name)
		}
	}
	return ""
}

// fromDir makes a path from a tool's input absolute, without cleaning it.
func fromDir(p string, env shell.Env) string {
	switch {
	case path.IsAbs(p) || driveLetter(p):
		return p
	case p == "~" || strings.HasPrefix(p, "~/"):
		if env.Home == "" {
			return ""
		}
		return env.Home + p[1:]
	case env.Dir == "":
		return ""
	}
	return strings.TrimSuffix(env.Dir, "/") + "/" + p
}

// networkAccesses reads the URL of a tool that fetches.
func networkAccesses(t tool, in strictjson.Object) ([]umpire.Access, error) {
	url, err := textOf(in, "url", "uri")
	if err != nil {
		return nil, err
	}
	if url == "" {
		a := t.invoke()
		query, err := textOf(in, "query", "q", "search_term", "search_query")
		weighSecret(&a, query)
		return []umpire.Access{a}, err
	}
	a := umpire.Access{Kind: umpire.KindNetwork, Target: url, Risk: t.risk, Reason: t.why}
	if problem := urlProblem(url); problem != "" {
		a.Risk, a.Reason = umpire.Medium, problem
	}
	return []umpire.Access{a}, nil
}

// readInput decodes the input of a call.
func readInput(raw json.RawMessage) (strictjson.Object, error) {
	if len(raw) == 0 {
		return strictjson.Object{}, nil
	}
	var in strictjson.Object
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, umpire.Errorf("input: want a JSON object: %w", err)
	}
	return in, nil
}

// textOf returns the value of the first field that is set, or "".
func textOf(in strictjson.Object, names ...string) (string, error) {
	for _, name := range names {
		raw, ok := in[name]
		if !ok || string(raw) == "null" {
			continue
		}
		if len(raw) == 0 || raw[0] != '"' {
			return "", umpire.Errorf("input.%s: want a string, got %s", name, strictjson.KindOf(raw))
		}
		text := strictjson.UnquoteText(raw)
		if strings.ContainsRune(text, 0) && name != "command" && name != "cmd" {
			return "", umpire.Errorf("input.%s: contains a NUL byte", name)
		}
		return text, nil
	}
	return "", nil
}

// searchGlob returns the file pattern that limits a Grep call, or "".
func searchGlob(call *umpire.Call) string {
	if call.Tool != "Grep" {
		return ""
	}
	in, err := readInput(call.Input)
	if err != nil {
		return "" // the facts have already refused it
	}
	text, err := textOf(in, "glob", "include")
	if err != nil {
		return "" // not a string, so the tool will refuse it
	}
	return text
}

// pathFields are the fields in which tools name their paths.
var pathFields = []string{"path", "file_path", "filePath", "notebook_path", "paths"}

// pathsOf returns every path that the input names, in the order of pathFields.
func pathsOf(in strictjson.Object) ([]string, error) {
	var out []string
	for _, name := range pathFields {
		raw, ok := in[name]
		if !ok || string(raw) == "null" {
			continue
		}
		named, err := readPaths(name, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, named...)
	}
	if len(out) > MaxPaths {
		return nil, umpire.Errorf("input: names %d paths, more than %d; split it into several calls",
			len(out), MaxPaths)
	}
	return out, nil
}

// readPaths reads a path, a list of paths, or a list of objects with a path.
func readPaths(name string, raw json.RawMessage) ([]string, error) {
	if raw[0] != '[' {
		text, err := textOf(strictjson.Object{name: raw}, name)
		if err != nil || text == "" {
			return nil, err
		}
		return []string{text}, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, umpire.Errorf("input.%s: %w", name, err)
	}
	var out []string
	for i, item := range items {
		field := fmt.Sprintf("%s[%d]", name, i)
		if item[0] == '{' {
			object, err := readInput(item)
			if err != nil {
				return nil, err
			}
			item = object["path"]
		}
		text, err := textOf(strictjson.Object{field: item}, field)
		if err != nil {
			return nil, err
		}
		if len(item) == 0 || text == "" {
			return nil, umpire.Errorf("input.%s: names no path", field)
		}
		out = append(out, text)
	}
	return out, nil
}
