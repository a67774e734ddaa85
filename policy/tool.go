package policy

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/umpirehq/umpire"
)

// Tools that rules name for one kind of access. A rule for any of them judges that kind of
// access by any tool.
var (
	readTools    = []string{"Read", "LS", "Glob", "Grep", "NotebookRead"}
	writeTools   = []string{"Write", "Edit", "MultiEdit", "NotebookEdit", suffixEdit, suffixEditSearch}
	deleteTools  = []string{"Delete"}
	networkTools = []string{"WebFetch", "WebSearch", umpire.ConnectTool}
	execTools    = []string{"Bash"}
)

// gitVerbs are the commands behind the Git tools. They let a deny or ask rule for the tool also
// stop the same command in a shell.
var gitVerbs = map[string]string{
	"GitStatus": "status", "GitDiff": "diff", "GitLog": "log",
	"GitCommit": "commit", "GitPush": "push", "GitCheckout": "checkout",
}

// anyTool is the tool name that stands for every tool.
const anyTool = "*"

// familyTools returns the tool names whose rules judge an access of this kind. A rule that allows writing
// does not allow deleting, but one that forbids it does. Only a rule for fetching allows to reach any address.
func familyTools(kind umpire.AccessKind, allow bool) [2][]string {
	switch kind {
	case umpire.KindRead:
		return [2][]string{readTools}
	case umpire.KindWrite:
		return [2][]string{writeTools}
	case umpire.KindDelete:
		if allow {
			return [2][]string{deleteTools}
		}
		return [2][]string{deleteTools, writeTools}
	case umpire.KindNetwork:
		if allow {
			return [2][]string{networkTools[:1]}
		}
		return [2][]string{networkTools}
	case umpire.KindExec:
		return [2][]string{execTools}
	case umpire.KindUnknown, umpire.KindInvoke:
	}
	return [2][]string{}
}

// ToolNamed reports whether a rule's tool name refers to the tool: it is equal, a star, a glob,
// or an MCP server that stands for all its tools.
func ToolNamed(pattern, tool string) bool {
	switch {
	case pattern == tool || pattern == anyTool:
		return true
	case strings.ContainsAny(pattern, "*?["):
		ok, err := doublestar.Match(pattern, tool)
		return ok && err == nil
	case strings.HasPrefix(pattern, "mcp__"):
		return strings.HasPrefix(tool, pattern) && strings.HasPrefix(tool[len(pattern):], "__")
	}
	return false
}

// toolJudges reports whether a rule for the named tool applies to this access of a call of
// tool: by the tool's own name, or by the kind of the access.
func toolJudges(pattern, tool string, kind umpire.AccessKind, allow bool) bool {
	if ToolNamed(pattern, tool) {
		return true
	}
	family := familyTools(kind, allow)
	if !slices.Contains(family[0], pattern) && !slices.Contains(family[1], pattern) {
		return false
	}
	return !allow || kind != umpire.KindExec && tool != umpire.ConnectTool || startsCommands(tool)
}

// JudgesOthers reports whether a rule for a tool may apply to calls of other tools as well: one
// for LS applies to every read, by any tool.
func JudgesOthers(tool string) bool {
	for _, family := range [][]string{readTools, writeTools, deleteTools, networkTools, execTools, {anyTool}} {
		if slices.Contains(family, tool) {
			return true
		}
	}
	server, isMCP := strings.CutPrefix(tool, "mcp__")
	return gitVerbs[tool] != "" || isMCP && !strings.Contains(server, "__") || strings.ContainsAny(tool, "*?[{")
}

// startsCommands reports whether an allow rule for Bash may cover the tool's programs.
func startsCommands(tool string) bool {
	_, git := gitVerbs[tool]
	return git || tool == "Bash"
}

// takesCommand, takesPath and takesDomain report which match a tool's rule may have.
func takesCommand(tool string) bool {
	return tool == "Bash" || tool == anyTool || gitVerbs[tool] != ""
}

func takesPath(tool string) bool {
	return tool != "Bash" && !takesDomainOnly(tool)
}

func takesDomain(tool string) bool {
	return takesDomainOnly(tool) || tool == anyTool || strings.HasPrefix(tool, "mcp__")
}

func takesDomainOnly(tool string) bool { return slices.Contains(networkTools, tool) }
