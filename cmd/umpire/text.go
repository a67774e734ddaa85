package main

import "strings"

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

// language picks the catalogue: UMPIRE_LANG, then what POSIX says.
func language(getenv func(string) string) catalogue {
	for _, name := range []string{"UMPIRE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			if strings.HasPrefix(strings.ToLower(value), "zh") {
				return chinese
			}
			return nil
		}
	}
	return nil
}

// chinese is 简体中文.
var chinese = catalogue{
	"Decides every tool call of an AI coding agent: allow, ask or deny": "判定 AI 编码代理的每一次工具调用:允许、询问或拒绝",
}
