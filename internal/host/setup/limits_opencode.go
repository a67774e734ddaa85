package setup

import (
	"bytes"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/docedit"
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
	d, err := openJSON(text)
	if err != nil {
		return err
	}
	for _, one := range slices.Concat([]*docedit.Value{d.Root}, d.Root.At("agent").Items, d.Root.At("mode").Items) {
		for tool, actions := range openCodeMembers(one.At("permission")) {
			if ok, err := filepath.Match(tool, "bash"); !ok && err == nil {
				continue
			}
			for pattern, action := range openCodeMembers(actions) {
				if action.Kind == docedit.Null || action.Text == "allow" {
					continue
				}
				if err := l.deny(pattern); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// openCodeMembers iterates over the members of an object. Another value is one for every name. Members
// overridden by a later one count as well.
func openCodeMembers(v *docedit.Value) iter.Seq2[string, *docedit.Value] {
	return func(yield func(string, *docedit.Value) bool) {
		if v.Kind != docedit.Object {
			yield("*", v)
			return
		}
		for _, m := range v.Items {
			if !yield(m.Key, m) {
				return
			}
		}
	}
}
