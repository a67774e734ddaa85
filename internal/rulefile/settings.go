package rulefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/umpirehq/umpire"
)

// settingsActions are the lists of the permissions block.
var settingsActions = map[string]umpire.Verdict{
	"allow": umpire.Allow, "deny": umpire.Deny, "ask": umpire.Ask,
}

// pathTools are the tools whose argument is a path pattern.
var pathTools = map[string]bool{
	"Read": true, "Edit": true, "Write": true, "MultiEdit": true, "NotebookEdit": true,
	"Glob": true, "Grep": true, "LS": true,
}

// readSettings reads the permissions block of Claude Code's settings. The rest of the file is
// ignored.
func (r *reader) readSettings(data []byte) *Problem {
	src := newSource(r.layer.Path, data)
	top, problem := src.parseTree()
	if problem != nil {
		return problem
	}
	block, problem := uniqueMember(src, top, "permissions")
	if problem != nil || block == nil {
		return problem
	}
	lists, ok := block.Value.(*hujson.Object)
	if !ok {
		return src.problem(block.StartOffset, "permissions: want an object, not %s", kindOf(*block))
	}
	for _, name := range []string{"deny", "ask", "allow"} {
		value, problem := uniqueMember(src, lists, name)
		if problem != nil {
			return problem
		}
		if value == nil {
			continue
		}
		list, ok := value.Value.(*hujson.Array)
		if !ok {
			return src.problem(value.StartOffset, "permissions.%s: want a list, not %s", name, kindOf(*value))
		}
		if len(list.Elements) > maxRules {
			return src.problem(value.StartOffset, "more than %d rules", maxRules)
		}
		for _, element := range list.Elements {
			r.readShort(src, settingsActions[name], element)
		}
	}
	return nil
}

// uniqueMember returns the value of a key, or nil if the key is missing. A duplicate
// key could hide a list of deny rules, so it is an error.
func uniqueMember(src *source, object *hujson.Object, name string) (*hujson.Value, *Problem) {
	var found *hujson.Value
	for i := range object.Members {
		m := &object.Members[i]
		if key, _ := textOf(m.Name); key != name {
			continue
		}
		if found != nil {
			return nil, src.problem(m.Name.StartOffset, "key %q stands twice", name)
		}
		found = &m.Value
	}
	return found, nil
}

// readShort reads one rule of the block, such as Bash(npm test:*).
func (r *reader) readShort(src *source, action umpire.Verdict, v hujson.Value) {
	e := entry{rule: umpire.Rule{Action: action}, at: src.place(v.StartOffset)}
	short, ok := textOf(v)
	if !ok {
		e.err = umpire.Errorf("a rule is a string, not %s", kindOf(v))
		r.admit(e)
		return
	}
	tool, argument, hasArgument := cutShort(short)
	e.rule.Tool = tool
	switch {
	case hasArgument && tool == "Bash":
		if action == umpire.Allow && !strings.HasSuffix(argument, "*") {
			r.admitExact(e, argument)
			return
		}
		r.admitCommand(e, argument)
	case hasArgument && pathTools[tool]:
		r.admitPath(e, r.rebase(argument))
	case strings.HasPrefix(tool, "mcp__") && strings.Count(tool, "__") == 1 && !hasArgument:
		e.rule.Tool = tool + "__*" // a server's name means all of its tools
		r.admit(e)
	default:
		r.parseShort(e, short)
	}
}

// admitExact adds an allow rule for one whole command.
func (r *reader) admitExact(e entry, command string) {
	e.rule.Match = umpire.Match{Command: strings.TrimSpace(command)}
	switch {
	case e.rule.Match.Command == "":
		e.failIf(false, errors.New("the command is empty"))
	case strings.ContainsAny(command, commandWildcards):
		e.failIf(false, umpire.Errorf("command %q: %w", command, errPattern))
	}
	r.admit(e)
}

// besideRules are the settings next to the lists that are not rules, and their equivalents
// here.
var besideRules = []struct{ key, why string }{
	{"additionalDirectories", "name them with --add-dir, or add rules for their paths"},
	{"defaultMode", "it is a mode of Claude Code; umpire has its own, the key mode in config.yaml"},
}

// LeftOut lists the permission settings in Claude Code's settings other than its rules. It
// returns nil for an unreadable file.
func LeftOut(path string) []Problem {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	src := newSource(path, data)
	top, problem := src.parseTree()
	if problem != nil {
		return nil
	}
	block, _ := uniqueMember(src, top, "permissions")
	if block == nil {
		return nil
	}
	lists, ok := block.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	var left []Problem
	for _, setting := range besideRules {
		if value, _ := uniqueMember(src, lists, setting.key); value != nil {
			left = append(left, *src.problem(value.StartOffset, "%s is not a rule: %s", setting.key, setting.why))
		}
	}
	return left
}

// parseShort parses the rest of the short form with the caller's parser.
func (r *reader) parseShort(e entry, short string) {
	if r.short == nil {
		e.err = errors.New("nothing is set up to read the short form")
		r.admit(e)
		return
	}
	rule, err := r.short(short)
	if err != nil {
		e.err = err
		r.admit(e)
		return
	}
	rule.Action = e.rule.Action
	e.rule = rule
	r.admit(e)
}

// cutShort splits Tool(argument).
func cutShort(short string) (tool, argument string, ok bool) {
	tool, rest, found := strings.Cut(short, "(")
	argument, closed := strings.CutSuffix(rest, ")")
	return strings.TrimSpace(tool), argument, found && closed
}

// rebase converts a path of the settings to ours: there //x is absolute, and /x starts
// at the project or at the folder of the user's settings.
func (r *reader) rebase(path string) string {
	switch {
	case strings.HasPrefix(path, "//"):
		return path[1:]
	case !strings.HasPrefix(path, "/"):
		return path
	case r.layer.Source == umpire.SourceProject:
		return path[1:]
	default:
		return filepath.ToSlash(filepath.Dir(r.layer.Path)) + path
	}
}
