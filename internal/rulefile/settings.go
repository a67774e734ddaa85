package rulefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
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
// ignored. A duplicate key could hide a list of deny rules, so it is an error.
func (r *reader) readSettings(data []byte) error {
	d, err := docedit.Open(docedit.JSON, data)
	if err != nil {
		return err
	}
	block, err := d.Root.Member("permissions")
	if err != nil || block == nil {
		return err
	}
	if err := wantKind(block, docedit.Object, "permissions"); err != nil {
		return block.Fault(err)
	}
	for _, name := range []string{"deny", "ask", "allow"} {
		list, err := block.Member(name)
		if err != nil {
			return err
		}
		if list == nil {
			continue
		}
		if err := wantKind(list, docedit.List, "permissions."+name); err != nil {
			return list.Fault(err)
		}
		if len(list.Items) > maxRules {
			return list.Fault(umpire.Errorf("more than %d rules", maxRules))
		}
		for _, item := range list.Items {
			r.readShort(settingsActions[name], item)
		}
	}
	return nil
}

// readShort reads one rule of the block, such as Bash(npm test:*).
func (r *reader) readShort(action umpire.Verdict, v *docedit.Value) {
	e := entry{rule: umpire.Rule{Action: action}, at: r.place(v.Pos)}
	short, err := wantText(v, "rule")
	if err != nil {
		e.err = err
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
	d, err := docedit.Open(docedit.JSON, data)
	if err != nil {
		return nil
	}
	var left []Problem
	for _, setting := range besideRules {
		if value := d.Root.At("permissions", setting.key); value.Parent != nil {
			said := setting.key + " is not a rule: " + setting.why
			left = append(left, *problemOf(path, value.Fault(errors.New(said))))
		}
	}
	return left
}

// parseShort parses the rest of the short form with the caller's parser.
func (r *reader) parseShort(e entry, short string) {
	if r.short == nil {
		e.err = errors.New("the short form cannot be read here")
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
