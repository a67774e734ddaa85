package setup

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/host"
)

// A ClaudeRegistration is one of umpire's handlers as a settings file has it.
type ClaudeRegistration struct {
	// Event is the event's name, Line where the handler stands.
	Event string
	Line  int
	// Command and Args are what Claude Code starts. Without Args it hands the
	// command to a shell.
	Command string
	Args    []string
	// Timeout is 0 when none is written.
	Timeout        time.Duration
	OnFailureBlock bool
}

// RegisteredClaude lists umpire's handlers in a settings file, in the file's
// order. A file without any gives none; one that is not JSON is an error.
func RegisteredClaude(settings []byte) ([]ClaudeRegistration, error) {
	d, err := parseDocument(settings)
	if err != nil {
		return nil, umpire.Errorf("read claude hooks: %w", err)
	}
	var list []ClaudeRegistration
	for _, own := range d.own(host.OtherEvent) {
		list = append(list, d.registration(own))
	}
	return list, nil
}

func (d *document) registration(own ownHook) ClaudeRegistration {
	h, _ := decode(own.handler).(map[string]any)
	r := ClaudeRegistration{Event: own.event, Line: d.at(own.handler.StartOffset).line}
	r.Command, _ = h["command"].(string)
	args, _ := h["args"].([]any)
	for _, arg := range args {
		text, _ := arg.(string)
		r.Args = append(r.Args, text)
	}
	seconds, _ := h["timeout"].(float64)
	r.Timeout = time.Duration(seconds * float64(time.Second))
	r.OnFailureBlock = h["onFailure"] == "block"
	return r
}
