package app

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/files"
)

// An observation is a call that umpire only watched, as a line of a file. It names no command: with a gate the
// timeline has that, with secrets masked.
type observation struct {
	At      time.Time         `json:"at"`
	Agent   string            `json:"agent,omitempty"`
	Session umpire.SessionID  `json:"session_id,omitempty"`
	Tool    string            `json:"tool,omitempty"`
	Verdict *umpire.Verdict   `json:"verdict,omitempty"` // nil in the first line, which says when umpire began
	Code    umpire.ReasonCode `json:"reason_code,omitempty"`
}

// An Observed counts the calls that umpire only watched, by its decisions.
type Observed struct {
	Since  time.Time `json:"since,omitzero"`
	Calls  int       `json:"calls"`
	Asks   int       `json:"would_have_asked"`
	Denies int       `json:"would_have_denied"`
}

func observedFile(stateDir string) string { return filepath.Join(stateDir, "observed.jsonl") }

// BeginObserving restarts the count.
func BeginObserving(a *App) error {
	return writeObservation(a, os.O_TRUNC, observation{})
}

// KeepObservation adds a decision about a call to the count.
func KeepObservation(a *App, call *umpire.Call, d *umpire.Decision) error {
	return writeObservation(a, os.O_APPEND, observation{
		Agent: call.Agent, Session: call.Session, Tool: call.Tool, Verdict: &d.Verdict, Code: d.ReasonCode,
	})
}

// writeObservation writes a line into the file, which it makes if need be. how says where the line goes.
func writeObservation(a *App, how int, o observation) error {
	o.At = a.Now().UTC()
	line, err := json.Marshal(o)
	if err == nil {
		err = os.MkdirAll(a.StateDir(), 0o700)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(observedFile(a.StateDir()), how|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// ReadObserved counts the calls since umpire began to observe.
func ReadObserved(stateDir string) (Observed, error) {
	var o Observed
	f, err := os.Open(observedFile(stateDir))
	if err != nil {
		return o, files.IgnoreMissing(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var seen observation
		if json.Unmarshal(lines.Bytes(), &seen) != nil {
			continue // a line that was cut short
		}
		if o.Since.IsZero() {
			o.Since = seen.At
		}
		if seen.Verdict == nil {
			continue
		}
		o.Calls++
		switch *seen.Verdict {
		case umpire.Ask:
			o.Asks++
		case umpire.Deny:
			o.Denies++
		case umpire.Allow:
		}
	}
	return o, lines.Err()
}
