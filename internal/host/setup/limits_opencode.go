package setup

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// openCodeLimits returns the rules of opencode, including those of its agents: a hook is not told
// which of them makes a call.
func openCodeLimits(s *Start) (l Limits, err error) {
	l.Outside = true
	config := filepath.Join(s.folder("XDG_CONFIG_HOME", ".config"), "opencode")
	folders := append(s.upward(".opencode"), config, filepath.Join(s.Home, ".opencode"), "/etc/opencode")
	if dir := s.Getenv("OPENCODE_CONFIG_DIR"); dir != "" {
		folders = append(folders, dir)
	}
	configs := append(s.upward("opencode.json", "opencode.jsonc"), filesIn(folders, "opencode.json*", "config.json")...)
	if path := s.Getenv("OPENCODE_CONFIG"); path != "" {
		configs = append(configs, path)
	}
	if err := readEach(configs, l.readOpenCode); err != nil {
		return Limits{}, err
	}
	for variable, form := range openCodeVariables {
		if text := s.Getenv(variable); text != "" {
			if err := l.readOpenCode([]byte(strings.Replace(form, "%", text, 1))); err != nil {
				return Limits{}, umpire.Errorf("%s: %w", variable, err)
			}
		}
	}
	return l, openCodeElsewhere(s, folders)
}

// openCodeVariables are environment variables with a config, or with a part of one in place of the
// mark.
var openCodeVariables = map[string]string{
	"OPENCODE_CONFIG_CONTENT": "%", "OPENCODE_PERMISSION": `{"permission": %}`,
}

// openCodeElsewhere fails if there may be rules in the description of an agent, or from the
// network.
func openCodeElsewhere(s *Start, folders []string) error {
	data := s.Getenv("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(s.Home, ".local", "share")
	}
	var agents []string
	for _, kind := range []string{"agent", "agents", "mode", "modes"} {
		agents = append(agents, filesIn(folders, kind+"/*.md", kind+"/*/*.md")...)
	}
	err := readEach(agents, func(text []byte) error {
		if bytes.Contains(text, []byte("permission")) || bytes.Contains(text, []byte("tools")) {
			return errConditions
		}
		return nil
	})
	if err != nil {
		return err
	}
	return readEach([]string{filepath.Join(data, "opencode", "auth.json")}, func(text []byte) error {
		if bytes.Contains(text, []byte(`"wellknown"`)) {
			return errConditions
		}
		return nil
	})
}

// readOpenCode reads the permissions of a config, and of the agents in it.
func (l *Limits) readOpenCode(text []byte) error {
	config, err := readObject(text)
	if err != nil {
		return err
	}
	all := []any{config}
	for _, kind := range []string{"agent", "mode"} {
		agents, _ := config[kind].(map[string]any)
		all = slices.AppendSeq(all, maps.Values(agents))
	}
	for _, one := range all {
		if err := l.readOpenCodePermission(at(one, "permission")); err != nil {
			return err
		}
	}
	return nil
}

// readOpenCodePermission reads a permission for commands. Rules overridden by a later one count as
// well.
func (l *Limits) readOpenCodePermission(permission any) error {
	tools, is := permission.(map[string]any)
	if !is {
		tools = map[string]any{"*": permission}
	}
	for tool, actions := range tools {
		if ok, err := filepath.Match(tool, "bash"); !ok && err == nil {
			continue
		}
		patterns, is := actions.(map[string]any)
		if !is {
			patterns = map[string]any{"*": actions}
		}
		for pattern, action := range patterns {
			if action == nil || action == "allow" {
				continue
			}
			if err := l.deny(pattern); err != nil {
				return err
			}
		}
	}
	return nil
}
