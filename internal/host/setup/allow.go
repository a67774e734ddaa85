package setup

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/policy"
)

// An Allowance is one entry of a host's own list of calls to run without a question.
type Allowance struct {
	Line int
	Text string // as written in the host's file
	// Rule is the entry's equivalent here. Why is the reason for not importing the entry; it is nil
	// for an imported one.
	Rule umpire.Rule
	Why  error
}

// An AllowList is a file in which a host keeps its user's allowances.
type AllowList struct {
	Host string
	// Place names the file; its name may have a * in the last part.
	Place Place
	read  func(text []byte) ([]Allowance, error)
}

// AllowLists are the readable ones. Claude Code's settings are a file of rules for umpire itself.
var AllowLists = []AllowList{
	{"codex", Codex.Place.named("rules/*.rules"), readCodexRules},
	{"gemini", placeOf("gemini"), readGeminiTools},
	{"gemini", placeOf("gemini").named("policies/*.toml"), readGeminiPolicy},
	{"qwen", Qwen.Place, readGeminiTools},
	{"opencode", placeOf("opencode").named("opencode/opencode.json*"), readOpenCode},
	{"cursor", placeOf("cursor").named("cli-config.json"), readCursor},
	{"crush", placeOf("crush"), readCrush},
	{"droid", placeOf("droid").named("settings.json"), readDroid},
}

// Read lists the allowances of a file, in the file's order. An entry that means more than a rule
// here can express, or that the file itself partly asks about, has a reason and no rule.
func (l AllowList) Read(text []byte) ([]Allowance, error) {
	list, err := l.read(text)
	if err != nil {
		return nil, umpire.Errorf("read the allow list of %s: %w", l.Host, err)
	}
	return SiftAllowances(list), nil
}

// Reasons to leave out an entry.
var (
	errWholeTool  = errors.New("it allows every use of a tool")
	errBroad      = errors.New("the program runs any code that it is given")
	errOverlap    = errors.New("the same list asks about or denies part of it")
	errPattern    = errors.New("umpire has no equivalent pattern")
	errRelative   = errors.New("a relative folder means a different one in each project")
	errConditions = errors.New("it has conditions that umpire cannot check")
)

// SiftAllowances adds a reason to every entry that must not become a rule, and drops those that ask
// or refuse: they stay with the host.
func SiftAllowances(list []Allowance) []Allowance {
	var kept, limits []Allowance
	for _, a := range list {
		if a.Rule.Action == umpire.Allow || a.Why != nil {
			kept = append(kept, a)
		} else {
			limits = append(limits, a)
		}
	}
	for i := range kept {
		a := &kept[i]
		a.Why = cmp.Or(a.Why, tooWide(a.Rule))
		overlaps := func(limit Allowance) bool { return meets(a.Rule, limit.Rule) }
		if a.Why == nil && slices.ContainsFunc(limits, overlaps) {
			a.Why = errOverlap
		}
	}
	return kept
}

// tooWide returns an error if a rule allows more than a single thing that a person had in mind.
func tooWide(r umpire.Rule) error {
	if r.Match == (umpire.Match{}) && (!strings.HasPrefix(r.Tool, "mcp__") || strings.Contains(r.Tool, "*")) {
		return errWholeTool
	}
	if strings.Trim(r.Match.PathGlob, "*/.~") == "" && r.Match.PathGlob != "" || r.Match.Domain == "*" {
		return errWholeTool
	}
	if err := policy.Validate(r); err != nil {
		return err
	}
	// Auto mode knows the rules that would leave nothing to decide.
	p, err := policy.New([]umpire.Rule{withSource(r)}, policy.Options{})
	if err != nil {
		return err
	}
	if len(p.Stripped(umpire.ModeAuto)) > 0 {
		return errBroad
	}
	return nil
}

func withSource(r umpire.Rule) umpire.Rule {
	r.ID, r.Source = "x", umpire.SourceUser
	return r
}

// meets reports whether two rules may apply to the same call.
func meets(a, b umpire.Rule) bool {
	if b.Match == (umpire.Match{}) {
		return policy.ToolNamed(a.Tool, b.Tool) || a.Tool == b.Tool
	}
	x, y := commandOf(a), commandOf(b)
	if x == "" || y == "" {
		return a.Tool == b.Tool && a.Match.PathGlob == b.Match.PathGlob && a.Match.Domain == b.Match.Domain
	}
	exact := a.Match.Command != ""
	return strings.HasPrefix(x+" ", y+" ") || !exact && strings.HasPrefix(y+" ", x+" ")
}

func commandOf(r umpire.Rule) string { return cmp.Or(r.Match.Command, r.Match.CommandPrefix) }

// prefixRule returns a rule for the commands that begin with these words.
func prefixRule(action umpire.Verdict, words ...string) umpire.Rule {
	return umpire.Rule{Action: action, Tool: "Bash", Match: umpire.Match{CommandPrefix: policy.JoinPrefix(words)}}
}

// lineRule returns a rule for a command as written, exact or as a prefix.
func lineRule(action umpire.Verdict, line string, exact bool) (umpire.Rule, error) {
	line = strings.TrimSpace(line)
	r := umpire.Rule{Action: action, Tool: "Bash"}
	if exact {
		r.Match.Command = line
	} else {
		r.Match.CommandPrefix = line
	}
	switch {
	case line == "":
		r.Match = umpire.Match{}
		return r, errWholeTool
	case strings.ContainsAny(line, "*?[]{}\\") && action == umpire.Allow:
		return r, errPattern
	}
	return r, nil
}

// listed returns the strings of the list at a path of keys, with their lines.
func listed(d *docedit.Doc, path ...string) []Allowance {
	var list []Allowance
	if at := d.Root.At(path...); at.Kind == docedit.List {
		for _, item := range at.Items {
			if item.Kind == docedit.String {
				list = append(list, Allowance{Line: item.Line, Text: item.Text})
			}
		}
	}
	return list
}

// ClaudeDirectories returns rules for the folders outside the project that Claude Code may read.
// text is the settings file.
func ClaudeDirectories(text []byte) []Allowance {
	d, err := openJSON(text)
	if err != nil {
		return nil
	}
	list := listed(d, "permissions", "additionalDirectories")
	for i := range list {
		dir := strings.TrimRight(list[i].Text, "/")
		list[i].Rule = umpire.Rule{Action: umpire.Allow, Tool: "Read", Match: umpire.Match{PathGlob: dir + "/**"}}
		if strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, "~/") {
			list[i].Why = tooWide(list[i].Rule)
		} else {
			list[i].Why = errRelative
		}
	}
	return list
}

// cutCall splits NAME(ARGUMENT).
func cutCall(text string) (name, argument string, called bool) {
	name, rest, opened := strings.Cut(text, "(")
	argument, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	return strings.TrimSpace(name), argument, opened && closed
}

// readGeminiTools reads tools.allowed of Gemini CLI and Qwen Code, and its older name: a tool, or
// the prefix of a command.
func readGeminiTools(text []byte) ([]Allowance, error) {
	d, err := openJSON(text)
	if err != nil {
		return nil, err
	}
	list := append(listed(d, "tools", "allowed"), listed(d, "allowedTools")...)
	for i := range list {
		a := &list[i]
		name, argument, called := cutCall(a.Text)
		if !called || name != "run_shell_command" && name != "ShellTool" {
			a.Why = errWholeTool
			continue
		}
		a.Rule, a.Why = lineRule(umpire.Allow, strings.TrimSuffix(argument, ":*"), false)
	}
	return list, nil
}

// readOpenCode reads the patterns for commands. The last pattern that matches a command counts, so
// an entry is complete only if no later one limits it.
func readOpenCode(text []byte) ([]Allowance, error) {
	d, err := openJSON(text)
	if err != nil {
		return nil, err
	}
	permission := d.Root.At("permission")
	if permission.Kind != docedit.Object {
		return openCodeTool("permission", permission), nil
	}
	var list []Allowance
	for _, tool := range permission.Items {
		if tool.Key == "bash" && tool.Kind == docedit.Object {
			list = append(list, openCodeCommands(tool.Items)...)
		} else {
			list = append(list, openCodeTool(tool.Key, tool)...)
		}
	}
	return list, nil
}

func openCodeCommands(patterns []*docedit.Value) []Allowance {
	var list []Allowance
	for i, pattern := range patterns {
		if !isText(pattern, "allow") {
			continue
		}
		head, wild := strings.CutSuffix(pattern.Key, "*")
		a := Allowance{Line: pattern.KeyPos.Line, Text: pattern.Key}
		a.Rule, a.Why = lineRule(umpire.Allow, head, !wild)
		limits := func(below *docedit.Value) bool {
			start, _, _ := strings.Cut(strings.ReplaceAll(below.Key, "?", "*"), "*")
			return !isText(below, "allow") && (strings.HasPrefix(start, head) || strings.HasPrefix(head, start))
		}
		if a.Why == nil && slices.ContainsFunc(patterns[i+1:], limits) {
			a.Why = errOverlap
		}
		list = append(list, a)
	}
	return list
}

// openCodeTool returns an entry for a whole tool.
func openCodeTool(name string, v *docedit.Value) []Allowance {
	if !isText(v, "allow") {
		return nil
	}
	return []Allowance{{Line: v.Line, Text: name, Why: errWholeTool}}
}

// isText reports whether v is this string.
func isText(v *docedit.Value, text string) bool { return v.Kind == docedit.String && v.Text == text }

// cursorTools maps Cursor's tool names to umpire's.
var cursorTools = map[string]string{"Read": "Read", "Write": "Edit"}

// readCursor reads the permissions of Cursor's command line: Shell(COMMAND), where COMMAND is a
// program or PROGRAM:ARGUMENTS, Read(PATH), Write(PATH), WebFetch(DOMAIN).
func readCursor(text []byte) ([]Allowance, error) {
	d, err := openJSON(text)
	if err != nil {
		return nil, err
	}
	var list []Allowance
	for name, action := range map[string]umpire.Verdict{"allow": umpire.Allow, "deny": umpire.Deny} {
		for _, a := range listed(d, "permissions", name) {
			a.Rule, a.Why = cursorRule(action, a.Text)
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b Allowance) int { return cmp.Compare(a.Line, b.Line) })
	return list, nil
}

func cursorRule(action umpire.Verdict, text string) (umpire.Rule, error) {
	name, argument, called := cutCall(text)
	switch {
	case !called:
		return umpire.Rule{Action: action}, errWholeTool
	case name == "Shell":
		command, arguments, more := strings.Cut(argument, ":")
		if more && arguments != "*" {
			command += " " + arguments
		}
		r, why := lineRule(action, strings.TrimSuffix(command, " *"), false)
		return r, why
	case cursorTools[name] != "":
		return umpire.Rule{Action: action, Tool: cursorTools[name], Match: umpire.Match{PathGlob: argument}}, nil
	case name == "WebFetch":
		return umpire.Rule{Action: action, Tool: "WebFetch", Match: umpire.Match{Domain: argument}}, nil
	}
	return umpire.Rule{Action: action}, errPattern
}

// readCrush reads the tools that Crush never asks about: whole ones, all of them.
func readCrush(text []byte) ([]Allowance, error) {
	d, err := openJSON(text)
	if err != nil {
		return nil, err
	}
	list := listed(d, "permissions", "allowed_tools")
	for i := range list {
		list[i].Why = errWholeTool
	}
	return list, nil
}

// readDroid reads the commands that Factory Droid runs unasked. Each counts as one whole command,
// because it is undocumented how much more the host accepts.
func readDroid(text []byte) ([]Allowance, error) {
	d, err := openJSON(text)
	if err != nil {
		return nil, err
	}
	list := listed(d, "commandAllowlist")
	for i := range list {
		list[i].Rule, list[i].Why = lineRule(umpire.Allow, list[i].Text, true)
	}
	return list, nil
}
