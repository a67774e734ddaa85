package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// claudePlayerMain plays Claude Code: it runs the calls that a model makes, and asks the hooks of the
// settings first. With --heedless it runs denied calls as well.
func claudePlayerMain() {
	if slices.Contains(os.Args, "--version") {
		fmt.Println("2.1.330 (Claude Code)")
		return
	}
	if err := playClaude(slices.Contains(os.Args, "--heedless")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A modelPart is a part of a message, in the form of Anthropic's Messages.
type modelPart struct {
	Type      string          `json:"type"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
}

type modelMessage struct {
	Role    string      `json:"role"`
	Content []modelPart `json:"content"`
}

func playClaude(heedless bool) error {
	said := []modelMessage{{Role: "user", Content: []modelPart{{Type: "text"}}}}
	for {
		answer, err := askModel(said)
		if err != nil {
			return err
		}
		said = append(said, answer)
		var results []modelPart
		for _, part := range answer.Content {
			if part.Type != "tool_use" {
				continue
			}
			told := "denied"
			if askHooks(part) || heedless {
				told = runCall(part)
			}
			results = append(results, modelPart{Type: "tool_result", ToolUseID: part.ID, Content: told})
		}
		if len(results) == 0 {
			return nil
		}
		said = append(said, modelMessage{Role: "user", Content: results})
	}
}

func askModel(said []modelMessage) (answer modelMessage, err error) {
	body, err := json.Marshal(map[string]any{"messages": said, "tools": []any{map[string]string{"name": "Bash"}}})
	if err != nil {
		return answer, err
	}
	response, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	return answer, json.NewDecoder(response.Body).Decode(&answer)
}

// askHooks reports whether the registered hooks let a call run.
func askHooks(call modelPart) bool {
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command   string   `json:"command"`
				Args      []string `json:"args"`
				OnFailure string   `json:"onFailure"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	text, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".claude", "settings.json"))
	if err != nil || json.Unmarshal(text, &settings) != nil {
		return true
	}
	dir, _ := os.Getwd()
	payload, _ := json.Marshal(map[string]any{
		"session_id": "player", "hook_event_name": "PreToolUse", "permission_mode": "bypassPermissions", "cwd": dir,
		"tool_name": call.Name, "tool_use_id": call.ID, "tool_input": call.Input,
	})
	for _, group := range settings.Hooks["PreToolUse"] {
		for _, hook := range group.Hooks {
			cmd := exec.Command(hook.Command, hook.Args...)
			cmd.Env = append(os.Environ(), "CLAUDE_PROJECT_DIR="+dir)
			cmd.Stdin = bytes.NewReader(payload)
			out, err := cmd.Output()
			_, ended := errors.AsType[*exec.ExitError](err)
			if err != nil && (ended || hook.OnFailure == "block") || strings.Contains(string(out), `"deny"`) {
				return false
			}
		}
	}
	return true
}

func runCall(call modelPart) string {
	var input struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(call.Input, &input); err != nil {
		return err.Error()
	}
	out, err := exec.Command("sh", "-c", input.Command).CombinedOutput()
	return fmt.Sprint(string(out), err)
}
