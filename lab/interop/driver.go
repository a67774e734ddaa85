package interop

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/umpirehq/umpire/internal/host"
	"github.com/umpirehq/umpire/internal/host/drive"
)

// fields are the input of a call in a script.
type fields = map[string]any

// An agentMode is the degree to which an agent acts without asking, by its own settings.
type agentMode int

// The modes.
const (
	// usualMode is the mode that the agent starts in.
	usualMode agentMode = iota
	// freeMode never asks, which makes umpire the only thing that stops a call.
	freeMode
	// planningMode never changes anything.
	planningMode
	// askingMode asks about every command, possibly with the help of a setting.
	askingMode
)

// A driver holds the particulars of an agent.
type driver struct {
	*drive.Agent
	// Package is on npm. Version is the one that the driver was written for.
	Package, Version string
	// Program is its executable, and Native its path among the packages that npm installs on a
	// platform, such as linux-x64. If nil, npm puts the executable itself in .bin.
	Program string
	Native  func(platform string) string
	// Options are the options of the modes other than Free.
	Options map[agentMode][]string
	// askingMode are the files that make it ask about every command; nil if it does so by default.
	Asking map[string]string
	// Editor plays the script in place of an editor that drives the agent. words begin the agent's
	// command. If nil, the agent is started by itself.
	Editor func(ctx context.Context, l *Lab, words []string, mode agentMode) (string, error)
	// Proxy is the umpire command between the editor and the agent, in place of a hook.
	Proxy string

	// Calls of the agent's tools, without their ids. They are nil for missing tools.
	Background func(command string) drive.Call
	WriteFile  func(path, text string) drive.Call
	SubAgent   func(prompt string) drive.Call
	// Await waits for a sub-agent. It is nil if the call that starts one waits for it.
	Await func() drive.Call
}

// drivers lists all drivers.
var drivers = []*driver{&claude, &codex, &codexApp, &gemini, &qwen, &copilot, &opencode, &cline}

// findDriver returns the driver of a host, or nil.
func findDriver(name string) *driver {
	for _, d := range drivers {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Installed returns the agent's program in a folder where npm installed it.
func (d *driver) Installed(dir string) string {
	if d.Native == nil {
		return filepath.Join(dir, "node_modules", ".bin", d.Program)
	}
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return filepath.Join(dir, "node_modules", filepath.FromSlash(d.Native(runtime.GOOS+"-"+arch)))
}

// withWords returns an agent that is started with more words.
func withWords(a *drive.Agent, words ...string) *drive.Agent {
	more := *a
	more.Args = func(l *drive.Lab, options []string) []string { return append(a.Args(l, options), words...) }
	return &more
}

// claude is Anthropic's Claude Code.
var claude = driver{
	Agent:   drive.FindAgent("claude"),
	Package: "@anthropic-ai/claude-code", Version: host.ClaudeVersion, Program: "claude",
	Native:  func(platform string) string { return "@anthropic-ai/claude-code-" + platform + "/claude" },
	Options: map[agentMode][]string{planningMode: {"--permission-mode", "plan"}},
	Background: func(command string) drive.Call {
		return drive.Call{
			Tool: "Bash", Input: fields{"command": command, "description": "a step", "run_in_background": true},
		}
	},
	WriteFile: func(path, text string) drive.Call {
		return drive.Call{Tool: "Write", Input: fields{"file_path": path, "content": text}}
	},
	SubAgent: func(prompt string) drive.Call {
		input := fields{"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"}
		return drive.Call{Tool: "Agent", Input: input}
	},
}

// codex is OpenAI's Codex CLI, as `codex exec`.
var codex = driver{
	Agent:   drive.FindAgent("codex"),
	Package: "@openai/codex", Version: "0.169.0", Program: "codex",
	Options: map[agentMode][]string{
		usualMode: {"--sandbox", "workspace-write"}, askingMode: {"--sandbox", "workspace-write"},
		planningMode: {"--sandbox", "read-only"},
	},
	Background: func(command string) drive.Call {
		return drive.Call{Tool: "exec_command", Input: fields{"cmd": command, "yield_time_ms": 250}}
	},
	WriteFile: func(path, text string) drive.Call {
		patch := "*** Begin Patch\n*** Add File: " + path + "\n+" + strings.TrimSuffix(text, "\n") + "\n*** End Patch\n"
		return drive.Call{Tool: "apply_patch", Fields: fields{"type": "custom_tool_call", "input": patch}}
	},
	SubAgent: func(prompt string) drive.Call {
		return drive.Call{
			Tool: "spawn_agent", Fields: fields{"namespace": "collaboration"},
			Input: fields{"message": prompt, "task_name": "part", "fork_turns": "none"},
		}
	},
	Await: func() drive.Call {
		return drive.Call{
			Tool: "wait_agent", Fields: fields{"namespace": "collaboration"}, Input: fields{"timeout_ms": 20_000},
		}
	},
}

// gemini is Google's Gemini CLI.
var gemini = driver{
	Agent:   drive.FindAgent("gemini"),
	Package: "@google/gemini-cli", Version: "0.61.0", Program: "gemini",
	Options: map[agentMode][]string{planningMode: {"--approval-mode", "plan"}},
	Background: func(command string) drive.Call {
		input := fields{"command": command, "description": "a step", "is_background": true}
		return drive.Call{Tool: "run_shell_command", Input: input}
	},
	WriteFile: func(path, text string) drive.Call {
		return drive.Call{Tool: "write_file", Input: fields{"file_path": path, "content": text}}
	},
	SubAgent: func(prompt string) drive.Call {
		return drive.Call{Tool: "invoke_agent", Input: fields{"agent_name": "generalist", "prompt": prompt}}
	},
}

// qwen is Qwen Code, which descends from Gemini CLI.
var qwen = driver{
	Agent:   drive.FindAgent("qwen"),
	Package: "@qwen-code/qwen-code", Version: "0.24.4", Program: "qwen",
	Options:    gemini.Options,
	Background: gemini.Background,
	WriteFile:  gemini.WriteFile,
	SubAgent: func(prompt string) drive.Call {
		input := fields{"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"}
		return drive.Call{Tool: "task", Input: input}
	},
}

// copilot is GitHub's Copilot CLI.
var copilot = driver{
	Agent:   drive.FindAgent("copilot"),
	Package: "@github/copilot", Version: "1.0.102", Program: "copilot",
	Options: map[agentMode][]string{planningMode: {"--plan"}},
	Background: func(command string) drive.Call {
		input := fields{"command": command, "description": "a step", "mode": "async", "shellId": "s1"}
		return drive.Call{Tool: "bash", Input: input}
	},
	WriteFile: func(path, text string) drive.Call {
		return drive.Call{Tool: "create", Input: fields{"path": path, "file_text": text}}
	},
	SubAgent: func(prompt string) drive.Call {
		input := fields{"description": "a part", "prompt": prompt, "agent_type": "general-purpose", "name": "part"}
		return drive.Call{Tool: "task", Input: input}
	},
}

// opencode is OpenCode, as `opencode run`.
var opencode = driver{
	Agent:   drive.FindAgent("opencode"),
	Package: "opencode-ai", Version: "1.18.33", Program: "opencode",
	Native:  func(platform string) string { return "opencode-" + platform + "/bin/opencode" },
	Options: map[agentMode][]string{planningMode: {"--agent", "plan"}},
	Asking:  map[string]string{"project/opencode.json": `{"permission": {"bash": "ask"}}`},
	WriteFile: func(path, text string) drive.Call {
		return drive.Call{Tool: "write", Input: fields{"filePath": path, "content": text}}
	},
	SubAgent: func(prompt string) drive.Call {
		input := fields{"description": "a part", "prompt": prompt, "subagent_type": "general"}
		return drive.Call{Tool: "task", Input: input}
	},
}

// cline is Cline, as started from the command line.
var cline = driver{
	Agent:   drive.FindAgent("cline"),
	Package: "cline", Version: "3.0.65", Program: "cline",
	Native:  func(platform string) string { return "@cline/cli-" + platform + "/bin/cline" },
	Options: map[agentMode][]string{planningMode: {"--plan"}, askingMode: {"--auto-approve", "false"}},
	WriteFile: func(path, text string) drive.Call {
		return drive.Call{Tool: "editor", Input: fields{"path": path, "new_text": text}}
	},
	SubAgent: func(prompt string) drive.Call {
		return drive.Call{Tool: "spawn_agent", Input: fields{"systemPrompt": "You do as you are told.", "task": prompt}}
	},
}
