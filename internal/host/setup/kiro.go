package setup

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// A kiroFile is a file of Kiro's hooks that belongs only to umpire. Kiro reads every file of its folder.
type kiroFile struct {
	Version string     `json:"version"`
	Hooks   []kiroHook `json:"hooks"`
}

type kiroHook struct {
	Name    string     `json:"name"`
	Trigger string     `json:"trigger"`
	Matcher string     `json:"matcher"`
	Action  kiroAction `json:"action"`
	Timeout int64      `json:"timeout"`
	Enabled bool       `json:"enabled"`
}

type kiroAction struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

func (kiroFile) install(text []byte, host string, h Hook) ([]byte, error) {
	if _, ours := readKiro(text, host); !ours && len(bytes.TrimSpace(text)) > 0 {
		return nil, errNotOurs
	}
	action := kiroAction{"command", h.commandLine() + refuseUnanswered}
	hook := kiroHook{"umpire", "PreToolUse", ".*", action, seconds(h.Timeout), true}
	var b bytes.Buffer
	err := json.Indent(&b, strictjson.EncodeLine(kiroFile{"v1", []kiroHook{hook}}), "", "  ")
	return b.Bytes(), err
}

func (kiroFile) uninstall(text []byte, host string) ([]byte, error) {
	if _, ours := readKiro(text, host); !ours {
		return text, nil
	}
	return nil, nil
}

func (kiroFile) registered(text []byte, host string) ([]Registration, error) {
	list, _ := readKiro(text, host)
	return list, nil
}

// readKiro lists the hooks of a file, and reports whether all of them are umpire's.
func readKiro(text []byte, host string) ([]Registration, bool) {
	var file kiroFile
	if json.Unmarshal(text, &file) != nil {
		return nil, false
	}
	var list []Registration
	for _, hook := range file.Hooks {
		words := splitCommand(hook.Action.Command)
		if len(words) == 0 || !isOwnCommand(words[0], words[1:], host) {
			return list, false
		}
		list = append(list, Registration{Event: hook.Trigger, Line: 1, Command: words[0], Args: words[1:],
			Shell: hook.Action.Command, Timeout: time.Duration(hook.Timeout) * time.Second})
	}
	return list, len(list) > 0
}
