package drive

// claude is Anthropic's Claude Code.
var claude = Agent{
	Name: "claude",
	Env: func(l *Lab) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + l.Model.URL, "ANTHROPIC_API_KEY=" + Key, "ANTHROPIC_MODEL=" + modelName,
			"ANTHROPIC_SMALL_FAST_MODEL=" + modelName, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			"IS_SANDBOX=1", // without it root cannot use the freest mode
		}
	},
	Args: func(_ *Lab, options []string) []string {
		return append([]string{"-p", Prompt, "--model", modelName, "--output-format", "json"}, options...)
	},
	Free: []string{"--permission-mode", "bypassPermissions"},
	Shell: func(command string) Call {
		return Call{Tool: "Bash", Input: fields{"command": command, "description": "a step"}}
	},
}
