package drive

// opencode is OpenCode, as `opencode run`.
var opencode = Agent{
	Name: "opencode",
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
	Args: func(_ *Lab, options []string) []string {
		return append(append([]string{"run", "--format", "json"}, options...), Prompt)
	},
	Free: []string{"--auto"},
	Shell: func(command string) Call {
		return Call{Tool: "bash", Input: fields{"command": command, "description": "a step"}}
	},
}

var opencodePackage = fields{"dependencies": fields{"@opencode-ai/plugin": "*"}}
