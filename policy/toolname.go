package policy

import (
	"slices"
	"strings"
)

// ToolNames are the tools that umpire knows by name, in order. Tools of MCP servers
// are not among them.
func ToolNames() []string {
	names := []string{"Bash"}
	for i := range tools {
		names = append(names, tools[i].name)
	}
	for _, family := range [][]string{readTools, writeTools, deleteTools, networkTools} {
		names = append(names, family...)
	}
	for verb := range gitVerbs {
		names = append(names, verb)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NamesTool reports whether a rule's tool names one that umpire knows, or one of an MCP
// server, of which it cannot know the names.
func NamesTool(pattern string) bool {
	if strings.HasPrefix(pattern, "mcp__") {
		return true
	}
	return slices.ContainsFunc(ToolNames(), func(tool string) bool { return ToolNamed(pattern, tool) })
}

// NamesEveryTool reports whether a rule's tool stands for all tools, those of MCP
// servers included.
func NamesEveryTool(pattern string) bool {
	return ToolNamed(pattern, "mcp__server__tool") &&
		!slices.ContainsFunc(ToolNames(), func(tool string) bool { return !ToolNamed(pattern, tool) })
}
