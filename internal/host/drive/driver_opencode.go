package drive

// opencode is OpenCode, as `opencode run`.
var opencode = Driver{
	Name: "opencode", Package: "opencode-ai", Version: "1.18.33", Program: "opencode",
	Native: func(platform string) string { return "opencode-" + platform + "/bin/opencode" },
	Env: func(*Lab) []string {
		return []string{
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_SHARE=1",
		}
	},
	Settings: func(l *Lab) map[string]string {
		config := fields{
			"autoupdate": false, "share": "disabled",
			"model": "local/" + modelName, "small_model": "local/" + modelName,
			"provider": fields{"local": fields{
				"npm": "@ai-sdk/openai-compatible", "name": "local",
				"options": fields{"baseURL": l.Model.URL + "/v1", "apiKey": Key},
				"models": fields{modelName: fields{
					"name": modelName, "tool_call": true, "limit": fields{"context": 100000, "output": 8000},
				}},
			}},
		}
		return map[string]string{
			"home/.config/opencode/opencode.json": encode(config),
			// Without these it tries to install the package, and hangs if there is no registry.
			"home/.config/opencode/node_modules/.keep": "",
			"home/.config/opencode/package.json":       encode(opencodePackage),
			"home/.config/opencode/package-lock.json":  encode(fields{"packages": fields{"": opencodePackage}}),
		}
	},
	Asking: map[string]string{"project/opencode.json": `{"permission": {"bash": "ask"}}`},
	Args: func(_ *Lab, mode Mode) []string {
		args := []string{"run", "--format", "json"}
		switch mode {
		case Free:
			args = append(args, "--auto")
		case Planning:
			args = append(args, "--agent", "plan")
		case Usual, Asking:
		}
		return append(args, prompt)
	},
	Shell: func(command string) Call {
		return Call{Tool: "bash", Input: fields{"command": command, "description": "a step"}}
	},
	WriteFile: func(path, text string) Call {
		return Call{Tool: "write", Input: fields{"filePath": path, "content": text}}
	},
	SubAgent: func(prompt string) Call {
		input := fields{"description": "a part", "prompt": prompt, "subagent_type": "general"}
		return Call{Tool: "task", Input: input}
	},
}

var opencodePackage = fields{"dependencies": fields{"@opencode-ai/plugin": "*"}}
