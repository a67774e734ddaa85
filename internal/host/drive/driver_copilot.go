package drive

// copilot is GitHub's Copilot CLI.
var copilot = Driver{
	Name: "copilot", Package: "@github/copilot", Version: "1.0.102", Program: "copilot",
	Env: func(l *Lab) []string {
		return []string{
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + l.Model.URL + "/v1",
			"COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=" + Key, "COPILOT_MODEL=" + modelName,
		}
	},
	Args: func(_ *Lab, mode Mode) []string {
		args := []string{"-p", prompt, "--no-auto-update", "--disable-builtin-mcps", "--no-color"}
		switch mode {
		case Free:
			args = append(args, "--allow-all-tools")
		case Planning:
			args = append(args, "--plan")
		case Usual, Asking:
		}
		return args
	},
	Shell: func(command string) Call {
		return Call{Tool: "bash", Input: fields{"command": command, "description": "a step"}}
	},
	Background: func(command string) Call {
		input := fields{"command": command, "description": "a step", "mode": "async", "shellId": "s1"}
		return Call{Tool: "bash", Input: input}
	},
	WriteFile: func(path, text string) Call {
		return Call{Tool: "create", Input: fields{"path": path, "file_text": text}}
	},
	SubAgent: func(prompt string) Call {
		input := fields{"description": "a part", "prompt": prompt, "agent_type": "general-purpose", "name": "part"}
		return Call{Tool: "task", Input: input}
	},
}
