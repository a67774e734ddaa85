package host

// The forms of answers, each in the words of its host.
var (
	claudeBefore = form{
		within: [2]string{"hookSpecificOutput"}, event: "hookEventName",
		decision: "permissionDecision", allow: `"allow"`, deny: `"deny"`, ask: `"ask"`,
		reason: "permissionDecisionReason", input: "updatedInput", message: "systemMessage", exit: exitBlock,
	}
	// claudeDialog has no exit code: PermissionRequest reads JSON with exit 0 only, and exit 2 leaves
	// the dialog open.
	claudeDialog = form{
		within: [2]string{"hookSpecificOutput", "decision"}, event: "hookEventName",
		decision: "behavior", allow: `"allow"`, deny: `"deny"`, reason: "message",
	}
	// codexBefore cannot express allow except with a new input: silence allows.
	codexBefore = form{
		within: [2]string{"hookSpecificOutput"}, event: "hookEventName",
		decision: "permissionDecision", deny: `"deny"`,
		reason: "permissionDecisionReason", input: "updatedInput", exit: exitBlock,
	}
	// noAllow is Claude Code's form for hosts whose own rules must still apply.
	noAllow = form{
		within: [2]string{"hookSpecificOutput"}, event: "hookEventName",
		decision: "permissionDecision", deny: `"deny"`, reason: "permissionDecisionReason", exit: exitBlock,
	}
	geminiBefore = form{
		decision: "decision", deny: `"deny"`, reason: "reason",
		input: "tool_input", inputWithin: "hookSpecificOutput", exit: exitBlock,
	}
	// copilotBefore exits with 0: other codes lose the reason.
	copilotBefore = form{
		decision: "permissionDecision", deny: `"deny"`, ask: `"ask"`, reason: "permissionDecisionReason",
		input: "modifiedArgs",
	}
	// opencodeBefore is read by umpire's plugin for opencode, which answers opencode's own questions
	// about calls that a person approved, and no others.
	opencodeBefore = form{
		decision: "decision", allow: `"allow"`, deny: `"deny"`, reason: "reason", input: "args", approved: "approved",
		exit: exitBlock,
	}
	// pluginBefore is read by umpire's other plugin.
	pluginBefore = form{
		decision: "decision", allow: `"allow"`, deny: `"deny"`, reason: "reason", input: "args", exit: exitBlock,
	}
	// cursorBefore cannot express ask, because some tools ignore it.
	cursorBefore = form{
		decision: "permission", deny: `"deny"`, reason: "user_message", agentReason: "agent_message",
		input: "updated_input", exit: exitBlock,
	}
	crushBefore = form{
		decision: "decision", allow: `"allow"`, deny: `"deny"`, reason: "reason", input: "updated_input",
		exit: exitBlock,
	}
	// clineBefore cannot express allow, and has no exit code that denies.
	clineBefore = form{decision: "cancel", deny: "true", reason: "errorMessage"}
	// exitOnly is for hosts that read only the exit code: exit 2 denies, and the model reads stderr.
	exitOnly = form{exit: exitBlock}
	// antigravityBefore uses force_ask: the plain ask of Antigravity skips calls that the user always
	// allows.
	antigravityBefore = form{
		decision: "decision", allow: `"allow"`, deny: `"deny"`, ask: `"force_ask"`, reason: "reason",
		silent: `"allow"`,
	}
	grokBefore = form{decision: "decision", deny: `"deny"`, reason: "reason", exit: exitBlock}
)
