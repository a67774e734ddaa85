package drive

// cline is Cline, as started from the command line. It never asks in the mode that it starts in.
var cline = Agent{
	Name: "cline",
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
	Args: func(_ *Lab, options []string) []string {
		args := append([]string{"--json", "-P", clineProvider, "-m", modelName}, options...)
		return append(args, Prompt)
	},
	Shell: func(command string) Call {
		return Call{Tool: "run_commands", Input: fields{"commands": []string{command}}}
	},
}

const clineProvider = "openai-compatible"
