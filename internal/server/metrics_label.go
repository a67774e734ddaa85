package server

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// A label is a word of a closed set: any input from an agent maps to one of these.
type label string

// The classes of tools.
const (
	toolShell   label = "shell"
	toolRead    label = "read"
	toolWrite   label = "write"
	toolGit     label = "git"
	toolNetwork label = "network"
	toolMCP     label = "mcp"
	toolTask    label = "task"
	toolOther   label = "other"
)

// classOf returns the class of a tool.
func classOf(tool string) label {
	switch tool {
	case "Bash":
		return toolShell
	case "Read", "LS", "Glob", "Grep", "NotebookRead":
		return toolRead
	case "Write", "Edit", "MultiEdit", "NotebookEdit", "filesystem-edit", "filesystem-edit_search":
		return toolWrite
	case "GitStatus", "GitDiff", "GitLog", "GitCommit", "GitPush", "GitCheckout":
		return toolGit
	case "WebFetch", "WebSearch":
		return toolNetwork
	case "Task", "TodoWrite":
		return toolTask
	}
	if strings.HasPrefix(tool, "mcp__") {
		return toolMCP
	}
	return toolOther
}

// The sources of decisions.
const (
	byBuiltin  label = "builtin"
	byRule     label = "rule"
	byGrant    label = "grant"
	byMode     label = "mode"
	byPerson   label = "person"
	byTimeout  label = "timeout"
	byHeadless label = "headless"
	byOther    label = "other"
)

// sourceOf returns the source of a decision, derived from its reason code.
func sourceOf(e *umpire.Event) label {
	if e.Request != "" && e.Kind == umpire.EventPermissionApproved {
		return byPerson
	}
	switch e.Code {
	case umpire.CodeSafe, umpire.CodeCritical, umpire.CodeForbiddenPath, umpire.CodeControlFile, umpire.CodeDotFolder,
		umpire.CodeExternalDirectory, umpire.CodeSuffix, umpire.CodeProfile, umpire.CodeUnparsed, umpire.CodeTrial,
		umpire.CodeInvalid, umpire.CodeSecret, umpire.CodeProjectCode, umpire.CodeWritten, umpire.CodeNetwork,
		umpire.CodeDegraded, umpire.CodeChanged, umpire.CodeLeftToHost:
		return byBuiltin
	case umpire.CodeRule, umpire.CodeBlocked, umpire.CodeAutonomy:
		return byRule
	case umpire.CodeOnce, umpire.CodeSession, umpire.CodeRemembered:
		return byGrant
	case umpire.CodeMode, umpire.CodeAllowAll, umpire.CodeBypass, umpire.CodePlan:
		return byMode
	case umpire.CodeDenied, umpire.CodeCancelled:
		return byPerson
	case umpire.CodeTimeout:
		return byTimeout
	case umpire.CodeAutoDeny:
		return byHeadless
	}
	return byOther
}

// verdictOf returns the verdict of a decision event, or false for other events.
func verdictOf(e *umpire.Event) (umpire.Verdict, bool) {
	switch e.Kind {
	case umpire.EventPermissionAsked:
		return umpire.Ask, true
	case umpire.EventPermissionApproved, umpire.EventPermissionBypassedByRule:
		return umpire.Allow, true
	case umpire.EventPermissionRejected:
		return umpire.Deny, true
	}
	return umpire.Deny, false
}
