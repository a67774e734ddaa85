package policy

import (
	"slices"
	"strings"
)

// ToolNames returns the tools that umpire knows by name, in order. It does not include tools of
// MCP servers.
func ToolNames() []string {
	names := make([]string, len(tools))
	for i := range tools {
		names[i] = tools[i].name
	}
	slices.Sort(names)
	return names
}

// NamesTool reports whether a rule's tool name matches a tool that umpire knows, or any tool of
// an MCP server, because umpire cannot know those names.
func NamesTool(pattern string) bool {
	if strings.HasPrefix(pattern, "mcp__") {
		return true
	}
	return slices.ContainsFunc(ToolNames(), func(tool string) bool { return ToolNamed(pattern, tool) })
}

// NamesEveryTool reports whether a rule's tool name matches all tools, including those of MCP
// servers.
func NamesEveryTool(pattern string) bool {
	return ToolNamed(pattern, "mcp__server__tool") &&
		!slices.ContainsFunc(ToolNames(), func(tool string) bool { return !ToolNamed(pattern, tool) })
}
