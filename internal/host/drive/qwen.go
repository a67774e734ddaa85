package drive

// qwen is Qwen Code.
var qwen = Agent{
	Name: "qwen",
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
	Args: func(_ *Lab, options []string) []string {
		return append([]string{"-p", Prompt, "--auth-type", "openai", "-o", "json"}, options...)
	},
	Free:  gemini.Free,
	Shell: gemini.Shell,
}
