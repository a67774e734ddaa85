package app

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/umpirehq/umpire"
)

// UnheldFlag describes --unheld, which check and bench have.
const UnheldFlag = "decide as for an agent that runs commands without umpire's sandbox"

// CommandCall returns a shell call with a command line. It rejects invalid UTF-8: Go would
// replace the bytes, and judge another command than the one that runs.
func CommandCall(line string) (umpire.Call, error) {
	if !utf8.ValidString(line) {
		return umpire.Call{}, Usage("", "command: not valid UTF-8")
	}
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		return umpire.Call{}, Failed(err)
	}
	return umpire.Call{Tool: "Bash", Input: input}, nil
}
