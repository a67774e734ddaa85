package setup

import (
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A Switch turns the hooks of a host off. A project that a person trusts there can set it, too.
type Switch struct {
	Host string
	File string // below the home and below a project, with slashes
	Key  string
	// Remedy is what helps against a project that sets it.
	Remedy string

	off any // the value that does so
}

// Switches are those that are known.
var Switches = []Switch{
	{"codex", ".codex/config.toml", "features.hooks", "start codex with --enable hooks", false},
	{"gemini", ".gemini/settings.json", "hooksConfig.enabled", "do not trust the folder in Gemini CLI", false},
	{"qwen", ".qwen/settings.json", "disableAllHooks", "do not trust the folder in Qwen Code", true},
	{"droid", ".factory/settings.json", "hooksDisabled", "take it out of the project", true},
}

// Off reports whether a file sets the switch.
func (s Switch) Off(text []byte) bool {
	var at any
	if strings.HasSuffix(s.File, ".toml") {
		if toml.Unmarshal(text, &at) != nil {
			return false
		}
	} else if d, err := parseDocument(text); err == nil {
		at = decode(d.root)
	}
	for name := range strings.SplitSeq(s.Key, ".") {
		object, _ := at.(map[string]any)
		at = object[name]
	}
	return at == s.off
}
