package setup

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/umpirehq/umpire"
)

// A geminiRule is one rule of a policy file. A list field may hold a single text instead.
type geminiRule struct {
	ToolName      any    `toml:"toolName"`
	CommandPrefix any    `toml:"commandPrefix"`
	CommandRegex  string `toml:"commandRegex"`
	ArgsPattern   string `toml:"argsPattern"`
	McpName       string `toml:"mcpName"`
	Decision      string `toml:"decision"`
	Modes         any    `toml:"modes"`
	Interactive   *bool  `toml:"interactive"`
	Subagent      string `toml:"subagent"`
	Annotations   any    `toml:"toolAnnotations"`
}

// readGeminiPolicy reads the allow rules of a policy file of Gemini CLI.
func readGeminiPolicy(text []byte) ([]Allowance, error) {
	if err := checkTOML(text); err != nil {
		return nil, err
	}
	var file struct {
		Rule []geminiRule `toml:"rule"`
	}
	if err := toml.Unmarshal(text, &file); err != nil {
		return nil, tomlError(err)
	}
	lines := headerLines(text, "[[rule]]")
	var list []Allowance
	for i := range file.Rule {
		r := &file.Rule[i]
		line := 0
		if i < len(lines) {
			line = lines[i]
		}
		list = append(list, r.allowances(line)...)
	}
	return list, nil
}

// geminiActions maps the words of a policy file to verdicts.
var geminiActions = map[string]umpire.Verdict{"allow": umpire.Allow, "ask_user": umpire.Ask, "deny": umpire.Deny}

func (r *geminiRule) allowances(line int) []Allowance {
	action := geminiActions[r.Decision]
	prefixes := textList(r.CommandPrefix)
	conditional := r.CommandRegex != "" || r.ArgsPattern != "" || r.Modes != nil || r.Interactive != nil ||
		r.Subagent != "" || r.Annotations != nil
	var list []Allowance
	for _, prefix := range prefixes {
		a := Allowance{Line: line, Text: fmt.Sprintf("commandPrefix %q", prefix)}
		a.Rule, a.Why = lineRule(action, prefix, false)
		if conditional && action == umpire.Allow {
			a.Why = errConditions
		}
		if action != umpire.Allow {
			a.Why = nil
		}
		list = append(list, a)
	}
	if len(prefixes) > 0 || action != umpire.Allow {
		return list
	}
	a := Allowance{Line: line, Why: errWholeTool}
	a.Text = strings.TrimSpace(fmt.Sprintf("toolName %q %s", textList(r.ToolName), r.McpName))
	if conditional {
		a.Why = errConditions
	}
	return append(list, a)
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

// headerLines returns the lines on which a table of that name begins.
func headerLines(text []byte, header string) []int {
	var lines []int
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if strings.HasPrefix(strings.ReplaceAll(strings.TrimSpace(line), " ", ""), header) {
			lines = append(lines, number)
		}
	}
	return lines
}
