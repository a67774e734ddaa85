package drive

import "strings"

// codex is OpenAI's Codex CLI, as `codex exec`.
var codex = Driver{
	Name: "codex", Package: "@openai/codex", Version: "0.169.0", Program: "codex",
	Env: func(l *Lab) []string {
		return []string{"CODEX_HOME=" + l.Path("home/.codex"), "LOCAL_KEY=" + Key}
	},
	Settings: func(l *Lab) map[string]string {
		return map[string]string{
			"home/.codex/config.toml": strings.ReplaceAll(codexConfig, "URL", l.Model.URL),
			"home/.profile":           "PATH='" + l.searchPath() + "'\n", // it starts a login shell
		}
	},
	Args: func(l *Lab, mode Mode) []string {
		sandbox := "workspace-write"
		if other := map[Mode]string{Free: "danger-full-access", Planning: "read-only"}[mode]; other != "" {
			sandbox = other
		}
		return []string{
			"exec", "--json", "--dangerously-bypass-hook-trust", "--sandbox", sandbox, "-C", l.Project(), prompt,
		}
	},
	Shell: func(command string) Call {
		return Call{Tool: "exec_command", Input: fields{"cmd": command}}
	},
	Background: func(command string) Call {
		return Call{Tool: "exec_command", Input: fields{"cmd": command, "yield_time_ms": 250}}
	},
	WriteFile: func(path, text string) Call {
		patch := "*** Begin Patch\n*** Add File: " + path + "\n+" + strings.TrimSuffix(text, "\n") + "\n*** End Patch\n"
		return Call{Tool: "apply_patch", Text: patch}
	},
	SubAgent: func(prompt string) Call {
		input := fields{"message": prompt, "task_name": "part", "fork_turns": "none"}
		return Call{Tool: "spawn_agent", Namespace: "collaboration", Input: input}
	},
	Await: func() Call {
		return Call{Tool: "wait_agent", Namespace: "collaboration", Input: fields{"timeout_ms": 20_000}}
	},
}

// codexConfig names a model of its catalogue, because it offers apply_patch only to those.
const codexConfig = `model = "gpt-5.5"
model_provider = "local"
check_for_update_on_startup = false

[features]
multi_agent_v2 = true

[analytics]
enabled = false

[model_providers.local]
name = "local"
base_url = "URL/v1"
wire_api = "responses"
env_key = "LOCAL_KEY"
request_max_retries = 0
stream_max_retries = 0
`
