package drive

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/umpirehq/umpire/internal/host"
)

// A Mode is the degree to which an agent acts without asking, by its own settings.
type Mode int

// The modes.
const (
	// Usual is the mode that the agent starts in.
	Usual Mode = iota
	// Free never asks, which makes umpire the only thing that stops a call.
	Free
	// Planning never changes anything.
	Planning
	// Asking asks about every command, possibly with the help of a setting.
	Asking
)

// A Driver holds the particulars of an agent.
type Driver struct {
	// Name is the host's name in umpire.
	Name string
	// Package is on npm. Version is the one that the driver was written for.
	Package, Version string
	// Program is its executable, and Native its path among the packages that npm installs on a
	// platform, such as linux-x64. If nil, npm puts the executable itself in .bin.
	Program string
	Native  func(platform string) string
	// Env is the environment that points it at the scripted model.
	Env func(*Lab) []string
	// Settings are the files that point it at the scripted model, by their path in the lab.
	Settings func(*Lab) map[string]string
	// Asking are the files that make it ask about every command; nil if it does so by default.
	Asking map[string]string
	// Args are the arguments to play the script in a mode, without a terminal.
	Args func(*Lab, Mode) []string
	// Editor plays the script in place of an editor that drives the agent. words begin the agent's
	// command. If nil, the agent is started by itself.
	Editor func(ctx context.Context, l *Lab, words []string, mode Mode) (string, error)
	// Proxy is the umpire command between the editor and the agent, in place of a hook.
	Proxy string

	// Calls of the agent's tools, without their ids. They are nil for missing tools.
	Shell      func(command string) Call
	Background func(command string) Call
	WriteFile  func(path, text string) Call
	SubAgent   func(prompt string) Call
	// Await waits for a sub-agent. It is nil if the call that starts one waits for it.
	Await func() Call
}

// prompt is the prompt given to the agent.
const prompt = "Run the scripted steps."

// Drivers lists all drivers.
var Drivers = []*Driver{&claude, &codex, &codexApp, &gemini, &qwen, &copilot, &opencode, &cline}

// FindDriver returns the driver of a host, or nil.
func FindDriver(name string) *Driver {
	for _, d := range Drivers {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// EndsAtDenial reports whether a denied call ends the agent's run: its model gets no report, and
// the rest of the message does not run.
func (d *Driver) EndsAtDenial() bool {
	h := host.Find(d.Name)
	return h != nil && slices.Contains(h.Holes, host.HoleEndsAtDenial)
}

// Installed returns the agent's program in a folder where npm installed it.
func (d *Driver) Installed(dir string) string {
	if d.Native == nil {
		return filepath.Join(dir, "node_modules", ".bin", d.Program)
	}
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return filepath.Join(dir, "node_modules", filepath.FromSlash(d.Native(runtime.GOOS+"-"+arch)))
}
