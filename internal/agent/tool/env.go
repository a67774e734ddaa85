package tool

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/secret"
	"github.com/umpirehq/umpire/internal/secret/sensitive"
	"github.com/umpirehq/umpire/shell"
)

// AgentMark tells a program that an agent started it. The commands for people's answers
// check it.
const AgentMark = "UMPIRE_AGENT"

// keptOwn are the umpire variables that commands may see: its folder, and the language.
// Others may reveal the gate's address or credentials.
var keptOwn = []string{"UMPIRE_HOME", "UMPIRE_LANG"}

// shellHooks make a shell read a file, or begin with other settings, than those
// with which the command was judged.
var shellHooks = []string{
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "CDPATH", "GLOBIGNORE", "IFS",
}

// modelKeys are the credentials of the agent's own model. They must not appear when a model's
// tool prints its environment.
var modelKeys = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_CUSTOM_HEADERS",
	"ANTHROPIC_WEBHOOK_SIGNING_KEY",
	"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_CUSTOM_HEADERS", "OPENAI_WEBHOOK_SECRET",
}

// commandEnv is the environment of a command.
func commandEnv(env []string) []string {
	var kept []string
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		if !isWithheld(name) {
			kept = append(kept, pair)
		}
	}
	return append(kept, AgentMark+"=1")
}

// SandboxEnv returns the environment of a command in the sandbox. It lacks the variables
// that every command lacks, and secrets except for variables that a person listed.
func SandboxEnv(env, listed []string) []string { return withoutSecrets(commandEnv(env), listed) }

// withoutSecrets removes variables whose name or value is a secret, because a command in
// the sandbox may do anything with them. It keeps variables that a person listed.
func withoutSecrets(env, listed []string) []string {
	var masker *secret.Masker
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		if slices.Contains(listed, name) {
			return false
		}
		return shell.SecretVariable(name) || masker.Text(pair) != pair || sensitive.HasToken(value)
	})
}

func isWithheld(name string) bool {
	if slices.Contains(keptOwn, name) {
		return false
	}
	// A function that a shell exports takes the place of a program of its name.
	return slices.Contains(shellHooks, name) || slices.Contains(modelKeys, name) ||
		strings.HasPrefix(name, "UMPIRE_") || strings.HasPrefix(name, "BASH_FUNC_")
}
