package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// readGeminiPolicy reads the allow rules of a policy file of Gemini CLI.
func readGeminiPolicy(text []byte) ([]Allowance, error) {
	d, err := openSettings(docedit.TOML, text)
	if err != nil {
		return nil, err
	}
	var list []Allowance
	for _, rule := range d.Root.At("rule").Items {
		list = append(list, geminiAllowances(rule)...)
	}
	return list, nil
}

// geminiActions maps the words of a policy file to verdicts.
var geminiActions = map[string]umpire.Verdict{"allow": umpire.Allow, "ask_user": umpire.Ask, "deny": umpire.Deny}

// geminiConditions are the fields of a rule that limit it further.
var geminiConditions = []string{"commandRegex", "argsPattern", "modes", "interactive", "subagent", "toolAnnotations"}

// geminiAllowances returns the commands or the tool of a rule. A list field may hold a single text
// instead.
func geminiAllowances(rule *docedit.Value) []Allowance {
	action := geminiActions[rule.At("decision").Text]
	prefixes := rule.At("commandPrefix").Texts()
	conditional := slices.ContainsFunc(geminiConditions, func(field string) bool {
		v := rule.At(field)
		return v.Kind != docedit.Null && (v.Kind != docedit.String || v.Text != "")
	})
	var list []Allowance
	for _, prefix := range prefixes {
		a := Allowance{Line: rule.Line, Text: fmt.Sprintf("commandPrefix %q", prefix)}
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
	a := Allowance{Line: rule.Line, Why: errWholeTool}
	a.Text = strings.TrimSpace(fmt.Sprintf("toolName %q %s", rule.At("toolName").Texts(), rule.At("mcpName").Text))
	if conditional {
		a.Why = errConditions
	}
	return append(list, a)
}
