package trees

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// playVariable names a file with calls; the test binary plays the agent that makes them.
const playVariable = "UMPIRE_TEST_PLAY"

// A play is an agent's work: it passes each call to its hook and makes those that need no question.
type play struct {
	Umpire string     `json:"umpire"`
	Home   string     `json:"home"`
	Dir    string     `json:"dir"`
	Mode   string     `json:"mode"`
	ID     string     `json:"id"` // differs from play to play
	Calls  []toolCall `json:"calls"`
}

type toolCall struct {
	Tool  string            `json:"tool"`
	Input map[string]string `json:"input"`
}

// A played is the result of one call.
type played struct {
	Ran    string `json:"ran"` // the command line that ran; "" if the call was refused or asks
	Output string `json:"output"`
}

// A playResult is the report of the playing agent: how its calls went, and which processes they left.
type playResult struct {
	Calls []played `json:"calls"`
	Left  []string `json:"left"`
}

// act plays an agent, in the jail.
func act(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var p play
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	var result playResult
	for i, c := range p.Calls {
		result.Calls = append(result.Calls, p.make(i, c))
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) { // give ending programs time
		if result.Left = others(); len(result.Left) == 0 || time.Since(began) > 2*time.Second {
			break
		}
	}
	out, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return os.WriteFile(file+".out", out, 0o600)
}

// others returns the processes other than this one and its ancestors.
func others() (all []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		line, err := os.ReadFile(name)
		if err == nil && pid != 1 && pid != os.Getpid() && len(line) > 0 {
			all = append(all, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return all
}

// make passes a call to the hook, and makes it if it needs no question.
func (p *play) make(n int, c toolCall) played {
	payload, err := json.Marshal(map[string]any{
		"session_id": "s", "permission_mode": p.Mode, "hook_event_name": "PreToolUse", "tool_name": c.Tool, "cwd": p.Dir,
		"tool_use_id": fmt.Sprint(p.ID, "-", n), "tool_input": c.Input,
	})
	if err != nil {
		return played{Output: err.Error()}
	}
	hook := exec.Command(p.Umpire, "hook", "claude", "--home", filepath.Join(p.Home, ".umpire"))
	hook.Dir, hook.Stdin = p.Dir, bytes.NewReader(payload)
	hook.Env = append(os.Environ(), "CLAUDE_PROJECT_DIR="+p.Dir)
	out, err := hook.Output()
	var answer struct {
		Output struct {
			Decision string            `json:"permissionDecision"`
			Reason   string            `json:"permissionDecisionReason"`
			Input    map[string]string `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if err != nil || json.Unmarshal(out, &answer) != nil || answer.Output.Decision != "allow" {
		return played{Output: string(out)}
	}
	input := c.Input
	if len(answer.Output.Input) > 0 {
		input = answer.Output.Input
	}
	switch c.Tool {
	case "Bash":
		cmd := exec.Command("timeout", "20", "bash", "-c", input["command"])
		cmd.Dir, cmd.WaitDelay = p.Dir, time.Second
		out, _ := cmd.CombinedOutput() // most fail
		return played{Ran: input["command"], Output: string(out[:min(len(out), 2000)])}
	case "Write":
		err = os.WriteFile(input["file_path"], []byte(input["content"]), 0o644)
	case "Edit":
		var text []byte
		if text, err = os.ReadFile(input["file_path"]); err == nil {
			text = bytes.Replace(text, []byte(input["old_string"]), []byte(input["new_string"]), 1)
			err = os.WriteFile(input["file_path"], text, 0o644)
		}
	}
	return played{Ran: c.Tool + " " + input["file_path"], Output: fmt.Sprint(err)}
}
