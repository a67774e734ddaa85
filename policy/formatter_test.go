package policy

import (
	"testing"

	"github.com/umpirehq/umpire"
)

// TestFormatters: formatters write files of their kinds, which rules can settle. Naming a
// guarded place, or writing arbitrary files, still asks.
func TestFormatters(t *testing.T) {
	t.Parallel()
	p := newPolicy(t, testOptions, "allow Bash", "deny Edit(gen/**/*.go)", "deny Edit(private/**)")
	plain := newPolicy(t, testOptions, "allow Bash")
	for line, w := range map[string]want{
		"gofmt -w .": ruleAllow, "prettier --write .": ruleAllow, "black .": ruleAllow, "ruff format .": ruleAllow, "eslint --fix .": ruleAllow,
		"goimports -w .": ruleAllow, "isort .": ruleAllow, "biome format --write .": ruleAllow, "stylelint --fix .": ruleAllow, "rubocop -a .": ruleAllow,
		"ruff check --fix .": ruleAllow, "prettier --write src": ruleAllow, "rustfmt src/main.rs": ruleAllow,
		"prettier --write .vscode": control, "prettier --write .vscode/settings.json": control, "black .git": control, "prettier --write .claude/*.json": control,
		"rm -rf .": control, "cp -r x/. .": control, "tar -xf a.tar": control, "unzip a.zip": control, "git checkout .": control, "chmod -R a+x .": control,
	} {
		t.Run(line, func(t *testing.T) { check(t, plain, inMode(umpire.ModeDefault, command(line)), w) })
	}
	for line, w := range map[string]want{"gofmt -w .": blocked, "black gen": ruleAllow, "black private": blocked, "black .": blocked} {
		t.Run("denied "+line, func(t *testing.T) { check(t, p, inMode(umpire.ModeDefault, command(line)), w) })
	}
}
