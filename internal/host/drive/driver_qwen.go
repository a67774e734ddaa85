package drive

// qwen is Qwen Code.
var qwen = Driver{
	Name: "qwen", Package: "@qwen-code/qwen-code", Version: "0.24.4", Program: "qwen",
	Env: func(l *Lab) []string {
		return []string{
			"OPENAI_API_KEY=" + Key, "OPENAI_BASE_URL=" + l.Model.URL + "/v1", "OPENAI_MODEL=" + modelName,
			"NO_UPDATE_NOTIFIER=1", "NO_BROWSER=1",
		}
	},
	Settings: func(*Lab) map[string]string {
		settings := fields{
			"security":  fields{"auth": fields{"selectedType": "openai"}},
			"telemetry": fields{"enabled": false},
			"privacy":   fields{"usageStatisticsEnabled": false},
			"general":   fields{"enableAutoUpdate": false, "disableAutoUpdate": true},
		}
		return map[string]string{"home/.qwen/settings.json": encode(settings)}
	},
	Args: func(_ *Lab, mode Mode) []string {
		return append([]string{"-p", prompt, "--auth-type", "openai", "-o", "json"}, approvalMode(mode)...)
	},
	Shell:      gemini.Shell,
	Background: gemini.Background,
	WriteFile:  gemini.WriteFile,
	SubAgent: func(prompt string) Call {
		input := fields{"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"}
		return Call{Tool: "task", Input: input}
	},
}
