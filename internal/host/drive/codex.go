package drive

import "strings"

// codex is OpenAI's Codex CLI, as `codex exec`.
var codex = Agent{
	Name: "codex",
	Env: func(l *Lab) []string {
		return []string{"CODEX_HOME=" + l.Path("home/.codex"), "LOCAL_KEY=" + Key}
	},
	Settings: func(l *Lab) map[string]string {
		return map[string]string{
			"home/.codex/config.toml": strings.ReplaceAll(codexConfig, "URL", l.Model.URL),
			"home/.profile":           "PATH='" + l.searchPath() + "'\n", // it starts a login shell
		}
	},
	Args: func(l *Lab, options []string) []string {
		args := append([]string{"exec", "--json", "--dangerously-bypass-hook-trust"}, options...)
		return append(args, "-C", l.Project(), Prompt)
	},
	Free: []string{"--sandbox", "danger-full-access"},
	Shell: func(command string) Call {
		return Call{Tool: "exec_command", Input: fields{"cmd": command}}
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
