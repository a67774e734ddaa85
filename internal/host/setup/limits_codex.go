package setup

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/umpirehq/umpire"
)

// codexLimits are the rules of Codex. Its transcript tells whether this turn runs commands
// without a sandbox: flags, profiles, its config and its own menu may all have said so.
func codexLimits(s *Start) (l Limits, err error) {
	turn, err := lastTurn(s.Transcript)
	if err != nil {
		return Limits{}, err
	}
	switch {
	case turn.Sandbox.Type != "danger-full-access":
		return Limits{}, errSandboxed
	case !slices.Contains([]any{"never", "on-request"}, turn.Approval):
		return Limits{}, errAsksFirst
	}
	home := s.folder("CODEX_HOME", ".codex")
	managed := []string{"/etc/codex/requirements.toml", "/etc/codex/managed_config.toml"}
	if err := readEach(managed, func(string, []byte) error { return errConditions }); err != nil {
		return Limits{}, err
	}
	files := append(s.upward(".codex/rules/*.rules"), filepath.Join(home, "rules", "*.rules"),
		"/etc/codex/rules/*.rules")
	err = readEach(files, func(_ string, text []byte) error {
		list, err := readCodexRules(text)
		if err != nil {
			return err
		}
		return l.add(list)
	})
	return l, err
}

// A codexTurn is what holds for the calls of a turn.
type codexTurn struct {
	Approval any `json:"approval_policy"`
	Sandbox  struct {
		Type string `json:"type"`
	} `json:"sandbox_policy"`
}

// maxTranscriptLine bounds one line of a transcript.
const maxTranscriptLine = 64 << 20

// lastTurn is the last turn that a transcript tells of.
func lastTurn(path string) (turn codexTurn, err error) {
	file, err := os.Open(path)
	if err != nil {
		return turn, umpire.Errorf("its transcript cannot be read: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxTranscriptLine)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), []byte(`"turn_context"`)) {
			continue
		}
		var entry struct {
			Type    string    `json:"type"`
			Payload codexTurn `json:"payload"`
		}
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			continue // it is being written, or speaks of turns in its text
		}
		if entry.Type == "turn_context" {
			turn = entry.Payload
		}
	}
	return turn, lines.Err()
}
