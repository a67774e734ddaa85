package drive

// gemini is Google's Gemini CLI.
var gemini = Agent{
	Name: "gemini",
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
	Args: func(_ *Lab, options []string) []string {
		return append([]string{"-p", Prompt, "-m", "gemini-2.5-flash", "--skip-trust", "-o", "json"}, options...)
	},
	Free: []string{"--approval-mode", "yolo"},
	Shell: func(command string) Call {
		return Call{Tool: "run_shell_command", Input: fields{"command": command, "description": "a step"}}
	},
}
