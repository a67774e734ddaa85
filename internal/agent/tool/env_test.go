package tool

import (
	"slices"
	"strings"
	"testing"
)

// A sandboxed command gets the variables that it needs, and only the listed secrets.
func TestEnvironmentWithoutSecrets(t *testing.T) {
	t.Parallel()
	harmless := []string{
		"PATH=/usr/bin:/bin", "HOME=/home/u", "PWD=/p", "OLDPWD=/", "USER=u", "SHELL=/bin/bash", "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C", "TZ=UTC", "CI=true",
		"GOFLAGS=-mod=mod", "GOPATH=/home/u/go", "GOPROXY=https://proxy.golang.org,direct", "NODE_ENV=test", "VIRTUAL_ENV=/p/.venv", "JAVA_HOME=/usr/lib/jvm/21",
		"LS_COLORS=rs=0:di=01;34:ln=01;36", "AWS_REGION=eu-central-1", "AWS_PROFILE=dev", "HTTP_PROXY=http://proxy:3128", "XDG_RUNTIME_DIR=/run/user/1000",
		"SSH_CONNECTION=10.0.0.1 1 10.0.0.2 22", "DISPLAY=:0", "COLORTERM=truecolor", "EDITOR=vim", "PORT=8080", "GIT_COMMIT=1da177e4c3f41524e886b7f1b8a0c1fc7321cac2",
		"UMPIRE_AGENT=1", "MAKEFLAGS=-j4", "PYTHONPATH=src", "npm_config_cache=/home/u/.npm", "BUILD_ID=550e8400-e29b-41d4-a716-446655440000",
	}
	secrets := []string{
		"GITHUB_TOKEN=x", "GH_TOKEN=x", "NPM_TOKEN=x", "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x", "AWS_SESSION_TOKEN=x", "SSH_AUTH_SOCK=/run/x", "GPG_AGENT_INFO=/x",
		"STRIPE_API_KEY=x", "MY_PASSWORD=x", "DBPASSWORD=x", "PGPASSWORD=x", "DATABASE_URL=postgres://u:p@h/d", "github_token=x", "CI_JOB_JWT=x", "NUGET_APIKEY=x",
		"AZURE_CLIENT_SECRET=x", "GOOGLE_APPLICATION_CREDENTIALS=/x.json", "HARMLESS=ghp_16C7e42F292c6912E7710c838347Ae178B4a",
		"WHERE=https://user:hunter2secret@example.com/", "PLAIN=-----BEGIN RSA PRIVATE KEY-----", "KRB5CCNAME=/tmp/x", "VAULT_TOKEN=x",
	}
	got := withoutSecrets(slices.Concat(harmless, secrets), nil)
	for _, pair := range harmless {
		if !slices.Contains(got, pair) {
			t.Errorf("%s is withheld", pair)
		}
	}
	for _, pair := range secrets {
		if slices.Contains(got, pair) {
			t.Errorf("%s is given", pair)
		}
		name, _, _ := strings.Cut(pair, "=")
		if !slices.Contains(withoutSecrets(secrets, []string{name}), pair) {
			t.Errorf("%s is listed, and withheld", pair)
		}
	}
}
