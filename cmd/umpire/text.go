package main

import (
	"maps"
	"strings"
)

// A catalogue translates what people read. English is the key; text without a
// translation stays English. What machines read is never translated.
type catalogue map[string]string

// of returns the text in the catalogue's language.
func (c catalogue) of(english string) string {
	if text, ok := c[english]; ok {
		return text
	}
	return english
}

// reasonHeads begin reasons that go on with a name or a path.
var reasonHeads = []string{
	"Denied by rule: ", "Allowed by rule: ", "Asked by rule: ", "Path is outside the project: ", "Cannot be judged: ", "Critical risk: ",
	"non_interactive confirmation required: ", "Reject mode asks nobody: ", "Auto mode refuses known danger: ",
}

// reason returns the reason of a decision in the catalogue's language.
func (c catalogue) reason(english string) string {
	if c == nil {
		return english
	}
	if text, ok := c[english]; ok {
		return text
	}
	for _, head := range reasonHeads {
		if rest, ok := strings.CutPrefix(english, head); ok && c[head] != "" {
			return c[head] + c.reason(rest)
		}
	}
	const tool, approval = "Tool ", " requires approval "
	if name, class, ok := strings.Cut(strings.TrimPrefix(english, tool), approval); ok && strings.HasPrefix(english, tool) {
		return c.of(tool) + name + c.of(approval) + c.of(class)
	}
	return english
}

// language picks the catalogue: UMPIRE_LANG, then what POSIX says.
func language(getenv func(string) string) catalogue {
	for _, name := range []string{"UMPIRE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			return catalogueFor(value)
		}
	}
	return nil
}

// catalogues are the parts of 简体中文, the only other language there is.
var catalogues = []catalogue{chinese, chineseHook, chineseFlags, chinesePrograms, chineseBench, chineseDoctor, chineseGate, chineseRun, chineseDemo}

// catalogueFor returns the catalogue of a locale; nil is English.
func catalogueFor(locale string) catalogue {
	if !strings.HasPrefix(strings.ToLower(locale), "zh") {
		return nil
	}
	all := catalogue{}
	for _, part := range catalogues {
		maps.Copy(all, part)
	}
	return all
}
