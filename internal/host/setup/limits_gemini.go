package setup

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/umpirehq/umpire"
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
	settings, err := readObject(text)
	if err != nil {
		return err
	}
	sandboxes := []any{
		at(settings, "tools", "sandbox"), settings["sandbox"], at(settings, "security", "toolSandboxing"),
	}
	for _, sandbox := range sandboxes {
		if sandbox != nil && sandbox != false && sandbox != "" {
			return errSandboxed
		}
	}
	for _, name := range []string{"policyPaths", "adminPolicyPaths"} {
		if settings[name] != nil {
			return errConditions
		}
	}
	for _, core := range append(textList(at(settings, "tools", "core")), textList(settings["coreTools"])...) {
		if name, _, called := cutCall(core); called && isGeminiShell(name) {
			return errLimitsAll // except for those that it names
		}
	}
	for _, excluded := range append(textList(at(settings, "tools", "exclude")), textList(settings["excludeTools"])...) {
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
	if err := checkTOML(text); err != nil {
		return err
	}
	var file struct {
		Rule []geminiRule `toml:"rule"`
	}
	if err := toml.Unmarshal(text, &file); err != nil {
		return tomlError(err)
	}
	for i := range file.Rule {
		r := &file.Rule[i]
		if geminiActions[r.Decision] == umpire.Allow || !r.speaksOfShell() {
			continue
		}
		prefixes := textList(r.CommandPrefix)
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

// speaksOfShell reports whether a rule may be about commands.
func (r *geminiRule) speaksOfShell() bool {
	names := textList(r.ToolName)
	for _, name := range names {
		if ok, err := filepath.Match(name, geminiShell); ok || err != nil {
			return true
		}
	}
	return len(names) == 0 && r.McpName == ""
}
