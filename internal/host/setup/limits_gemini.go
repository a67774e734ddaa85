package setup

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
)

// geminiShell is the name of Gemini CLI's tool for commands.
const geminiShell = "run_shell_command"

// geminiLimits returns the rules of Gemini CLI. An allow by its hooks has no effect, so it asks
// about a command in every mode except yolo.
func geminiLimits(s *Start) (l Limits, err error) {
	mode, _ := s.option("--approval-mode")
	switch {
	case mode != "yolo" && !s.has("-y", "--yolo"):
		return Limits{}, errAsksFirst
	case s.has("-s", "--sandbox"), s.Getenv("GEMINI_SANDBOX") != "", s.Getenv("SANDBOX") != "":
		return Limits{}, errSandboxed
	case s.has("--policy", "--admin-policy"):
		return Limits{}, errConditions
	}
	home := cmp.Or(s.Getenv("GEMINI_CLI_HOME"), s.Home)
	folders := []string{filepath.Join(home, ".gemini"), filepath.Join(s.Project, ".gemini"), "/etc/gemini-cli"}
	settings := filesIn(folders, "settings.json", "system-defaults.json", "extensions/*/gemini-extension.json")
	for _, variable := range []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"} {
		if path := s.Getenv(variable); path != "" {
			settings = append(settings, path)
		}
	}
	err = readEach(settings, l.readGeminiSettings)
	if err == nil {
		err = readEach(filesIn(folders, "policies/*.toml", "extensions/*/policies/*.toml"), l.readGeminiPolicy)
	}
	return l, err
}

// readGeminiSettings reads the tools that the settings disable, and whether a sandbox is on.
func (l *Limits) readGeminiSettings(text []byte) error {
	d, err := openJSON(text)
	if err != nil {
		return err
	}
	top := d.Root
	for _, path := range [][]string{{"tools", "sandbox"}, {"sandbox"}, {"security", "toolSandboxing"}} {
		sandbox := top.At(path...)
		off := sandbox.Kind == docedit.Bool && !isTrue(sandbox) || isText(sandbox, "")
		if sandbox.Kind != docedit.Null && !off {
			return errSandboxed
		}
	}
	for _, name := range []string{"policyPaths", "adminPolicyPaths"} {
		if top.At(name).Kind != docedit.Null {
			return errConditions
		}
	}
	for _, core := range append(top.At("tools", "core").Texts(), top.At("coreTools").Texts()...) {
		if name, _, called := cutCall(core); called && isGeminiShell(name) {
			return errLimitsAll // except for those that it names
		}
	}
	for _, excluded := range append(top.At("tools", "exclude").Texts(), top.At("excludeTools").Texts()...) {
		name, argument, _ := cutCall(excluded)
		if !isGeminiShell(name) {
			continue
		}
		if err := l.deny(strings.TrimSuffix(argument, ":*")); err != nil {
			return err
		}
	}
	return nil
}

func isGeminiShell(name string) bool { return name == geminiShell || name == "ShellTool" }

// readGeminiPolicy reads a policy file's ask and deny rules and ignores their conditions.
func (l *Limits) readGeminiPolicy(text []byte) error {
	d, err := openSettings(docedit.TOML, text)
	if err != nil {
		return err
	}
	for _, rule := range d.Root.At("rule").Items {
		if geminiActions[rule.At("decision").Text] == umpire.Allow || !speaksOfShell(rule) {
			continue
		}
		prefixes := rule.At("commandPrefix").Texts()
		if len(prefixes) == 0 {
			return errLimitsAll
		}
		for _, prefix := range prefixes {
			if err := l.deny(prefix); err != nil {
				return err
			}
		}
	}
	return nil
}

// speaksOfShell reports whether a rule of Gemini CLI may be about commands.
func speaksOfShell(rule *docedit.Value) bool {
	names := rule.At("toolName").Texts()
	for _, name := range names {
		if ok, err := filepath.Match(name, geminiShell); ok || err != nil {
			return true
		}
	}
	return len(names) == 0 && rule.At("mcpName").Text == ""
}
