package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// A use that prints a secret asks for that reason, however little it changes: showing a secret
// cannot be undone, and no mode of a host skips the question.

// secretWhys are the reasons of entries and options that print secrets.
var secretWhys = []umpire.Phrase{
	printsEnvironment, printsHistory, printsOutputs, printsClipboard, "prints credentials", "prints your token",
}

// printsHistory is the reason for an interactive shell's commands, which ask like its history file.
const printsHistory = "prints earlier commands, with whatever passwords were typed"

// secretCommands are commands whose purpose is to print a secret, given by their words without
// options other than the ones listed here.
var secretCommands = []string{
	"gh auth token", "gh auth status --show-token", "glab auth status --show-token",
	"gcloud auth print-access-token", "gcloud auth print-identity-token",
	"gcloud auth application-default print-access-token", "gcloud secrets versions access",
	"aws configure get", "aws configure export-credentials", "aws sts get-session-token", "aws sts assume-role",
	"aws sts get-federation-token",
	"aws secretsmanager get-secret-value", "aws ssm get-parameter", "aws ssm get-parameters",
	"aws ecr get-login-password", "aws codeartifact get-authorization-token",
	"az account get-access-token", "az keyvault secret show", "az acr credential show", "az storage account keys list",
	"vault kv get", "vault read", "vault print token", "vault token create", "pass show", "pass ls", "gopass show",
	"lpass show", "rbw get", "bw get", "bw list", "bw export",
	"op read", "op item get", "op signin", "keyring get", "secret-tool lookup", "secret-tool search", "kwallet-query",
	"security find-generic-password", "security find-internet-password", "security dump-keychain", "security export",
	"git credential fill", "npm token list", "npm token create", "heroku config", "heroku auth:token",
	"flyctl auth token", "fly auth token", "doctl auth token",
	"firebase login:ci", "vercel env pull", "netlify env:get", "netlify env:list", "railway variables",
	"doppler secrets", "chamber read", "chamber list",
	"gpg --export-secret-keys", "gpg --export-secret-subkeys", "gpg --decrypt", "gpg -d", "sops decrypt", "sops -d",
	"age -d", "age --decrypt", "ansible-vault view", "ansible-vault decrypt",
	"kubectl get secret", "kubectl get secrets", "kubectl describe secret", "kubectl config view --raw",
	"kubectl create token",
	"docker inspect", "docker compose config", "docker-compose config", "docker compose convert", "podman inspect",
	"helm get values", "helm get all", "helm get manifest",
	"history", "fc", "atuin history", "terraform output", "tofu output", "pulumi config get", "pulumi stack output",
	"chezmoi secret",
}

// askSecret makes a use ask because it may print a secret.
func (c *conclusion) askSecret(why umpire.Phrase) {
	c.secret = true
	c.raiseTo(umpire.Medium, harmless, why)
}

// asksSecret reports whether a use asks because of a secret.
func (c *conclusion) asksSecret(words []word) bool {
	if !c.risk.AtLeast(umpire.Medium) {
		return false
	}
	return c.secret || printsSecret(words)
}

// printsSecret reports whether words are one of the secretCommands.
func printsSecret(words []word) bool {
	return slices.ContainsFunc(secretCommands, func(command string) bool {
		for _, wd := range words {
			next, rest, _ := strings.Cut(command, " ")
			switch {
			case next == "":
				return true
			case wd.text == next:
				command = rest
			case !strings.HasPrefix(wd.text, "-") && next[0] != '-':
				return false
			}
		}
		return command == ""
	})
}
