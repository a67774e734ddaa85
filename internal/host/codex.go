package host

import (
	"bytes"
	"io"

	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/files"
)

// codexSilence returns the meaning of silence in one turn of Codex. The mode in Codex's payloads
// only tells whether it asks; commands it does not ask about are confined by the turn's sandbox, if
// it has one.
func codexSilence(e *Event, otherwise Silence) Silence {
	switch readCodexTurn(e.transcript, e.turn).Sandbox {
	case "":
		return otherwise
	case "read-only", "workspace-write":
		return SilenceChecks
	}
	return SilenceRuns
}

const (
	// codexTurn marks the line of a session's record that describes a turn. Codex writes it before
	// the first call of the turn.
	codexTurn = `"type":"turn_context"`
	// firstWindow is the part of the end of a record that is read first, and lastWindow the most
	// that is read.
	firstWindow, lastWindow = 1 << 20, 64 << 20
	maxRecord               = 1 << 40
)

// A CodexTurn describes one turn from the session's record: its sandbox and its approval policy.
// Unknown values are "".
type CodexTurn struct{ Sandbox, Approval string }

// CodexTurnOf returns the turn that a question of Codex is about.
func CodexTurnOf(q *Question) CodexTurn {
	e, err := codex.Read(q.Payload)
	if err != nil {
		return CodexTurn{}
	}
	return readCodexTurn(e.transcript, e.turn)
}

func readCodexTurn(record, turn string) CodexTurn {
	if !IsAbsolute(record) || turn == "" {
		return CodexTurn{}
	}
	f, err := files.OpenSmall(record, maxRecord)
	if err != nil {
		return CodexTurn{}
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return CodexTurn{}
	}
	for window := int64(firstWindow); ; window *= 8 {
		from := max(0, size-window)
		end := make([]byte, size-from)
		if _, err := f.ReadAt(end, from); err != nil {
			return CodexTurn{}
		}
		described, found := findTurn(end, turn)
		if found || from == 0 || window >= lastWindow {
			return described
		}
	}
}

// findTurn finds the last description of a turn at the end of a record.
func findTurn(end []byte, turn string) (described CodexTurn, found bool) {
	for {
		at := bytes.LastIndex(end, []byte(codexTurn))
		if at < 0 {
			return CodexTurn{}, false
		}
		begin := bytes.LastIndexByte(end[:at], '\n') + 1
		line, _, _ := bytes.Cut(end[begin:], []byte("\n"))
		if described, found = readTurn(line, turn); found {
			return described, true
		}
		end = end[:begin]
	}
}

// readTurn reads the description of a turn from a line of a record. An approval policy of several
// words is unknown here.
func readTurn(line []byte, turn string) (described CodexTurn, found bool) {
	in := reader{}
	in.of, in.err = strictjson.ReadObject(line)
	if in.text("type") != "turn_context" || in.text("payload.turn_id") != turn {
		return CodexTurn{}, false
	}
	described.Sandbox = in.text("payload.sandbox_policy.type")
	asks := reader{of: in.of}
	described.Approval = asks.text("payload.approval_policy")
	return described, in.err == nil
}

// completeCodex removes fields that only its dialog adds to a call.
func completeCodex(e *Event, input strictjson.Object) error {
	if e.Kind == BeforeDialog && e.Call.Tool == "Bash" {
		delete(input, "description")
		e.setInput(input)
	}
	return completePatch(e, input)
}
