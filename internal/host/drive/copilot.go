package drive

// copilot is GitHub's Copilot CLI.
var copilot = Agent{
	Name: "copilot",
	Env: func(l *Lab) []string {
		return []string{
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + l.Model.URL + "/v1",
			"COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=" + Key, "COPILOT_MODEL=" + modelName,
		}
	},
	Args: func(_ *Lab, options []string) []string {
		return append([]string{"-p", Prompt, "--no-auto-update", "--disable-builtin-mcps", "--no-color"}, options...)
	},
	Free: []string{"--allow-all-tools"},
	Shell: func(command string) Call {
		return Call{Tool: "bash", Input: fields{"command": command, "description": "a step"}}
	},
}
