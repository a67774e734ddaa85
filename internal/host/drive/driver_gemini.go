package drive

// gemini is Google's Gemini CLI.
var gemini = Driver{
	Name: "gemini", Package: "@google/gemini-cli", Version: "0.61.0", Program: "gemini",
	Env: func(l *Lab) []string {
		return []string{
			"GEMINI_API_KEY=" + Key, "GOOGLE_GEMINI_BASE_URL=" + l.Model.URL, "NO_UPDATE_NOTIFIER=1", "NO_BROWSER=1",
			"GEMINI_TELEMETRY_ENABLED=false",
		}
	},
	Settings: func(*Lab) map[string]string {
		settings := fields{
			"security":  fields{"auth": fields{"selectedType": "gemini-api-key"}},
			"telemetry": fields{"enabled": false},
			"privacy":   fields{"usageStatisticsEnabled": false},
			"general":   fields{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
			"model":     fields{"disableLoopDetection": true}, // it asks the model, which cannot answer
		}
		return map[string]string{"home/.gemini/settings.json": encode(settings)}
	},
	Args: func(_ *Lab, mode Mode) []string {
		args := []string{"-p", prompt, "-m", "gemini-2.5-flash", "--skip-trust", "-o", "json"}
		return append(args, approvalMode(mode)...)
	},
	Shell: func(command string) Call {
		return Call{Tool: "run_shell_command", Input: fields{"command": command, "description": "a step"}}
	},
	Background: func(command string) Call {
		input := fields{"command": command, "description": "a step", "is_background": true}
		return Call{Tool: "run_shell_command", Input: input}
	},
	WriteFile: func(path, text string) Call {
		return Call{Tool: "write_file", Input: fields{"file_path": path, "content": text}}
	},
	SubAgent: func(prompt string) Call {
		return Call{Tool: "invoke_agent", Input: fields{"agent_name": "generalist", "prompt": prompt}}
	},
}

// approvalMode returns the flag of Gemini CLI and its derivatives.
func approvalMode(mode Mode) []string {
	switch mode {
	case Free:
		return []string{"--approval-mode", "yolo"}
	case Planning:
		return []string{"--approval-mode", "plan"}
	case Usual, Asking:
	}
	return nil
}
