package setup

import (
	"path"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/internal/config/docedit"
	"github.com/umpirehq/umpire/internal/host"
)

// A Switch turns the hooks of a host off. A project that a person trusts there can set it, too.
type Switch struct {
	Host string
	File string // below the home and below a project, with slashes
	Key  string
	// Remedy is the fix for a project that sets it.
	Remedy string

	off string // the value that does so
}

// Switches lists the known switches.
var Switches = []Switch{
	{"codex", ".codex/config.toml", "features.hooks", "start codex with --enable hooks", "false"},
	{"gemini", ".gemini/settings.json", "hooksConfig.enabled", "do not trust the folder in Gemini CLI", "false"},
	{"qwen", ".qwen/settings.json", "disableAllHooks", "do not trust the folder in Qwen Code", "true"},
	{"droid", ".factory/settings.json", "hooksDisabled", "take it out of the project", "true"},
}

// Off reports whether a file sets the switch.
func (s Switch) Off(text []byte) bool {
	open := openJSON
	if strings.HasSuffix(s.File, ".toml") {
		open = func(text []byte) (*docedit.Doc, error) { return docedit.Open(docedit.TOML, text) }
	}
	d, err := open(text)
	if err != nil {
		return false
	}
	at := d.Root.At(strings.Split(s.Key, ".")...)
	return at.Kind == docedit.Bool && at.Text == s.off
}

// A StartSwitch is a way to start a host that disables umpire's hook, or the host's own checks.
type StartSwitch struct {
	Host string
	// Option is a word on the command line, or an environment variable if it has no dash. Value is
	// the required value, or "" for any.
	Option, Value string
	// Alone means that umpire is asked, and that the host asks nothing by itself.
	Alone bool
}

// StartSwitches lists the known switches.
var StartSwitches = []StartSwitch{
	{"claude", "--bare", "", false},
	{"claude", "--safe-mode", "", false},
	{"claude", "CLAUDE_CODE_SIMPLE", "1", false},
	{"claude", "CLAUDE_CODE_SAFE_MODE", "1", false},
	{"claude", "--dangerously-skip-permissions", "", true},
	{"codex", "--disable", "hooks", false},
	{"codex", "--dangerously-bypass-approvals-and-sandbox", "", true},
	{"gemini", "--acp", "", false},
	{"gemini", "--experimental-acp", "", false},
	{"gemini", "--yolo", "", true},
	{"gemini", "-y", "", true},
	{"qwen", "--acp", "", false},
	{"qwen", "--safe-mode", "", false},
	{"qwen", "--yolo", "", true},
	{"qwen", "-y", "", true},
	{"copilot", "--allow-all-tools", "", true},
	{"opencode", "--pure", "", false},
	{"opencode", "OPENCODE_PURE", "1", false},
	{"opencode", "--auto", "", true},
	{"crush", "--yolo", "", true},
	{"crush", "-y", "", true},
}

// StartsHost reports whether the words of a process start a host.
func StartsHost(args []string, h *host.Host) bool {
	for i, arg := range args[:min(len(args), 2)] {
		name := path.Base(arg)
		if slices.Contains(h.Program, strings.TrimSuffix(name, ".js")) {
			return true
		}
		if i == 0 && !slices.Contains(interpreters, name) {
			return false
		}
	}
	return false
}

// interpreters are programs that start a host's script.
var interpreters = []string{"node", "bun", "sh", "bash", "dash"}

// Given reports whether a host was started this way.
func (s StartSwitch) Given(start *Start) bool {
	if !strings.HasPrefix(s.Option, "-") {
		return start.Getenv(s.Option) == s.Value
	}
	value, given := start.option(s.Option)
	return given && (s.Value == "" || s.Value == value)
}
