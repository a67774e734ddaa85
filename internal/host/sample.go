package host

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/umpirehq/umpire/internal/strictjson"
)

// Sample is a payload of the host that asks about a command of its shell, as the host itself
// would send it: to try a hook. It is nil for a host without events or without a shell.
func (h *Host) Sample(session, id, dir, command string) []byte {
	shell := ""
	for _, t := range h.Tools {
		if t.As == "Bash" && t.Needs == "" {
			shell = t.Name
			break
		}
	}
	if h.own != nil || shell == "" {
		return nil
	}
	top := map[string]any{}
	for field, value := range map[string]any{
		h.fields.event: h.before(), h.fields.session: session, h.fields.dir: dir, h.fields.project: dir,
		h.fields.tool: shell, h.fields.id: id, h.fields.input: map[string]any{h.commandField(shell): command},
	} {
		setField(top, field, value)
	}
	if len(h.Modes) > 0 && h.fields.mode != "" {
		for _, m := range h.Modes {
			if m.Is == Default && m.Word != "" {
				setField(top, h.fields.mode, m.Word)
				break
			}
		}
	}
	return bytes.TrimSuffix(strictjson.EncodeLine(top), []byte("\n"))
}

// commandField is the host's name for the command of its shell.
func (h *Host) commandField(tool string) string {
	if t, ok := h.Tool(tool); ok && t.To == "command" {
		return t.From
	}
	return "command"
}

// setField sets a field by its name, in which dots lead into objects; "" is nowhere.
func setField(top map[string]any, field string, value any) {
	for {
		outer, rest, nested := strings.Cut(field, ".")
		if !nested {
			break
		}
		inner, ok := top[outer].(map[string]any)
		if !ok {
			inner = map[string]any{}
			top[outer] = inner
		}
		top, field = inner, rest
	}
	if field != "" {
		top[field] = value
	}
}

// DecisionOf reads what an answer to an event before a call says: allow, deny or ask, and ""
// where it says nothing, or nothing that the host would understand. The answer is one line of
// JSON and an exit code.
func (h *Host) DecisionOf(stdout []byte, exit int) string {
	f := h.form(BeforeTool)
	if f.decision == "" {
		if exit != 0 && exit == f.exit {
			return "deny"
		}
		return ""
	}
	var value any
	if json.Unmarshal(stdout, &value) != nil {
		return ""
	}
	object, _ := value.(map[string]any)
	for i, name := range f.within {
		if name == "" {
			continue
		}
		if object, _ = object[name].(map[string]any); i == 0 && f.event != "" && object[f.event] != h.before() {
			return ""
		}
	}
	said, ok := object[f.decision]
	if !ok {
		return ""
	}
	line := bytes.TrimSuffix(strictjson.EncodeLine(said), []byte("\n"))
	for word, written := range map[string]string{"allow": f.allow, "deny": f.deny, "ask": f.ask} {
		if written != "" && string(line) == written {
			return word
		}
	}
	return ""
}

// SaysAllow reports whether the host has a word for an allow; for the others silence is one.
func (h *Host) SaysAllow() bool { return h.form(BeforeTool).allow != "" }

// Denies reports whether an answer stops the call in every way that the host listens to.
func (h *Host) Denies(stdout, stderr []byte, exit int) bool {
	want := h.form(BeforeTool).exit
	return h.DecisionOf(stdout, exit) == "deny" && exit == want && (want == 0 || len(bytes.TrimSpace(stderr)) > 0)
}
