package shell

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// TestSecretsAskForTheirOwnReason: printing a secret has the reason code of secrets, so no mode
// of a host ignores it.
func TestSecretsAskForTheirOwnReason(t *testing.T) {
	t.Parallel()
	lines := []string{
		"history", "history 10", "fc -l",
		"env", "printenv", "set", "export -p", "declare -p", "echo $API_TOKEN", "printf %s $API_TOKEN",
		"printenv GITHUB_TOKEN", "php -i",
		"ps e", "ps auxe", "pbpaste", "xclip -o", "xsel -b", "wl-paste", "kubectl get secret x -o yaml",
		"kubectl -n x get secrets -o json", "kubectl config view --raw",
		"git cat-file --batch-all-objects --batch", "git cat-file --batch --batch-all-objects", "pip config list",
		"pip config get global.index-url", "pnpm config list", "helm env",
		"kubectl get pods -o yaml", "kubectl get pod/x -ojson", "kubectl -n x get deploy,svc -o=json",
		"kubectl get po -o 'jsonpath={.items[*].spec.containers[*].env}'",
		"kubectl get pods -o jsonpath={.items[*].spec}",
		"kubectl get cm x -o yaml", "docker config inspect x", "docker config inspect --pretty x",
		"docker config inspect -f '{{json .Spec.Data}}' x", "systemctl show", "systemctl show x",
		"systemctl show -p Environment x",
		"systemctl show -p ActiveState,Environment x", "systemctl show -p ActiveState -P Environment x",
		"tmux capture-pane -p", "tmux capturep -pt 0", "tmux capture-pane -t 0 -S - -p",
		"terraform output -json", "gh auth status --show-token", "docker compose config --environment",
	}
	// terraform masks secret outputs unless one is named.
	needsName := "terraform output, tofu output"
	for _, command := range secretCommands {
		lines = append(lines, command+" x")
		if !strings.Contains(needsName, command) {
			lines = append(lines, command)
		}
	}
	for _, line := range lines {
		if !asksFor(line, umpire.CodeSecret) {
			t.Errorf("%s does not ask for a secret: %+v", line, Parse(line, Env{Dir: "/p", Home: "/home/u"})[0])
		}
	}
	for _, line := range []string{"env FOO=1 ls", "echo $HOME", "printenv PATH", "env | wc -l", "docker ps",
		"ssh-add -L", "rm a", "npm install",
		"git cat-file --batch-all-objects --batch-check", "pip config get global.timeout", "pip config debug",
		"kubectl get pods", "kubectl get pods -o wide", "kubectl get pods -o name", "kubectl get svc -o yaml",
		"kubectl get pods -o jsonpath={.items[*].metadata.name}",
		"kubectl get pods -o jsonpath='{.items[0].status.phase}'",
		"kubectl get po -o custom-columns=NAME:.metadata.name", "kubectl get nodes -o json",
		"docker config ls", "docker config inspect -f '{{.Spec.Name}}' x", "systemctl show -p ActiveState x",
		"systemctl show --property=ActiveState,SubState x", "systemctl status x", "tmux capture-pane",
		"tmux list-panes"} {
		if asksFor(line, umpire.CodeSecret) {
			t.Errorf("%s asks for a secret", line)
		}
	}
}

func asksFor(line string, code umpire.ReasonCode) bool {
	return slices.ContainsFunc(Parse(line, Env{Dir: "/p", Home: "/home/u"}), func(a umpire.Access) bool {
		return a.Asks == code
	})
}

// TestTablesThatSpeakOfSecrets: an option or entry that asks because it prints the environment,
// a credential or the clipboard has one of secretWhys as its reason.
func TestTablesThatSpeakOfSecrets(t *testing.T) {
	t.Parallel()
	prints := regexp.MustCompile(`(?i)\b(prints|shows|tells)\b.*` +
		`\b(environment|credentials?|secrets?|tokens?|passwords?|clipboard)\b`)
	everyProgram(func(path string, p *program) {
		if p.risk.AtLeast(umpire.Medium) && prints.MatchString(catalogue.English.Text(p.why)) && !slices.Contains(secretWhys, p.why) {
			t.Errorf("%s %q", path, p.why)
		}
		for opt := range p.options {
			if opt.does&(asks|harms) != 0 && prints.MatchString(catalogue.English.Text(opt.why)) && !slices.Contains(secretWhys, opt.why) {
				t.Errorf("%s %s %q", path, opt.names()[0], opt.why)
			}
		}
	})
}
