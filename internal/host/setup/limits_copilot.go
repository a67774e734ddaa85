package setup

import (
	"strings"

	"github.com/umpirehq/umpire/internal/config/docedit"
)

// copilotLimits returns the rules of Copilot CLI: only flags deny tools.
func copilotLimits(s *Start) (l Limits, err error) {
	if s.has("--sandbox") {
		return Limits{}, errSandboxed
	}
	l.Outside = true
	folders := append(s.upward(".github/copilot", ".copilot"), s.folder("COPILOT_HOME", ".copilot"),
		"/etc/github-copilot")
	settings := filesIn(folders, "settings*.json", "config.json", "managed*.json")
	err = readEach(settings, func(text []byte) error {
		d, err := openJSON(text)
		if err != nil {
			return err
		}
		sandbox := d.Root.At("sandbox")
		if on := sandbox.At("enabled"); sandbox.Kind == docedit.Null || on.Kind == docedit.Bool && !isTrue(on) {
			return nil
		}
		return errSandboxed
	})
	for i := 0; i < len(s.Args) && err == nil; i++ {
		name, value, joined := strings.Cut(s.Args[i], "=")
		if name != "--deny-tool" {
			continue
		}
		if joined {
			err = l.denyCopilot(value)
		}
		for !joined && err == nil && i+1 < len(s.Args) && !strings.HasPrefix(s.Args[i+1], "-") {
			i++
			err = l.denyCopilot(s.Args[i])
		}
	}
	return l, err
}

// denyCopilot adds the tools that one value of a flag denies.
func (l *Limits) denyCopilot(value string) error {
	for tool := range strings.SplitSeq(value, ",") {
		name, argument, called := cutCall(tool)
		if !strings.EqualFold(name, "shell") {
			continue
		}
		if !called {
			return errLimitsAll
		}
		if err := l.deny(strings.TrimSuffix(argument, ":*")); err != nil {
			return err
		}
	}
	return nil
}
