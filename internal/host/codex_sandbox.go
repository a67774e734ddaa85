package host

import (
	"bytes"
	"io"

	"github.com/umpirehq/umpire/internal/files"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// codexFields are Claude Code's, and what leads to the record of a turn.
var codexFields = func() fields {
	f := claudeFields
	f.turn, f.transcript = "turn_id", "transcript_path"
	return f
}()

// codexSilence is what silence means in one turn of Codex. The mode in its payloads says no
// more than whether it asks; a command that nobody is asked about is held by the sandbox of
// the turn, where there is one.
func codexSilence(e *Event, otherwise Silence) Silence {
	switch codexSandbox(e.transcript, e.turn) {
	case "":
		return otherwise
	case "read-only", "workspace-write":
		return SilenceChecks
	}
	return SilenceRuns
}

const (
	// codexTurn is in the line of a session's record that describes a turn. Codex writes it
	// before the first call of the turn.
	codexTurn = `"type":"turn_context"`
	// firstWindow is how much of the end of a record is read at first, and lastWindow how much
	// at most.
	firstWindow, lastWindow = 1 << 20, 64 << 20
	maxRecord               = 1 << 40
)

// codexSandbox is the kind of sandbox that a turn has by the record of its session, "" where
// that is not known.
func codexSandbox(record, turn string) string {
	if !IsAbsolute(record) || turn == "" {
		return ""
	}
	f, err := files.OpenSmall(record, maxRecord)
	if err != nil {
		return ""
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	for window := int64(firstWindow); ; window *= 8 {
		from := max(0, size-window)
		end := make([]byte, size-from)
		if _, err := f.ReadAt(end, from); err != nil {
			return ""
		}
		sandbox, found := findTurn(end, turn)
		if found || from == 0 || window >= lastWindow {
			return sandbox
		}
	}
}

// findTurn finds the last description of a turn in the end of a record.
func findTurn(end []byte, turn string) (sandbox string, found bool) {
	for {
		at := bytes.LastIndex(end, []byte(codexTurn))
		if at < 0 {
			return "", false
		}
		begin := bytes.LastIndexByte(end[:at], '\n') + 1
		line, _, _ := bytes.Cut(end[begin:], []byte("\n"))
		if sandbox, found = readTurn(line, turn); found {
			return sandbox, true
		}
		end = end[:begin]
	}
}

// readTurn reads the sandbox from a line of a record, if the line describes the turn.
func readTurn(line []byte, turn string) (sandbox string, found bool) {
	in := reader{}
	in.of, in.err = strictjson.ReadObject(line)
	if in.text("type") != "turn_context" || in.text("payload.turn_id") != turn {
		return "", false
	}
	sandbox = in.text("payload.sandbox_policy.type")
	return sandbox, in.err == nil
}
