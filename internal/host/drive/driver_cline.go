package drive

// cline is Cline, as started from the command line.
var cline = Driver{
	Name: "cline", Package: "cline", Version: "3.0.65", Program: "cline",
	Native: func(platform string) string { return "@cline/cli-" + platform + "/bin/cline" },
	// By default it leaves a process running that serves its other windows.
	Env: func(*Lab) []string { return []string{"CLINE_SESSION_BACKEND_MODE=local"} },
	Settings: func(l *Lab) map[string]string {
		return map[string]string{"home/.cline/data/settings/providers.json": encode(fields{
			"version": 1, "lastUsedProvider": clineProvider, "modes": fields{},
			"providers": fields{clineProvider: fields{
				"settings": fields{
					"provider": clineProvider, "apiKey": Key, "model": modelName, "baseUrl": l.Model.URL + "/v1",
				},
				"updatedAt": "2026-11-23T00:00:00.000Z", "tokenSource": "manual",
			}},
		})}
	},
	Args: func(_ *Lab, mode Mode) []string {
		args := []string{"--json", "-P", clineProvider, "-m", modelName}
		switch mode {
		case Planning:
			args = append(args, "--plan")
		case Asking:
			args = append(args, "--auto-approve", "false")
		case Usual, Free: // it never asks
		}
		return append(args, prompt)
	},
	Shell: func(command string) Call {
		return Call{Tool: "run_commands", Input: fields{"commands": []string{command}}}
	},
	WriteFile: func(path, text string) Call {
		return Call{Tool: "editor", Input: fields{"path": path, "new_text": text}}
	},
	SubAgent: func(prompt string) Call {
		return Call{Tool: "spawn_agent", Input: fields{"systemPrompt": "You do as you are told.", "task": prompt}}
	},
}

const clineProvider = "openai-compatible"
