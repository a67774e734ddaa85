package drive

import "github.com/umpirehq/umpire/internal/host"

// claude is Anthropic's Claude Code.
var claude = Driver{
	Name: "claude", Package: "@anthropic-ai/claude-code", Version: host.ClaudeVersion, Program: "claude",
	Native: func(platform string) string { return "@anthropic-ai/claude-code-" + platform + "/claude" },
	Env: func(l *Lab) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + l.Model.URL, "ANTHROPIC_API_KEY=" + Key, "ANTHROPIC_MODEL=" + modelName,
			"ANTHROPIC_SMALL_FAST_MODEL=" + modelName, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			"IS_SANDBOX=1", // without it root cannot use the freest mode
		}
	},
	Args: func(_ *Lab, mode Mode) []string {
		args := []string{"-p", prompt, "--model", modelName, "--output-format", "json"}
		switch mode {
		case Free:
			args = append(args, "--permission-mode", "bypassPermissions")
		case Planning:
			args = append(args, "--permission-mode", "plan")
		case Usual, Asking:
		}
		return args
	},
	Shell: func(command string) Call {
		return Call{Tool: "Bash", Input: fields{"command": command, "description": "a step"}}
	},
	Background: func(command string) Call {
		return Call{Tool: "Bash", Input: fields{"command": command, "description": "a step", "run_in_background": true}}
	},
	WriteFile: func(path, text string) Call {
		return Call{Tool: "Write", Input: fields{"file_path": path, "content": text}}
	},
	SubAgent: func(prompt string) Call {
		input := fields{"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"}
		return Call{Tool: "Agent", Input: input}
	},
}
